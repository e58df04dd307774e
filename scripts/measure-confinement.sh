#!/usr/bin/env bash
# What confining its workers costs an export: runs of one small picture with and without, in turns, and their medians.
# Usage: scripts/measure-confinement.sh [RUNS]   Builds nothing: .build/release has to hold bgrun and bgrun-bench.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=${1:-100}
bin=.build/release
for program in bgrun bgrun-bench; do
    [[ -x $bin/$program ]] || {
        echo "$bin/$program is missing: swift build -c release --product $program" >&2
        exit 66
    }
done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export XDG_STATE_HOME=$place/state XDG_CACHE_HOME=$place/cache
"$bin/bgrun-bench" photos "$place/photos" --count 1 --size 320x240 >/dev/null

# One run in microseconds. What was made before is made again, so that both write the same.
run() {
    local begin=${EPOCHREALTIME/[.,]/}
    "$bin/bgrun" export "$place/photos" --out "$place/out" --size 64 --cpu --workers 1 --progress none \
        --existing overwrite >/dev/null 2>&1
    local end=${EPOCHREALTIME/[.,]/}
    echo $((end - begin))
}
median() { sort -n "$1" | awk '{ a[NR] = $1 } END { printf "%.1f", (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2000 }'; }

run >/dev/null
for ((i = 0; i < runs; i++)); do
    run >>"$place/confined"
    BGRUN_UNCONFINED=1 run >>"$place/unconfined"
done
"$bin/bgrun" devices | tail -1
echo "an export of one small picture, median of $runs runs each, in turns:"
echo "  confined    $(median "$place/confined") ms"
echo "  unconfined  $(median "$place/unconfined") ms"
