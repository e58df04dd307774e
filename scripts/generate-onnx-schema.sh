#!/usr/bin/env bash
# Makes Sources/ONNXFormat/onnx.pb.swift from onnx.proto beside it. Needs protoc (Debian: protobuf-compiler) and builds the
# plugin for Swift in a temporary folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/.*swift-protobuf", exact: "\([0-9.]*\)".*/\1/p' Package.swift)
plugin=${PROTOC_GEN_SWIFT:-}
if [[ -z "$plugin" ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    git -c advice.detachedHead=false clone -q --depth 1 -b "$version" https://github.com/apple/swift-protobuf "$work"
    swift build --package-path "$work" -c release --product protoc-gen-swift
    plugin=$work/.build/release/protoc-gen-swift
fi
protoc --plugin="protoc-gen-swift=$plugin" --proto_path=Sources/ONNXFormat \
    --swift_opt=Visibility=Package --swift_opt=UseAccessLevelOnImports=true --swift_out=Sources/ONNXFormat onnx.proto
