#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Calls of Linux that Glibc does not wrap or that Swift cannot import. Each returns -1 with errno on failure: ENOSYS
// where the kernel does not have it, and EPERM where a container's filter hides it.

// O_PATH, a descriptor for a place alone, and O_TMPFILE, a file without a name (open(2)).
extern const int bg_o_path;
extern const int bg_o_nameless;

// How a path is looked up (openat2(2), linux/openat2.h).
enum {
    BG_RESOLVE_NO_MAGICLINKS = 0x02, // no jumps such as those of /proc/PID/fd
    BG_RESOLVE_BENEATH = 0x08,       // nothing that leads out of the folder, absolute links included: EXDEV
};

// openat2(2). EAGAIN means that something was renamed meanwhile: try again. O_CLOEXEC is always set.
int bg_openat2(int folder, const char *path, int flags, mode_t mode, unsigned resolve);

// How a name is taken (renameat2(2)); EINVAL where the file system cannot.
enum {
    BG_RENAME_NOREPLACE = 1, // EEXIST where something has the name
    BG_RENAME_EXCHANGE = 2,  // both exist, and change their names
};

// renameat2(2) within one folder.
int bg_rename(int folder, const char *from, const char *to, unsigned flags);

// How much of the first `length` bytes of an open file is in memory, in whole pages (cachestat(2)); -1 with ENOSYS before
// Linux 6.5, and with EPERM for a file that one neither owns nor may write.
int64_t bg_bytes_at_hand(int file, uint64_t length);

// Whether a byte of an open file is in memory, so that to read it waits for no disk (preadv2(2), RWF_NOWAIT). Asking has
// the kernel read it, which a fast disk may have done before the answer.
bool bg_is_at_hand(int file, off_t place);

// A counter as a descriptor, closed on exec, of which each read takes one, and fails at once where there is none left.
int bg_event(void);
