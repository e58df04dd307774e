#!/usr/bin/env bash
# Builds everything with the thread sanitizer, apart from other builds, and runs the tests of the rooms with threads. Any
# report is a failure. Arguments go to `swift test` in place of the choice of tests, e.g. --filter BackgroundTasksTests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install-dependencies.sh --tests
build=(--sanitize=thread --scratch-path .build/tsan)
# A million steps of the scheduler, which has no threads, would take an hour here.
tests=(--skip SchedulerMutation --skip SchedulerSimulation)
[[ $# -eq 0 ]] || tests=("$@")
# A process of the tests that ends with a report ends so; what it says is looked for as well, for those whose status
# nobody sees.
export TSAN_OPTIONS="exitcode=66 ${TSAN_OPTIONS:-}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

swift build "${build[@]}" --build-tests
status=0
swift test "${build[@]}" --skip-build "${tests[@]}" 2>&1 | tee "$log" || status=$?
if grep -q 'WARNING: ThreadSanitizer' "$log"; then
    echo "the thread sanitizer has something to report:" >&2
    grep 'SUMMARY: ThreadSanitizer' "$log" | sort | uniq -c >&2
    exit 66
fi
exit "$status"
