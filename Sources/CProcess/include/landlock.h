#pragma once

#include <stdint.h>

// Calls of Linux that Glibc does not wrap or that Swift cannot import. Each returns -1 with errno on failure: ENOSYS
// where the kernel does not have it, and EPERM where a container's filter hides it.

// The rights of Landlock over files (linux/landlock.h; landlock(7)), with the version of its interface that brought each.
enum {
    BG_LANDLOCK_EXECUTE = 1 << 0,     // 1
    BG_LANDLOCK_WRITE_FILE = 1 << 1,  // 1
    BG_LANDLOCK_READ_FILE = 1 << 2,   // 1
    BG_LANDLOCK_READ_DIR = 1 << 3,    // 1
    BG_LANDLOCK_REMOVE_DIR = 1 << 4,  // 1
    BG_LANDLOCK_REMOVE_FILE = 1 << 5, // 1
    BG_LANDLOCK_MAKE_DIR = 1 << 7,    // 1
    BG_LANDLOCK_MAKE_REG = 1 << 8,    // 1
    BG_LANDLOCK_REFER = 1 << 13,      // 2: link and rename from one folder to another
    BG_LANDLOCK_TRUNCATE = 1 << 14,   // 3
    BG_LANDLOCK_IOCTL_DEV = 1 << 15,  // 5
};

// The version of Landlock's interface in this kernel, 1 or more; EOPNOTSUPP where it was switched off at boot.
int bg_landlock_version(void);

// Every right over files that a version knows.
uint64_t bg_landlock_file_rights(int version);

// A set of rules, a descriptor, that refuses every right over files, every TCP connection and listening TCP socket, and
// every signal and abstract socket of processes outside, as far as the version knows them.
int bg_landlock_create(int version);

// Gives rights back for an open file, or for a folder and everything below it. The rights have to be among those of the
// version, and for a file among those over files' contents: EINVAL.
int bg_landlock_allow(int ruleset, int target, uint64_t rights);

// Binds the calling thread, and what it starts from now on, to the rules; there is no way back. Needs
// bg_no_new_privileges.
int bg_landlock_enforce(int ruleset);
