#!/usr/bin/env bash
# headers_alone.sh ROOT BUILD: every public header of the change (scripts/changed.sh; with GENISTA_LONG=1 every public header)
# compiles alone, and twice: it brings what it uses, and guards itself. A header that did, and has not changed since, nor what
# it includes, is not compiled again: BUILD/headers has what the compiler said it read.
set -euo pipefail
cd "$1"
source scripts/changed.sh
if [ -n "${GENISTA_LONG-}" ]; then
    headers=$(find include -name '*.hpp' | sort)
else
    headers=$(changed_files | grep -E '^include/.*\.hpp$' || true)
fi
[ -n "$headers" ] || { echo "no public header has changed" && exit 0; }
export stamps=$2/headers
mkdir -p "$stamps"

# The list that the compiler wrote for make, "target: files", with \ before each line's end. Empty, or a file that is gone: old.
is_old() {
    local read_files
    [ -s "$stamps/$1.d" ] && [ "$stamps/$1.d" -nt tests/house/headers_alone.sh ] && [ -z "${GENISTA_LONG-}" ] || return 0
    read_files=$(sed -e 's/^[^:]*: *//' -e 's/\\$//' "$stamps/$1.d")
    local each
    for each in $read_files; do
        [ "$each" -ot "$stamps/$1.d" ] && [ -e "$each" ] || return 0
    done
    return 1
}

# compile_alone HEADER...
compile_alone() {
    local header name source
    for header in "$@"; do
        name=${header#include/}
        name=${name//\//_}
        is_old "$name" || continue
        source=$stamps/$name.cpp
        printf '#include "%s"\n#include "%s"\n' "${header#include/}" "${header#include/}" >"$source"
        rm -f "$stamps/$name.d"
        clang++ -std=c++20 -fsyntax-only -MMD -MF "$stamps/$name.new" -Iinclude -Werror -Wall -Wextra -Wpedantic -Wshadow \
            -Wconversion -Wsign-conversion -Wold-style-cast "$source" || return 1
        mv "$stamps/$name.new" "$stamps/$name.d"
        echo "$header"
    done
}
export -f is_old compile_alone
xargs -n 4 -P "$(nproc)" bash -c 'compile_alone "$@"' alone <<<"$headers"
echo "$(wc -l <<<"$headers") headers compile alone"
