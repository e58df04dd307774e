#!/usr/bin/env bash
# Builds everything with the thread sanitizer, apart from other builds, and runs the tests of the rooms with threads. Any
# report is a failure. Arguments go to `swift test` in place of that choice, e.g. --filter BGRunCommandsTests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install-dependencies.sh --tests
build=(--sanitize=thread --scratch-path .build/tsan)
rooms='BackgroundTasks|AppleSource|Locking|OpenCLKit|ResourceProbe|SchedulingCore|SystemConditions|TaskStore'
# A million steps of the scheduler, which has no threads, would take an hour here.
tests=(--filter "($rooms)Tests" --skip SchedulerMutation --skip SchedulerSimulation)
[[ $# -eq 0 ]] || tests=("$@")
# A process with a report ends so; the reports are looked for as well, for processes whose status nobody sees.
export TSAN_OPTIONS="exitcode=66 ${TSAN_OPTIONS:-}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

swift build "${build[@]}" --build-tests
status=0
swift test "${build[@]}" --skip-build "${tests[@]}" >"$log" 2>&1 || status=$?
if grep -q 'WARNING: ThreadSanitizer' "$log"; then
    cat "$log" >&2
    echo "the thread sanitizer has something to report:" >&2
    grep 'SUMMARY: ThreadSanitizer' "$log" | sort | uniq -c >&2
    exit 66
fi
[[ $status -eq 0 ]] || cat "$log" >&2
tail -n 1 "$log"
exit "$status"
