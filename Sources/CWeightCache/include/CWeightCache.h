#pragma once

#include <stddef.h>
#include <stdint.h>

// Memory of so many zeros that has a descriptor, closed on exec, and cannot become longer (memfd_create(2)); -1 and errno on
// failure.
int bg_sheet_make(int64_t limit);

// From now on nobody changes it, whoever has it open (fcntl(2), F_ADD_SEALS). 0, or -1 and errno: EBUSY while somebody has
// it mapped for writing.
int bg_sheet_close(int sheet);
