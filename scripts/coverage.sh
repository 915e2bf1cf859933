#!/usr/bin/env bash
# How many lines and branches of include/, src/ and stores/ the tests of ./test reach, as llvm-cov counts them.
#
#     scripts/coverage.sh [CTEST OPTION...]
#
# Builds the preset `coverage` and runs what the release preset runs, which is every test; a sanitizer's tests are some of
# them. Statistics are left out: they ask the same lines a million times more. The last lines are a row for each room and the
# sum; build/coverage/lines.txt has a row for each file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1-}" = --help ] || [ "${1-}" = -h ]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
fi
source scripts/packages.sh
source scripts/build.sh
install_missing build/apt.log "${packages_to_build[@]}" "${packages_to_check[@]}"
folder=build/coverage
build_preset coverage
rm -rf "$folder/profiles"
mkdir -p "$folder/profiles"
# %4m: four files for each executable, into which its processes add their counts.
LLVM_PROFILE_FILE=$PWD/$folder/profiles/%4m.profraw ctest --test-dir "$folder" --output-on-failure \
    --parallel "$(nproc)" --timeout 1800 --no-label-summary -LE '^native$' "$@"
llvm-profdata merge -sparse -o "$folder/all.profdata" "$folder"/profiles/*.profraw
programs=()
for program in "$folder"/bin/*; do
    [ ! -x "$program" ] || programs+=(-object "$program")
done
llvm-cov export -summary-only -instr-profile "$folder/all.profdata" "${programs[@]}" -ignore-filename-regex '/(tests|lab|tools|build)/' \
    2>/dev/null | tr '{' '\n' | awk -v root="$PWD/" '
    # One file after another: its name, then a block of counts for each measure.
    match($0, /"filename":"[^"]*"/) { file = substr($0, RSTART + 12, RLENGTH - 13); sub(root, "", file) }
    match($0, /"count":[0-9]+,"covered":[0-9]+/) {
        split(substr($0, RSTART, RLENGTH), part, /[:,]/)
        if (measure == "lines" || measure == "branches") { all[measure, file] = part[2]; hit[measure, file] = part[4]; files[file] }
    }
    /"totals":$/ { file = "totals" }
    { measure = $0 ~ /"lines":$/ ? "lines" : $0 ~ /"branches":$/ ? "branches" : "" }
    END {
        for (file in files) {
            if (file !~ /^(include|src|stores)\//) continue
            printf "%s\t%d\t%d\t%d\t%d\n", file, hit["lines", file], all["lines", file], hit["branches", file], all["branches", file]
        }
    }' | sort >"$folder/lines.txt"
# A row for each room, and the sum under a name that sorts last.
awk -F '\t' '
    { split($1, part, "/"); room = part[1] == "include" ? "include/" part[3] : part[1] "/" part[2]
      add(room); add("~ all") }
    function add(room) { seen[room]; h[room] += $2; a[room] += $3; hb[room] += $4; ab[room] += $5 }
    END {
        for (room in seen)
            printf "%-28s %7d of %7d lines (%.2f %%) %7d of %7d branches (%.2f %%)\n", room, h[room], a[room],
                100 * h[room] / a[room], hb[room], ab[room], ab[room] ? 100 * hb[room] / ab[room] : 100
    }' "$folder/lines.txt" | LC_ALL=C sort
