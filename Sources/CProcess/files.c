#include "files.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

// struct open_how (linux/openat2.h), which older headers lack.
struct how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

const int bg_o_path = O_PATH;
const int bg_o_nameless = O_TMPFILE;

int bg_openat2(int folder, const char *path, int flags, mode_t mode, unsigned resolve) {
    struct how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = resolve,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int bg_rename(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

// struct cachestat_range and struct cachestat (linux/mman.h), which older headers lack.
struct range {
    uint64_t start;
    uint64_t length;
};
struct pages {
    uint64_t cached;
    uint64_t dirty;
    uint64_t being_written;
    uint64_t evicted;
    uint64_t recently_evicted;
};

bool bg_is_at_hand(int file, off_t place) {
    struct range range = {(uint64_t)place, 1};
    struct pages pages;
    if (syscall(SYS_cachestat, file, &range, &pages, 0) == 0) return pages.cached > 0;
    char byte;
    struct iovec to = {&byte, 1};
    return preadv2(file, &to, 1, place, RWF_NOWAIT) == 1;
}

int bg_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE); }
