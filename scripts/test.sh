#!/usr/bin/env bash
# Installs what is missing and runs every test, in release mode. Arguments go to `swift test` in place of that choice,
# e.g. --filter ImageExport.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install-dependencies.sh --tests
scripts/fetch-onnx-cases.sh
swift build -c release --build-tests
output=$(mktemp)
trap 'rm -f "$output"' EXIT
# What failed is told once more at the end, where it is found.
run() {
    swift test -c release --skip-build "$@" 2>&1 | tee "$output" || {
        printf '\nFailed:\n' >&2
        grep -E '✘|rror:' "$output" >&2 || tail -n 20 "$output" >&2
        exit 1
    }
}
if [[ $# -gt 0 ]]; then
    run "$@"
else
    # These compute for minutes on every core: tests that watch processes and clocks would only wait for them.
    heavy='SchedulerMutationTests|SchedulerSimulationTests|InferenceTests|OneDNNKitTests'
    run --skip "$heavy"
    run --filter "$heavy"
fi
