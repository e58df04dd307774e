#include "CProcess.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// One number on every architecture (asm-generic/unistd.h); older headers lack it.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

int cp_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int cp_process_descriptor(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int cp_signal(int process_descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, process_descriptor, signal, NULL, 0);
}

int cp_peer(int socket, pid_t *process, uid_t *user, gid_t *group) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return -1;
    *process = peer.pid;
    *user = peer.uid;
    *group = peer.gid;
    return 0;
}
