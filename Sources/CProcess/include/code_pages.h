#pragma once

// Gives the pages of programs and libraries that hold code back to the kernel: those that are needed again come from
// their files as they did the first time. Returns the bytes that they may have taken, of which most are usually not there
// (madvise(2), MADV_DONTNEED; dl_iterate_phdr(3)).
unsigned long bg_give_back_code(void);
