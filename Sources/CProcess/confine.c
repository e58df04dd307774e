#include "confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#define SYS_io_uring_register 427
#endif

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

int bg_no_new_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#ifdef NATIVE

#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), REFUSE(EACCES)

// Calls in another form than this program's own, of 32 bits or x32, have other numbers and are refused altogether.
#define HEAD                                                                                                               \
    LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0), REFUSE(ENOSYS), LOAD(nr),                               \
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), REFUSE(ENOSYS)

// A pair of datagram sockets could be pointed elsewhere, so that pairs are refused too.
#define SOCKETS                                                                                                            \
    REFUSE_CALL(SYS_socket), REFUSE_CALL(SYS_socketpair), REFUSE_CALL(SYS_connect), REFUSE_CALL(SYS_io_uring_setup),       \
        REFUSE_CALL(SYS_io_uring_enter), REFUSE_CALL(SYS_io_uring_register)

#define TAIL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int install(struct sock_filter *filter, size_t length) {
    struct sock_fprog program = {.len = (unsigned short)length, .filter = filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int bg_refuse_sockets(bool mayExecute) {
    struct sock_filter sockets[] = {HEAD, SOCKETS, TAIL};
    struct sock_filter both[] = {HEAD, SOCKETS, REFUSE_CALL(SYS_execve), REFUSE_CALL(SYS_execveat), TAIL};
    return mayExecute ? install(sockets, sizeof sockets / sizeof *sockets) : install(both, sizeof both / sizeof *both);
}

#else

int bg_refuse_sockets(bool mayExecute) {
    (void)mayExecute;
    errno = ENOSYS;
    return -1;
}

#endif
