#!/usr/bin/env bash
# Feeds the reader of models with damaged ones: import, shapes, summary, passes and plain evaluation, with libFuzzer and the
# address sanitizer. Any crash, hang or allocation beyond the limits is a failure, and its file is kept in
# .build-fuzz/findings. It begins with the models in Tests/ModelFuzz/Corpus and with the ONNX project's cases. What led
# somewhere new stays in .build-fuzz/corpus for the next time.
# With --images it feeds the exporter with damaged pictures instead: decode, metadata, profile, kernels and encode into a file.
# Taking more memory than the export claims is a failure as well. It begins with Tests/ImageFuzz/Corpus; with --keep it makes
# those pictures anew, which takes heif-enc, convert and opj_compress.
# Usage: scripts/fuzz.sh [--images] [--runs N] [--seconds S] [--seed N] [--keep] [FILE...]; files are run once instead, e.g. findings.
# The same seed and corpus make the same models; 0 is another seed each time. With --keep it begins with generated models of
# every operator instead of the cases, and Tests/ModelFuzz/Corpus becomes the smallest set that reaches all that was reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=model runs=10000000 seconds=0 seed=0 keep=false files=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --images) target=image && shift ;;
        --runs) runs=$2 && shift 2 ;;
        --seconds) seconds=$2 && shift 2 ;;
        --seed) seed=$2 && shift 2 ;;
        --keep) keep=true && shift ;;
        *) files+=("$1") && shift ;;
    esac
done
scripts/install-dependencies.sh
package=Tests/ModelFuzz work=.build-fuzz length=4096 kept_length=512
if [[ $target == image ]]; then package=Tests/ImageFuzz work=.build-fuzz-images length=16384 kept_length=4096; fi
kept=$package/Corpus
swift build --package-path "$package" --scratch-path "$work" -c release --sanitize=address --product "$target-fuzz"
fuzz=$work/release/$target-fuzz
# Inputs are small, so is what may be reserved for them. Addresses are told without names: see llvm-symbolizer.
limits=(-timeout=10 -malloc_limit_mb=256 -rss_limit_mb=2048 -detect_leaks=0)
# Each input lies in a file for a moment, in memory where there is such a file system.
TMPDIR=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
# A trap is told by the fuzzer, which keeps the file; the handler of Swift would get in its way.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS="symbolize=0:allocator_may_return_null=1:detect_leaks=0 ${ASAN_OPTIONS:-}"
if [[ ${#files[@]} -gt 0 ]]; then
    "$fuzz" "${limits[@]}" "${files[@]}"
    exit
fi
# Long traces of every allocation take a quarter of the time; what a finding needs is told when it is run again.
ASAN_OPTIONS="malloc_context_size=2:$ASAN_OPTIONS"
seeds=$work/seeds corpus=$work/corpus
rm -rf "$seeds"
if $keep; then
    corpus=$work/generated
    "$fuzz" --generate "$seeds"
elif [[ $target == image ]]; then
    mkdir -p "$seeds"
else
    scripts/fetch-onnx-cases.sh
    "$fuzz" --seeds "$seeds" .build-onnx-cases
fi
mkdir -p "$corpus" "$work/findings"
"$fuzz" "${limits[@]}" -runs="$runs" -max_total_time="$seconds" -seed="$seed" -max_len="$length" -print_final_stats=1 -reload=0 \
    -artifact_prefix="$work/findings/" "$corpus" "$kept" "$seeds"
if $keep; then
    rm -rf "$work/smallest" && mkdir "$work/smallest"
    # How often an edge is taken would need many more models, and long ones lead hardly further.
    "$fuzz" "${limits[@]}" -set_cover_merge=1 -use_counters=0 -max_len="$kept_length" "$work/smallest" "$kept" "$corpus" "$seeds"
    rm -rf "$kept" && mv "$work/smallest" "$kept"
fi
