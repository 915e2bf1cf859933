#!/usr/bin/env bash
# headers_alone.sh ROOT: every public header of the change (scripts/changed.sh; with GENISTA_LONG=1 every public header)
# compiles alone, and twice: it brings what it uses, and guards itself.
set -euo pipefail
cd "$1"
source scripts/changed.sh
if [ -n "${GENISTA_LONG-}" ]; then
    headers=$(find include -name '*.hpp' | sort)
else
    headers=$(changed_files | grep -E '^include/.*\.hpp$' || true)
fi
[ -n "$headers" ] || { echo "no public header has changed" && exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
while IFS= read -r header; do
    name=${header#include/}
    printf '#include "%s"\n#include "%s"\n' "$name" "$name" >"$scratch/${name//\//_}.cpp"
done <<<"$headers"
find "$scratch" -name '*.cpp' -print0 | xargs -0 -n 4 -P "$(nproc)" clang++ -std=c++20 -fsyntax-only -Iinclude -Werror \
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
echo "$(wc -l <<<"$headers") headers compile alone"
