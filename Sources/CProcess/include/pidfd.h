#pragma once

#include <stdint.h>
#include <sys/types.h>

// A descriptor that becomes readable when the process ends, closed on exec; -1 and errno on failure (pidfd_open(2)).
int bg_pidfd_open(pid_t process);

// Sends a signal to the process of such a descriptor, even after its number was given to another; -1 and errno on
// failure, ESRCH when it is gone (pidfd_send_signal(2)).
int bg_pidfd_signal(int process, int signal);

// Who is at the other end of a connected Unix socket (SO_PEERCRED, unix(7)).
struct bg_peer {
    pid_t process;
    uid_t user;
    gid_t group;
};

// 0, or -1 and errno.
int bg_peer_of(int socket, struct bg_peer *peer);
