#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Calls of Linux that Glibc does not wrap or that Swift cannot import. Unless it says otherwise, each returns -1 with
// errno on failure; ENOSYS where the kernel does not have it, and EPERM where a container's filter hides it.

// O_PATH, a descriptor for a place alone, and O_TMPFILE, a file without a name (open(2)).
extern const int cp_o_path;
extern const int cp_o_nameless;

// How a path is looked up (openat2(2), linux/openat2.h).
enum {
    CP_RESOLVE_NO_MAGICLINKS = 0x02, // no jumps such as those of /proc/PID/fd
    CP_RESOLVE_NO_SYMLINKS = 0x04,   // no links at all: ELOOP
    CP_RESOLVE_BENEATH = 0x08,       // nothing that leads out of the folder, absolute links included: EXDEV
};

// openat2(2). EAGAIN means that something was renamed meanwhile: try again. O_CLOEXEC is always set.
int cp_openat2(int folder, const char *path, int flags, mode_t mode, unsigned resolve);

// How a name is taken (renameat2(2)); EINVAL where the file system cannot.
enum {
    CP_RENAME_NOREPLACE = 1, // EEXIST where something has the name
    CP_RENAME_EXCHANGE = 2,  // both exist, and change their names
};

// renameat2(2) within one folder.
int cp_rename(int folder, const char *from, const char *to, unsigned flags);

// The rights of Landlock over files (linux/landlock.h; landlock(7)), with the version of its interface that brought each.
enum {
    CP_LANDLOCK_EXECUTE = 1 << 0,     // 1
    CP_LANDLOCK_WRITE_FILE = 1 << 1,  // 1
    CP_LANDLOCK_READ_FILE = 1 << 2,   // 1
    CP_LANDLOCK_READ_DIR = 1 << 3,    // 1
    CP_LANDLOCK_REMOVE_DIR = 1 << 4,  // 1
    CP_LANDLOCK_REMOVE_FILE = 1 << 5, // 1
    CP_LANDLOCK_MAKE_DIR = 1 << 7,    // 1
    CP_LANDLOCK_MAKE_REG = 1 << 8,    // 1
    CP_LANDLOCK_REFER = 1 << 13,      // 2: link and rename from one folder to another
    CP_LANDLOCK_TRUNCATE = 1 << 14,   // 3
    CP_LANDLOCK_IOCTL_DEV = 1 << 15,  // 5
};

// The version of Landlock's interface in this kernel, 1 or more; EOPNOTSUPP where it was switched off at boot.
int cp_landlock_version(void);

// Every right over files that a version knows.
uint64_t cp_landlock_file_rights(int version);

// A set of rules, a descriptor, that refuses every right over files, every TCP connection and listening TCP socket, and
// every signal and abstract socket of processes outside, as far as the version knows them.
int cp_landlock_create(int version);

// Gives rights back for an open file, or for a folder and everything below it. The rights have to be among those of the
// version, and for a file among those over files' contents: EINVAL.
int cp_landlock_allow(int ruleset, int target, uint64_t rights);

// Binds the calling thread, and what it starts from now on, to the rules; there is no way back. Needs
// cp_no_new_privileges.
int cp_landlock_enforce(int ruleset);

// From now on no program that this process starts gains rights by its file (prctl(2), PR_SET_NO_NEW_PRIVS).
int cp_no_new_privileges(void);

// Takes the making and connecting of sockets, and io_uring, which could do both, from the calling thread and what it
// starts: EACCES to them. Landlock knows nothing of UDP, nor of sockets with a path. Sockets that are open stay usable.
// mayExecute: false also takes the starting of programs. Needs cp_no_new_privileges.
int cp_refuse_sockets(bool mayExecute);

// A descriptor that stands for one process even after its number was given to another (pidfd_open(2)); closed on exec.
int cp_process_descriptor(pid_t process);

// Sends a signal to the process of a descriptor; ESRCH when it is gone (pidfd_send_signal(2)).
int cp_signal(int process_descriptor, int signal);

// Who made the other end of a connected Unix socket (SO_PEERCRED, unix(7)).
int cp_peer(int socket, pid_t *process, uid_t *user, gid_t *group);

// Most descriptors in one message.
enum { CP_MAX_DESCRIPTORS = 4 };

// Sends a message with descriptors (SCM_RIGHTS, unix(7)); the sender keeps its own. Returns the bytes sent.
ssize_t cp_send(int socket, const void *bytes, size_t count, int flags, const int *descriptors, size_t descriptor_count);

// Receives a message and the descriptors that came with it, which then belong to the caller and are closed on exec.
// `descriptors` has room for CP_MAX_DESCRIPTORS. Returns the bytes received; 0 at the end.
ssize_t cp_receive(int socket, void *bytes, size_t count, int flags, int *descriptors, size_t *descriptor_count);
