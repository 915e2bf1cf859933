#!/usr/bin/env bash
# clang_format.sh ROOT BUILD: fails, and lists the places, if a C++ file is not formatted by .clang-format. After a run without
# findings, the next one checks newer files only (BUILD/clang_format.stamp), unless the rules have changed.
# To repair: clang-format -i FILE
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "clang-format is missing; ./test installs it" >&2 && exit 1; }
folders=()
for folder in include src stores modules bindings tools lab bench examples fuzz tests; do
    [ -d "$folder" ] && folders+=("$folder")
done
stamp=$2/clang_format.stamp
newer=()
if [ -z "${GENISTA_LONG-}" ] && [ "$stamp" -nt .clang-format ] && [ "$stamp" -nt tests/house/clang_format.sh ]; then
    newer=(-newercm "$stamp")  # the time of the inode: a file moved here with an old date counts as new
fi
began=$(mktemp)
trap 'rm -f "$began"' EXIT
find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.inl' \) "${newer[@]}" -print0 | sort -z |
    xargs -0 -r -n 64 -P "$(nproc)" clang-format --dry-run -Werror
touch -r "$began" "$stamp"
