#!/usr/bin/env bash
# Installs what is missing, builds bgrun in release mode and exports photographs as 2048 px JPEGs.
# Usage: scripts/run.sh [FOLDER [OUTPUT_FOLDER [bgrun export options ...]]]
# Without a folder, a few camera-size photographs are generated first.
set -euo pipefail
# Paths are meant from where the caller is.
caller=$PWD
absolute() {
    case $1 in
        '' | /*) printf '%s' "$1" ;;
        *) printf '%s/%s' "$caller" "$1" ;;
    esac
}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD

command -v swift >/dev/null || {
    echo "swift is not on the PATH: install Swift 6.3 from https://www.swift.org/install/linux/" >&2
    exit 69
}
scripts/install-dependencies.sh
swift build -c release --product bgrun
binaries=$(swift build -c release --show-bin-path)

photos=$(absolute "${1:-}")
output=$(absolute "${2:-$here/.build/exported}")
if [[ -z "$photos" ]]; then
    photos=$here/.build/sample-photographs
    if [[ ! -d "$photos" ]]; then
        swift build -c release --product bgrun-bench
        "$binaries/bgrun-bench" photos "$photos.partial" --count 6
        mv "$photos.partial" "$photos"
    fi
fi
"$binaries/bgrun" export "$photos" --out "$output" --size 2048 --format jpeg "${@:3}"
echo "Exported to $output. The command itself: $binaries/bgrun" >&2
