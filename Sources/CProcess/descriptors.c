#include "descriptors.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// One number on every architecture (asm-generic/unistd.h); older headers lack it.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int bg_close_from(unsigned first) {
    return (int)syscall(SYS_close_range, first, ~0u, 0);
}

union control {
    char bytes[CMSG_SPACE(sizeof(int) * BG_MAX_DESCRIPTORS)];
    struct cmsghdr alignment;
};

ssize_t bg_send(
    int socket, const void *bytes, size_t count, int flags, const int *descriptors, size_t descriptor_count) {
    if (descriptor_count > BG_MAX_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    struct iovec content = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
    union control control;
    if (descriptor_count > 0) {
        size_t length = sizeof(int) * descriptor_count;
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(length);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(header), descriptors, length);
    }
    return sendmsg(socket, &message, flags);
}

ssize_t bg_receive(int socket, void *bytes, size_t count, int flags, int *descriptors, size_t *descriptor_count) {
    struct iovec content = {.iov_base = bytes, .iov_len = count};
    union control control;
    struct msghdr message = {
        .msg_iov = &content,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (received < 0)
        return -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < here; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof descriptor);
            if (*descriptor_count < BG_MAX_DESCRIPTORS)
                descriptors[(*descriptor_count)++] = descriptor;
            else
                close(descriptor);
        }
    }
    return received;
}
