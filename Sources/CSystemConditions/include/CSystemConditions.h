#ifndef C_SYSTEM_CONDITIONS_H
#define C_SYSTEM_CONDITIONS_H

#include <stddef.h>
#include <stdint.h>

/// A connection to the system's message bus through libsystemd, which is opened at run time so that a program starts
/// without it. To be used by one thread at a time. Functions that can fail return 0 or a negative errno and fill
/// `reason` with one line of text.
typedef struct bg_bus bg_bus;

/// Connects and waits until the bus has answered, for `timeout_usec` at most.
int bg_bus_open(
    const char *library, const char *address, uint64_t timeout_usec, bg_bus **bus, char *reason, size_t reason_size);
/// Sends nothing that waits to be sent, so that a stuck bus cannot hold it up.
void bg_bus_close(bg_bus *bus);

/// Where a property is found. Nothing is started that does not run.
typedef struct {
    const char *service;
    const char *path;
    const char *interface;
    const char *member;
} bg_bus_member;

int bg_bus_get_bool(
    bg_bus *bus, bg_bus_member property, uint64_t timeout_usec, int *value, char *reason, size_t reason_size);
int bg_bus_get_uint32(
    bg_bus *bus, bg_bus_member property, uint64_t timeout_usec, uint32_t *value, char *reason, size_t reason_size);
/// A longer text than fits is cut.
int bg_bus_get_string(
    bg_bus *bus, bg_bus_member property, uint64_t timeout_usec, char *value, size_t value_size, char *reason,
    size_t reason_size);

typedef struct {
    char path[256];
} bg_bus_session;

/// The object paths of logind's sessions. Returns how many were put into `sessions`, or a negative errno.
int bg_bus_list_sessions(
    bg_bus *bus, uint64_t timeout_usec, bg_bus_session *sessions, size_t capacity, char *reason, size_t reason_size);

/// Takes an inhibitor of logind; closing `descriptor` gives it back.
int bg_bus_inhibit(
    bg_bus *bus, uint64_t timeout_usec, const char *what, const char *who, const char *why, const char *mode,
    int *descriptor, char *reason, size_t reason_size);

/// Reports each signal that a match rule fits as `tag` or, where `tag_if_false` is not 0 and the signal's first
/// argument is false, as `tag_if_false`.
int bg_bus_watch(
    bg_bus *bus, const char *match, uint8_t tag, uint8_t tag_if_false, char *reason, size_t reason_size);

int bg_bus_descriptor(bg_bus *bus);
/// What to poll the descriptor for.
short bg_bus_events(bg_bus *bus);
/// Microseconds on CLOCK_MONOTONIC at which to call `bg_bus_process` though nothing came; UINT64_MAX for never.
uint64_t bg_bus_deadline(bg_bus *bus);
/// Handles what has come. Returns how many tags were put into `tags`, in the order of their signals, or a negative
/// errno when the connection is lost.
int bg_bus_process(bg_bus *bus, uint8_t *tags, size_t capacity);

/// Sockets that receive the kernel's device events and its route and link changes; a negative errno when there is none.
int bg_open_device_events(void);
int bg_open_route_events(void);
/// Receives one message of the kernel, without waiting. Returns its length, 0 for one that is not the kernel's, or a
/// negative errno: -EAGAIN when there is none, -ENOBUFS when some were lost.
long bg_receive_event(int socket, void *buffer, size_t size);

/// Opens a pressure file and sets its trigger; poll it for POLLPRI. Writes to nothing but the kernel's own files.
int bg_open_pressure_trigger(const char *path, const char *trigger);
/// Opens a file whose change the kernel reports by POLLPRI. Only the kernel's own files do that.
int bg_open_attribute(const char *path);

/// A non-blocking event counter.
int bg_open_wake_up(void);

/// Seconds since 1970 at which a file was last read from, or -1. In C, since some builds of Swift do not find the fields of
/// `timespec` inside `stat`.
int64_t bg_last_access(const char *path);

#endif
