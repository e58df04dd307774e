#include "CWeightCache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int bg_sheet_make(int64_t limit) {
    int sheet = memfd_create("bgrun-weights", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (sheet < 0) return -1;
    if (ftruncate(sheet, limit) == 0 && fcntl(sheet, F_ADD_SEALS, F_SEAL_GROW) == 0) return sheet;
    int error = errno;
    close(sheet);
    errno = error;
    return -1;
}

int bg_sheet_close(int sheet) {
    return fcntl(sheet, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}
