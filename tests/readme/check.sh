#!/usr/bin/env bash
# check.sh COMPILER SOURCE_DIR SCRATCH WITH_ROCKSDB
#
# The C++ snippets of README.md and of the pages in docs/ compile without a warning. A snippet is what stands between a line
# ```cpp and the next line ```. Its #include lines go to the top, the rest into a function that returns int, unless it has a main
# of its own. Before both stands prelude.hpp, which declares what snippets may use without declaring it: report, key, store,
# store_has. A snippet whose first line begins with "// not compiled" is left out, and without RocksDB those that include
# genista/stores/.
set -euo pipefail
compiler=$1 source=$2 scratch=$3 with_rocksdb=$4
rm -rf "$scratch"
mkdir -p "$scratch"

cd "$source"
awk -v scratch="$scratch" '
    FNR == 1 { page = FILENAME; gsub("/", "_", page); number = 0; inside = 0 }
    /^```cpp[ \t]*$/ { inside = 1; number++; file = scratch "/" page "_" number; includes = ""; body = ""; next }
    /^```[ \t]*$/ && inside {
        inside = 0
        if (body ~ /^[ \t]*\/\/ not compiled/) next
        text = "#include \"prelude.hpp\"\n" includes
        if (body ~ /int main\(/) text = text body
        else text = text "int snippet();\nint snippet() {\n" body "return 0;\n}\n"
        printf "%s", text > (file ".cpp")
        close(file ".cpp")
        next
    }
    inside && /^[ \t]*#[ \t]*include/ { includes = includes $0 "\n"; next }
    inside { body = body $0 "\n" }
' README.md docs/*.md docs/filters/*.md

shopt -s nullglob
compiled=0 failed=0
for snippet in "$scratch"/*.cpp; do
    if [ "$with_rocksdb" != ON ] && grep -q '^#include "genista/stores/' "$snippet"; then continue; fi
    compiled=$((compiled + 1))
    if ! "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I"$source/include" -I"$source" -I"$source/src" \
        -I"$source/tests/readme" "$snippet"; then
        failed=$((failed + 1))
        echo "this snippet does not compile ($(basename "$snippet" .cpp): the page and its number there):" >&2
        sed 's/^/    /' "$snippet" >&2
    fi
done
echo "$compiled snippets compiled, $failed failed"
if [ "$compiled" = 0 ]; then
    echo 'The pages have no snippet ```cpp: does this script look for the right thing?' >&2
    exit 1
fi
[ "$failed" = 0 ]
