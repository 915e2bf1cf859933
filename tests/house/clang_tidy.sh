#!/usr/bin/env bash
# clang_tidy.sh ROOT BUILD: fails, with the places, if clang-tidy warns about a source of the library or of the stores, or a
# header of ours that they include. BUILD holds compile_commands.json of a clang build.
#
# It reads the translation units as the compiler got them: in a unity build a dozen files share what their headers cost.
# Units that hold or include a file of the change (scripts/changed.sh) are asked for names, and for the mistakes that people
# make most. With GENISTA_LONG=1 it is every unit, the lab and the tool too, and all that .clang-tidy asks for.
set -euo pipefail
cd "$1"
source scripts/changed.sh
command -v clang-tidy >/dev/null || { echo "clang-tidy is missing; ./test installs it" >&2 && exit 1; }
targets='genista|genista_rocksdb'
checks=(--checks="-*,readability-identifier-naming,readability-inconsistent-declaration-parameter-name,readability-qualified-auto,\
readability-container-size-empty,readability-redundant-*,misc-unused-using-decls,misc-definitions-in-headers,modernize-use-override,\
modernize-use-nullptr,bugprone-use-after-move,bugprone-dangling-handle,bugprone-macro-parentheses,bugprone-sizeof-*,\
bugprone-string-*,bugprone-unused-r*,bugprone-undefined-memory-manipulation,performance-for-range-copy,\
performance-unnecessary-value-param,performance-unnecessary-copy-initialization")
changed=$(changed_files)
if [ -n "${GENISTA_LONG-}" ]; then
    targets+='|genista_lab|genista_experiments|genista_tool_common|genista_tool|genista_lab_tool|genista_bench_program'
    checks=()
    changed=$(git ls-files 2>/dev/null || changed_files)
fi

# An object of one of these targets, and the first of its files that changed: ninja knows what each was made of.
units=$(ninja -C "$2" -t deps | awk -v targets="/(^|\/)CMakeFiles\/($targets)\\\\.dir\//" -v root="$PWD/" '
    BEGIN { sub(/^\//, "", targets); sub(/\/$/, "", targets) }
    FNR == NR { changed[$0]; next }
    /^[^ ].*: #deps/ { object = $0; sub(/: #deps.*/, "", object); take = object ~ targets; next }
    take && NF {
        file = $1
        while (sub(/^\.\.\//, "", file)) {}
        sub("^" root, "", file)
        if (file in changed) { sub(/\.o$/, "", object); print object; take = 0 }
    }' <(printf '%s\n' "$changed") -)
[ -n "$units" ] || { echo "no source of the library or of the stores has changed" && exit 0; }

# The source of CMakeFiles/T.dir/Unity/unity_0_cxx.cxx is that file in BUILD, of CMakeFiles/T.dir/src/x.cpp it is src/x.cpp,
# and a folder's own targets lie below the folder.
sources=()
while IFS= read -r unit; do
    if [[ $unit == */Unity/* ]]; then
        sources+=("$2/$unit")
    else
        sources+=("$(sed -E 's|CMakeFiles/[^/]+\.dir/||' <<<"$unit")")
    fi
done <<<"$units"
printf '%s\n' "${sources[@]}" | sort
# One process a unit, as many at once as there are cores; --quiet leaves only the warnings, xargs fails if one of them does.
printf '%s\0' "${sources[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet "${checks[@]}" -p "$2" 2> >(grep -v 'warnings\? generated\.$' >&2)
