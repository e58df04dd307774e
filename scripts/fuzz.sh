#!/usr/bin/env bash
# Feeds the reader of models with damaged ones: import, shapes, summary, passes and plain evaluation, with libFuzzer and the
# address sanitizer. Any crash, hang or allocation beyond the limits is a failure, and its file is kept in
# .build-fuzz/findings. What led somewhere new stays in .build-fuzz/corpus for the next time.
# Usage: scripts/fuzz.sh [--runs N] [--seconds S] [--seed N] [FILE...]; files are run once instead, e.g. findings. The same
# seed and corpus make the same models; 0 is another seed each time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
runs=10000000 seconds=0 seed=0 files=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --runs) runs=$2 && shift 2 ;;
        --seconds) seconds=$2 && shift 2 ;;
        --seed) seed=$2 && shift 2 ;;
        *) files+=("$1") && shift ;;
    esac
done
scripts/install-dependencies.sh
scripts/fetch-onnx-cases.sh
work=.build-fuzz
swift build --package-path Tests/ModelFuzz --scratch-path "$work" -c release --sanitize=address --product model-fuzz
fuzz=$work/release/model-fuzz
# Inputs are small, so is what may be reserved for them. Addresses are told without names: see llvm-symbolizer.
limits=(-timeout=10 -malloc_limit_mb=256 -rss_limit_mb=2048 -detect_leaks=0)
# A trap is told by the fuzzer, which keeps the file; the handler of Swift would get in its way.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS="symbolize=0:allocator_may_return_null=1 ${ASAN_OPTIONS:-}"
if [[ ${#files[@]} -gt 0 ]]; then exec "$fuzz" "${limits[@]}" "${files[@]}"; fi
mkdir -p "$work/corpus" "$work/findings"
rm -rf "$work/seeds"
"$fuzz" --seeds "$work/seeds" .build-onnx-cases
"$fuzz" "${limits[@]}" -runs="$runs" -max_total_time="$seconds" -seed="$seed" -max_len=4096 -print_final_stats=1 -reload=0 \
    -artifact_prefix="$work/findings/" "$work/corpus" "$work/seeds"
