#!/usr/bin/env bash
# Installs what is missing and runs every test, in release mode. Arguments go to `swift test`, e.g. --filter ImageExport.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install-dependencies.sh --tests
swift build -c release --build-tests
swift test -c release --skip-build "$@"
