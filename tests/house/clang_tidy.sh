#!/usr/bin/env bash
# clang_tidy.sh ROOT BUILD: fails, and lists the places, if clang-tidy warns about a source of the library or of the stores, or a
# header of ours that they include. BUILD holds a clang build and its compile_commands.json.
#
# clang-tidy reads the translation units of the compiler: in a unity build a dozen files share the cost of their headers, and
# the library takes half a minute instead of seven. A unit that was clean and has not been compiled since is skipped, because
# ninja has already compared its files and headers. The checks are those of names and of the most common mistakes; with
# GENISTA_LONG=1 all checks of .clang-tidy run, over the lab and the tool too, every time.
set -euo pipefail
cd "$1"
command -v clang-tidy >/dev/null || { echo "clang-tidy is missing; ./test installs it" >&2 && exit 1; }
targets='genista|genista_rocksdb'
checks="-*,readability-identifier-naming,readability-inconsistent-declaration-parameter-name,readability-qualified-auto,\
readability-container-size-empty,readability-redundant-*,misc-unused-using-decls,misc-definitions-in-headers,modernize-use-override,\
modernize-use-nullptr,bugprone-use-after-move,bugprone-dangling-handle,bugprone-macro-parentheses,bugprone-sizeof-*,\
bugprone-string-*,bugprone-unused-r*,bugprone-undefined-memory-manipulation,performance-for-range-copy,\
performance-unnecessary-value-param,performance-unnecessary-copy-initialization"
if [ -n "${GENISTA_LONG-}" ]; then
    targets+='|genista_lab|genista_experiments|genista_tool_common|genista_tool|genista_lab_tool'
    checks=
fi
export checks build=$2 stamps=$2/tidy
mkdir -p "$stamps"

# tidy_unit SOURCE OBJECT
tidy_unit() {
    local stamp
    stamp=$stamps/$(tr / _ <<<"$2")
    if [ -z "${GENISTA_LONG-}" ] && [ "$stamp" -nt "$build/$2" ] && [ "$stamp" -nt .clang-tidy ] &&
        [ "$stamp" -nt tests/house/clang_tidy.sh ]; then
        return
    fi
    echo "$1"
    clang-tidy --quiet ${checks:+--checks="$checks"} -p "$build" "$1" 2> >(grep -v 'warnings\? generated\.$' >&2) || return 1
    touch "$stamp"
}
export -f tidy_unit

# One process for each unit, as many at once as there are cores; xargs fails if one of them fails. CMake writes the file and the
# object of a unit on separate lines.
sed -nE 's/^ *"(file|output)": "(.*)",?$/\2/p; s/^ *"command": ".* -o ([^ ]+\.o) .*/\1/p' "$2/compile_commands.json" |
    paste - - | awk -v targets="CMakeFiles/($targets)[.]dir/" '$1 ~ targets { print $2; print $1 }' |
    xargs -n 2 -P "$(nproc)" bash -c 'tidy_unit "$@"' tidy
