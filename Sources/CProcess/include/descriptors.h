#pragma once

#include <stddef.h>
#include <sys/types.h>

// -1 and errno on failure.

// Closes every descriptor from that number on (close_range(2), Linux 5.9).
int bg_close_from(unsigned first);

// Most descriptors in one message.
enum { BG_MAX_DESCRIPTORS = 64 };

// Sends a message with descriptors (SCM_RIGHTS, unix(7)); the sender keeps its own. Returns the bytes sent.
ssize_t bg_send(int socket, const void *bytes, size_t count, int flags, const int *descriptors, size_t descriptor_count);

// Receives a message and the descriptors that came with it, which then belong to the caller and are closed on exec.
// `descriptors` has room for BG_MAX_DESCRIPTORS. Returns the bytes received; 0 at the end.
ssize_t bg_receive(int socket, void *bytes, size_t count, int flags, int *descriptors, size_t *descriptor_count);
