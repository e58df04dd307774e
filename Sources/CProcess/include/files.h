#pragma once

#include <stdbool.h>
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

// renameat2(2).
int bg_rename(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);

// Whether the page of an open file with this byte is in memory, so that to read it waits for no disk (cachestat(2)).
// Before Linux 6.5, and for a file that one neither owns nor may write, by an attempt to read it (preadv2(2) with
// RWF_NOWAIT), which has the kernel fetch it: from a fast disk it may be there before the answer.
bool bg_is_at_hand(int file, off_t place);

// A counter as a descriptor, closed on exec, of which each read takes one, and fails at once where there is none left.
int bg_event(void);
