#!/usr/bin/env bash
# Where the minutes of ./test go: the dearest build steps, targets, test executables and test cases of each preset.
#
#     scripts/minutes.sh [--rows N] [PRESET...]       default: 15 rows, every preset that has been built
#
# Nothing is measured twice. Ninja's log says when each step began and ended, ./test writes down how long each test took
# (minutes.txt in the build folder), and CTest's list of tests says which executable a test belongs to. Two steps that ran
# side by side both count, so sums are seconds of one core. ./test sources this file for its closing lines.

# steps_of PRESET [SINCE]: "seconds<tab>output" for each step of the build, the last run of each, or only the steps that
# began after SINCE (seconds since 1970). A step whose output is a stamp of CMake's own is not work.
steps_of() {
    awk -F '\t' -v since="${2:-0}" '
        /^#/ || $4 ~ /cmake.verify_globs$/ { next }
        { seconds[$4] = ($2 - $1) / 1000; began[$4] = $3 / 1e9 }
        END { for (output in seconds) if (began[output] >= since) printf "%.1f\t%s\n", seconds[output], output }' \
        "build/$1/.ninja_log"
}

# A step's target: the folder X of CMakeFiles/X.dir, or what was linked.
targets_of() {
    steps_of "$@" | awk -F '\t' '{
        target = $2
        if (match(target, /CMakeFiles\/[^\/]+\.dir/)) target = substr(target, RSTART + 11, RLENGTH - 15)
        else target = "linking and archives"
        seconds[target] += $1; steps[target]++
    } END { for (t in seconds) printf "%.1f\t%s (%d steps)\n", seconds[t], t, steps[t] }'
}

# cases_of PRESET: "seconds<tab>executable<tab>test". What a test runs is read from CMake's own files: asking ctest would overwrite
# the log of the run.
cases_of() {
    local folder=build/$1
    [ -e "$folder/minutes.txt" ] || return 0
    {
        find "$folder" \( -name CTestTestfile.cmake -o -name '*_tests.cmake' \) -exec \
            sed -nE 's/^ *add_test\(\[=*\[([^]]*)\]=*\] +"?([^" ]+).*/runs\t\2\t\1/p' {} +
        sed 's/^/took\t/' "$folder/minutes.txt"
    } | awk -F '\t' '
        $1 == "runs" {
            sub(/.*\//, "", $2)
            program[$3] = $2 ~ /^(bash|cmake)$/ ? $3 : $2  # a script is known by its test, not by its shell
            next
        }
        { printf "%.2f\t%s\t%s\n", $2, $3 in program ? program[$3] : $3, $3 }'
}

executables_of() {
    cases_of "$1" | awk -F '\t' '{ seconds[$2] += $1; cases[$2]++ }
        END { for (e in seconds) printf "%.1f\t%s (%d tests)\n", seconds[e], e, cases[e] }'
}

# dearest ROWS: the largest of stdin, with the sum of all.
dearest() {
    sort -t "$(printf '\t')" -k 1,1gr | awk -F '\t' -v rows="$1" '
        { sum += $1; if (NR <= rows) { $1 = sprintf("%9.1f s ", $1); print } }
        END { printf "%9.1f s  in all %d\n", sum, NR }'
}

# names_of_dearest COUNT: "name 12 s, name 7 s" for a line of prose.
names_of_dearest() {
    sort -t "$(printf '\t')" -k 1,1gr | head -n "$1" |
        awk -F '\t' '{ sub(/ .*/, "", $2); printf "%s%s %.0f s", (NR > 1 ? ", " : ""), $2, $1 }
            END { if (NR == 0) printf "nothing to do" }'
}

# minutes_line PRESET SINCE BUILD_SECONDS TEST_SECONDS: one line of where they went, after a build that began at SINCE.
minutes_line() {
    local folder
    folder=$(folder_of "$1")
    folder=${folder#build/}
    printf '== %s: built in %d:%02d (%s), tested in %d:%02d (%s)\n' "$1" \
        $(($3 / 60)) $(($3 % 60)) "$(targets_of "$folder" "$2" | names_of_dearest 3)" \
        $(($4 / 60)) $(($4 % 60)) "$(executables_of "$folder" | names_of_dearest 3)"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    rows=15
    presets=()
    while [ $# -gt 0 ]; do
        case $1 in
            --help | -h) sed -n '2,/^$/{s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" && exit 0 ;;
            --rows)
                [[ ${2-} =~ ^[1-9][0-9]{0,5}$ ]] || {
                    echo "scripts/minutes.sh: --rows '${2-}' is not a number from 1 to 999999" >&2
                    exit 2
                }
                rows=$2 && shift
                ;;
            *) presets+=("$1") ;;
        esac
        shift
    done
    if [ ${#presets[@]} -eq 0 ]; then
        for log in build/*/.ninja_log; do
            [ ! -e "$log" ] || presets+=("$(basename "$(dirname "$log")")")
        done
    fi
    if [ ${#presets[@]} -eq 0 ]; then
        echo "scripts/minutes.sh: nothing is built yet; run ./test first" >&2
        exit 2
    fi
    for preset in "${presets[@]}"; do
        if [ ! -e "build/$preset/.ninja_log" ]; then
            echo "scripts/minutes.sh: no build/$preset/.ninja_log: the preset '$preset' is not built" >&2
            exit 2
        fi
        printf '== %s\n-- build steps\n' "$preset"
        steps_of "$preset" | dearest "$rows"
        echo '-- targets'
        targets_of "$preset" | dearest "$rows"
        echo '-- test executables'
        executables_of "$preset" | dearest "$rows"
        echo '-- test cases'
        cases_of "$preset" | awk -F '\t' '{ print $1 "\t" $3 }' | dearest "$rows"
    done
fi
