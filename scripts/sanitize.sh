#!/usr/bin/env bash
# Builds everything with the thread sanitizer, apart from other builds, and runs the tests of the rooms with threads. Any
# report is a failure. Arguments go to `swift test` in place of that choice, e.g. --filter BGRunCommandsTests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install-dependencies.sh --tests
build=(--sanitize=thread --scratch-path .build/tsan)
rooms='AppleSource|BackgroundInference|BackgroundService|BackgroundTasks|JobLink|Locking|OpenCLKit|ResourceProbe'
rooms+='|SchedulingCore|ServiceClient|SystemConditions|TaskStore|WorkerPriority'
# Of the rooms of models, what several threads run at once.
models='twoThreadsGiveTheBytesOfOne|OneDNNKitTests.StreamTests'
# A million steps of the scheduler, which has no threads, would take an hour here.
tests=(--filter "($rooms)Tests" --filter "$models" --skip SchedulerMutation --skip SchedulerSimulation)
[[ $# -eq 0 ]] || tests=("$@")
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
# Also of processes whose output and status nobody sees.
export TSAN_OPTIONS="exitcode=66 log_path=$reports/report ${TSAN_OPTIONS:-}"

swift build "${build[@]}" --build-tests
status=0
swift test "${build[@]}" --skip-build "${tests[@]}" || status=$?
if [[ -n $(ls "$reports") ]]; then
    cat "$reports"/* >&2
    echo "the thread sanitizer has something to report:" >&2
    grep -h 'SUMMARY: ThreadSanitizer' "$reports"/* | sort | uniq -c >&2
    exit 66
fi
exit "$status"
