#!/usr/bin/env bash
# clang_tidy.sh ROOT BUILD: fails, with the places, if clang-tidy warns about a source of the library or of the stores, or a
# header of ours that they include. BUILD holds compile_commands.json of a clang build.
#
# All that .clang-tidy asks for takes a quarter of an hour on two cores, with the lab and the tool: that is for GENISTA_LONG=1. Else
# it is names, and the mistakes that people make most.
set -euo pipefail
cd "$1"
command -v clang-tidy >/dev/null || { echo "clang-tidy is missing; ./test installs it" >&2 && exit 1; }
folders=(src stores)
checks=(--checks="-*,readability-identifier-naming,readability-inconsistent-declaration-parameter-name,readability-qualified-auto,\
readability-container-size-empty,readability-redundant-*,misc-unused-using-decls,misc-definitions-in-headers,modernize-use-override,\
modernize-use-nullptr,bugprone-use-after-move,bugprone-dangling-handle,bugprone-macro-parentheses,bugprone-sizeof-*,\
bugprone-string-*,bugprone-unused-r*,bugprone-undefined-memory-manipulation,performance-for-range-copy,\
performance-unnecessary-value-param,performance-unnecessary-copy-initialization")
if [ -n "${GENISTA_LONG-}" ]; then
    folders+=(tools lab bench)
    checks=()
fi
# One process a file, as many at once as there are cores; --quiet leaves only the warnings, xargs fails if one of them does.
find "${folders[@]}" -name '*.cpp' -print0 | sort -z |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet "${checks[@]}" -p "$2" 2> >(grep -v 'warnings\? generated\.$' >&2)
