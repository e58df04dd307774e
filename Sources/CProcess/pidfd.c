#include "pidfd.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int bg_pidfd_open(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int bg_pidfd_signal(int process, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, process, signal, NULL, 0);
}

int bg_peer_of(int socket, struct bg_peer *peer) {
    struct ucred found;
    socklen_t size = sizeof found;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return -1;
    *peer = (struct bg_peer){.process = found.pid, .user = found.uid, .group = found.gid};
    return 0;
}
