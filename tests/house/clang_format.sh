#!/usr/bin/env bash
# clang_format.sh ROOT: fails, with the places, if a C++ file is not as .clang-format wants it.
# To mend: clang-format -i FILE
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "clang-format is missing; ./test installs it" >&2 && exit 1; }
folders=()
for folder in include src stores modules bindings tools lab bench examples fuzz tests; do
    [ -d "$folder" ] && folders+=("$folder")
done
find "${folders[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.inl' \) -print0 | sort -z |
    xargs -0 clang-format --dry-run -Werror
