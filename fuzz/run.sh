#!/usr/bin/env bash
# run.sh PROGRAM MAX_BYTES CORPUS SEEDS: so many executions of a libFuzzer target from a fixed seed,
# starting from the files in SEEDS and an empty CORPUS, which libFuzzer fills.
#
# The same program with the same seeds behaves the same again. So a run that found nothing writes a
# checksum of both, and is not repeated until one of them changes; with GENISTA_LONG=1 it always
# runs, and ten times as long.
#
# entropic=0: libFuzzer's schedule by entropy spent two thirds of the time on its own bookkeeping
# (2,300 executions a second against 6,500).
set -euo pipefail
program=$1 max_bytes=$2 corpus=$3 seeds=$4
runs=1000000
[ "${GENISTA_LONG:-0}" = 0 ] || runs=$((10000000 * GENISTA_LONG))
sum=$(cat "$program" "$seeds"/* "${BASH_SOURCE[0]}" | sha256sum)
if [ "$runs" = 1000000 ] && [ "$(cat "$corpus.clean" 2>/dev/null)" = "$sum" ]; then
    echo "the same program and seeds ran $runs executions without a finding before"
    exit 0
fi
rm -rf "$corpus" "$corpus.clean"
mkdir -p "$corpus"
"$program" -seed=1 -runs="$runs" -max_len="$max_bytes" -entropic=0 -reload=0 -timeout=10 -rss_limit_mb=1024 \
    -malloc_limit_mb=64 -print_final_stats=1 -verbosity=0 -artifact_prefix="$corpus-" "$corpus" "$seeds"
printf '%s\n' "$sum" >"$corpus.clean"
