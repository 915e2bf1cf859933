#!/usr/bin/env bash
# headers_alone.sh ROOT BUILD: every public header of the change (scripts/changed.sh; with GENISTA_LONG=1 every public header)
# compiles alone, and included twice: it includes what it uses, and has an include guard. A header that passed is not compiled
# again before it or a file that it includes has changed: BUILD/headers has the list of files that the compiler read.
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

# Reads the list that the compiler wrote for make: "target: files", with \ at each line's end. An empty list is old, and so is
# one with a missing file.
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
