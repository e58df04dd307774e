#pragma once

// Has the C library keep up to `kept` freed bytes at the end of the heap, and take blocks below `largest` bytes (at most
// 32 MiB) from the heap rather than from the kernel. 0 where it does not let itself be told.
int bg_keep_heap(int kept, int largest);

// Hands what is free in the heap back to the kernel, where the C library can.
void bg_trim_heap(void);
