#pragma once
#include <stddef.h>
#include <stdint.h>

/// Counts every allocation of the process from now on, those of system libraries too. Once, before the first count.
/// Without the address sanitizer in the program nothing is counted, and 0 is given back.
int allocations_watch(void);

/// Begins a new count: what lives now is not part of it.
void allocations_begin(void);

/// The most bytes that lived at a time since then, beside what lived before. Not what was mapped past `malloc`.
int64_t allocations_peak(void);
