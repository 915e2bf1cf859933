#!/usr/bin/env bash
# clang_tidy.sh ROOT BUILD: fails, with the places, if clang-tidy (.clang-tidy) warns about a source of the library or of the
# stores (with GENISTA_LONG=1: of the lab and the tool too), or a header of ours that they include. BUILD holds compile_commands.json of a clang build.
set -euo pipefail
cd "$1"
command -v clang-tidy >/dev/null || { echo "clang-tidy is missing; ./test installs it" >&2 && exit 1; }
folders=(src stores)
[ -z "${GENISTA_LONG-}" ] || folders+=(tools lab)  # another five minutes
# One process a file, as many at once as there are cores; --quiet leaves only the warnings, xargs fails if one of them does.
find "${folders[@]}" -name '*.cpp' -print0 | sort -z |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$2" 2> >(grep -v 'warnings\? generated\.$' >&2)
