#include "CSystemConditions.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

static int open_netlink(int protocol, unsigned groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (descriptor < 0)
        return -errno;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int reason = errno;
        close(descriptor);
        return -reason;
    }
    return descriptor;
}

int bg_open_device_events(void) {
    // Group 1 has the kernel's own events; group 2 those that udev has dealt with, which a container need not have.
    return open_netlink(NETLINK_KOBJECT_UEVENT, 1);
}

int bg_open_route_events(void) {
    return open_netlink(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE);
}

long bg_receive_event(int descriptor, void *buffer, size_t size) {
    struct sockaddr_nl sender = {0};
    socklen_t sender_size = sizeof sender;
    ssize_t count;
    do {
        sender_size = sizeof sender;
        count = recvfrom(descriptor, buffer, size, MSG_DONTWAIT, (struct sockaddr *)&sender, &sender_size);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return -errno;
    // The kernel's port is 0; other processes may send to these groups too. A socket pair has no address.
    if (sender_size >= sizeof sender && sender.nl_family == AF_NETLINK && sender.nl_pid != 0)
        return 0;
    return count;
}

static int open_on(const char *path, int flags, long file_system) {
    int descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return -errno;
    struct statfs status;
    int result = fstatfs(descriptor, &status) == 0 ? 0 : -errno;
    if (result == 0 && (long)status.f_type != file_system)
        result = -ENOTSUP;
    if (result < 0) {
        close(descriptor);
        return result;
    }
    return descriptor;
}

int bg_open_pressure_trigger(const char *path, const char *trigger) {
    int descriptor = open_on(path, O_RDWR, PROC_SUPER_MAGIC);
    if (descriptor < 0)
        return descriptor;
    // The kernel wants the closing zero too.
    if (write(descriptor, trigger, strlen(trigger) + 1) < 0) {
        int reason = errno;
        close(descriptor);
        return -reason;
    }
    return descriptor;
}

int bg_open_attribute(const char *path) { return open_on(path, O_RDONLY, SYSFS_MAGIC); }

int bg_open_wake_up(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}
