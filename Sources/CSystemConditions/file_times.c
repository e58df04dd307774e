#include "CSystemConditions.h"

#include <sys/stat.h>

int64_t bg_last_access(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_atim.tv_sec : -1;
}
