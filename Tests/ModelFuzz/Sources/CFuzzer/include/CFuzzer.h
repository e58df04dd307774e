#pragma once
#include <stddef.h>
#include <stdint.h>

// What libFuzzer offers to a program with its own `main`; the runtime of `-sanitize=fuzzer` has them.

/// Runs what the arguments ask for: see https://llvm.org/docs/LibFuzzer.html.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *bytes, size_t count));

/// Changes bytes in place as libFuzzer does by itself; gives back how many there are then, at most `capacity`.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t capacity);
