#include "CSystemConditions.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The part of libsystemd's interface that is used, as documented in sd-bus(3); stable since version 237.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct sd_bus_slot sd_bus_slot;
typedef struct {
    const char *name;
    const char *message;
    int need_free;
} sd_bus_error;
typedef int (*sd_bus_message_handler)(sd_bus_message *, void *, sd_bus_error *);

#define FUNCTIONS(X)                                                                                                   \
    X(int, sd_bus_new, (sd_bus **))                                                                                    \
    X(int, sd_bus_set_address, (sd_bus *, const char *))                                                               \
    X(int, sd_bus_set_bus_client, (sd_bus *, int))                                                                     \
    X(int, sd_bus_start, (sd_bus *))                                                                                   \
    X(int, sd_bus_is_ready, (sd_bus *))                                                                                \
    X(void, sd_bus_close, (sd_bus *))                                                                                  \
    X(sd_bus *, sd_bus_unref, (sd_bus *))                                                                              \
    X(int, sd_bus_get_fd, (sd_bus *))                                                                                  \
    X(int, sd_bus_get_events, (sd_bus *))                                                                              \
    X(int, sd_bus_get_timeout, (sd_bus *, uint64_t *))                                                                 \
    X(int, sd_bus_process, (sd_bus *, sd_bus_message **))                                                              \
    X(int, sd_bus_call, (sd_bus *, sd_bus_message *, uint64_t, sd_bus_error *, sd_bus_message **))                     \
    X(int, sd_bus_add_match_async,                                                                                     \
      (sd_bus *, sd_bus_slot **, const char *, sd_bus_message_handler, sd_bus_message_handler, void *))                \
    X(int, sd_bus_message_new_method_call,                                                                             \
      (sd_bus *, sd_bus_message **, const char *, const char *, const char *, const char *))                           \
    X(int, sd_bus_message_set_auto_start, (sd_bus_message *, int))                                                     \
    X(int, sd_bus_message_append, (sd_bus_message *, const char *, ...))                                               \
    X(int, sd_bus_message_read, (sd_bus_message *, const char *, ...))                                                 \
    X(int, sd_bus_message_enter_container, (sd_bus_message *, char, const char *))                                     \
    X(sd_bus_message *, sd_bus_message_unref, (sd_bus_message *))                                                      \
    X(void, sd_bus_error_free, (sd_bus_error *))

typedef struct {
    bg_bus *bus;
    uint8_t tag, tag_if_false;
} watch;

enum { MAX_WATCHES = 32, MAX_TAGS = 256 };

struct bg_bus {
#define DECLARE(result, name, arguments) result(*name) arguments;
    FUNCTIONS(DECLARE)
#undef DECLARE
    sd_bus *connection;
    watch watches[MAX_WATCHES];
    size_t watch_count;
    uint8_t tags[MAX_TAGS];
    size_t tag_count;
};

static uint64_t now_usec(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int failed(int status, const char *what, char *reason, size_t reason_size) {
    if (status == -ETIMEDOUT || status == -ETIME)
        snprintf(reason, reason_size, "%s gave no answer in time", what);
    else
        snprintf(reason, reason_size, "%s: %s", what, strerror(-status));
    return status;
}

/// Waits for the bus to accept this client; libsystemd by itself would wait for much longer.
static int wait_until_ready(bg_bus *bus, uint64_t deadline) {
    for (;;) {
        int status = bus->sd_bus_is_ready(bus->connection);
        if (status != 0)
            return status < 0 ? status : 0;
        status = bus->sd_bus_process(bus->connection, NULL);
        if (status < 0)
            return status;
        uint64_t now = now_usec();
        if (now >= deadline)
            return -ETIMEDOUT;
        if (status > 0)
            continue;
        int events = bus->sd_bus_get_events(bus->connection);
        if (events < 0)
            return events;
        struct pollfd waiting = {.fd = bus->sd_bus_get_fd(bus->connection), .events = (short)events};
        // Rounded up, or the last millisecond would be spent without a pause.
        if (poll(&waiting, 1, (int)((deadline - now + 999) / 1000)) < 0 && errno != EINTR)
            return -errno;
    }
}

int bg_bus_open(
    const char *library, const char *address, uint64_t timeout_usec, bg_bus **result, char *reason,
    size_t reason_size) {
    *result = NULL;
    // Stays open: the library keeps data of each thread that has used it.
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *words = dlerror();
        snprintf(reason, reason_size, "%s", words ? words : library);
        return -ENOENT;
    }
    bg_bus *bus = calloc(1, sizeof *bus);
    if (!bus)
        return failed(-ENOMEM, "the bus", reason, reason_size);
#define LOOK_UP(result_type, name, arguments)                                                                          \
    bus->name = (result_type(*) arguments)dlsym(handle, #name);                                                        \
    if (!bus->name) {                                                                                                  \
        snprintf(reason, reason_size, "%s has no %s", library, #name);                                                 \
        free(bus);                                                                                                     \
        return -ENOSYS;                                                                                                \
    }
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    uint64_t deadline = now_usec() + timeout_usec;
    int status = bus->sd_bus_new(&bus->connection);
    if (status >= 0)
        status = bus->sd_bus_set_address(bus->connection, address);
    if (status >= 0)
        status = bus->sd_bus_set_bus_client(bus->connection, 1);
    if (status >= 0)
        status = bus->sd_bus_start(bus->connection);
    if (status >= 0)
        status = wait_until_ready(bus, deadline);
    if (status < 0) {
        bg_bus_close(bus);
        return failed(status, "the system bus", reason, reason_size);
    }
    *result = bus;
    return 0;
}

void bg_bus_close(bg_bus *bus) {
    if (bus->connection) {
        bus->sd_bus_close(bus->connection);
        bus->sd_bus_unref(bus->connection);
    }
    free(bus);
}

static int new_call(bg_bus *bus, bg_bus_member member, sd_bus_message **message) {
    int status = bus->sd_bus_message_new_method_call(
        bus->connection, message, member.service, member.path, member.interface, member.member);
    if (status < 0)
        return status;
    return bus->sd_bus_message_set_auto_start(*message, 0);
}

/// Sends a call, whether it could be made or not, and takes it over.
static int finish_call(
    bg_bus *bus, int status, sd_bus_message *message, const char *service, uint64_t timeout_usec,
    sd_bus_message **reply, char *reason, size_t reason_size) {
    sd_bus_error error = {0};
    *reply = NULL;
    if (status >= 0)
        status = bus->sd_bus_call(bus->connection, message, timeout_usec, &error, reply);
    if (status < 0) {
        if (status == -ETIMEDOUT || !error.message)
            failed(status, service, reason, reason_size);
        else
            snprintf(reason, reason_size, "%s: %s", service, error.message);
    }
    bus->sd_bus_error_free(&error);
    bus->sd_bus_message_unref(message);
    return status < 0 ? status : 0;
}

static int get_property(
    bg_bus *bus, bg_bus_member property, const char *type, uint64_t timeout_usec, sd_bus_message **reply, char *reason,
    size_t reason_size) {
    bg_bus_member get = {property.service, property.path, "org.freedesktop.DBus.Properties", "Get"};
    sd_bus_message *message = NULL;
    int status = new_call(bus, get, &message);
    if (status >= 0)
        status = bus->sd_bus_message_append(message, "ss", property.interface, property.member);
    status = finish_call(bus, status, message, property.service, timeout_usec, reply, reason, reason_size);
    if (status < 0)
        return status;
    status = bus->sd_bus_message_enter_container(*reply, 'v', type);
    if (status > 0)
        return 0;
    bus->sd_bus_message_unref(*reply);
    *reply = NULL;
    snprintf(reason, reason_size, "%s: %s is of another type than expected", property.service, property.member);
    return status < 0 ? status : -EBADMSG;
}

static int unreadable(const char *service, char *reason, size_t reason_size) {
    snprintf(reason, reason_size, "%s: the answer cannot be read", service);
    return -EBADMSG;
}

int bg_bus_get_bool(
    bg_bus *bus, bg_bus_member property, uint64_t timeout_usec, int *value, char *reason, size_t reason_size) {
    sd_bus_message *reply;
    int status = get_property(bus, property, "b", timeout_usec, &reply, reason, reason_size);
    if (status < 0)
        return status;
    status = bus->sd_bus_message_read(reply, "b", value) > 0 ? 0 : unreadable(property.service, reason, reason_size);
    bus->sd_bus_message_unref(reply);
    return status;
}

int bg_bus_get_uint32(
    bg_bus *bus, bg_bus_member property, uint64_t timeout_usec, uint32_t *value, char *reason, size_t reason_size) {
    sd_bus_message *reply;
    int status = get_property(bus, property, "u", timeout_usec, &reply, reason, reason_size);
    if (status < 0)
        return status;
    status = bus->sd_bus_message_read(reply, "u", value) > 0 ? 0 : unreadable(property.service, reason, reason_size);
    bus->sd_bus_message_unref(reply);
    return status;
}

int bg_bus_get_string(
    bg_bus *bus, bg_bus_member property, uint64_t timeout_usec, char *value, size_t value_size, char *reason,
    size_t reason_size) {
    sd_bus_message *reply;
    int status = get_property(bus, property, "s", timeout_usec, &reply, reason, reason_size);
    if (status < 0)
        return status;
    const char *text = NULL;
    if (bus->sd_bus_message_read(reply, "s", &text) > 0)
        snprintf(value, value_size, "%s", text);
    else
        status = unreadable(property.service, reason, reason_size);
    bus->sd_bus_message_unref(reply);
    return status;
}

static const bg_bus_member logind = {
    "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", NULL};

int bg_bus_list_sessions(
    bg_bus *bus, uint64_t timeout_usec, bg_bus_session *sessions, size_t capacity, char *reason, size_t reason_size) {
    bg_bus_member list = logind;
    list.member = "ListSessions";
    sd_bus_message *message = NULL, *reply;
    int status = new_call(bus, list, &message);
    status = finish_call(bus, status, message, logind.service, timeout_usec, &reply, reason, reason_size);
    if (status < 0)
        return status;
    int count = 0;
    status = bus->sd_bus_message_enter_container(reply, 'a', "(susso)");
    while (status > 0 && (size_t)count < capacity) {
        const char *identifier, *user, *seat, *path;
        uint32_t user_number;
        status = bus->sd_bus_message_read(reply, "(susso)", &identifier, &user_number, &user, &seat, &path);
        if (status > 0)
            snprintf(sessions[count++].path, sizeof sessions[0].path, "%s", path);
    }
    bus->sd_bus_message_unref(reply);
    return status < 0 ? unreadable(logind.service, reason, reason_size) : count;
}

int bg_bus_inhibit(
    bg_bus *bus, uint64_t timeout_usec, const char *what, const char *who, const char *why, const char *mode,
    int *descriptor, char *reason, size_t reason_size) {
    bg_bus_member inhibit = logind;
    inhibit.member = "Inhibit";
    sd_bus_message *message = NULL, *reply;
    int status = new_call(bus, inhibit, &message);
    if (status >= 0)
        status = bus->sd_bus_message_append(message, "ssss", what, who, why, mode);
    status = finish_call(bus, status, message, logind.service, timeout_usec, &reply, reason, reason_size);
    if (status < 0)
        return status;
    int borrowed = -1;
    if (bus->sd_bus_message_read(reply, "h", &borrowed) > 0) {
        // The message closes its own copy.
        *descriptor = fcntl(borrowed, F_DUPFD_CLOEXEC, 3);
        status = *descriptor < 0 ? failed(-errno, "the inhibitor", reason, reason_size) : 0;
    } else {
        status = unreadable(logind.service, reason, reason_size);
    }
    bus->sd_bus_message_unref(reply);
    return status;
}

static int signal_came(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)error;
    watch *watch = context;
    bg_bus *bus = watch->bus;
    uint8_t tag = watch->tag;
    int value = 1;
    if (watch->tag_if_false && bus->sd_bus_message_read(message, "b", &value) > 0 && !value)
        tag = watch->tag_if_false;
    // Repeated tags say nothing new, so a flood of one signal does not push the others out.
    if (bus->tag_count < MAX_TAGS && (bus->tag_count == 0 || bus->tags[bus->tag_count - 1] != tag))
        bus->tags[bus->tag_count++] = tag;
    return 0;
}

/// A refused match only means that nothing is reported; libsystemd's own handler would close the connection.
static int match_answered(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)message, (void)context, (void)error;
    return 0;
}

int bg_bus_watch(
    bg_bus *bus, const char *match, uint8_t tag, uint8_t tag_if_false, char *reason, size_t reason_size) {
    if (bus->watch_count == MAX_WATCHES)
        return failed(-ENOSPC, "the system bus", reason, reason_size);
    watch *watch = &bus->watches[bus->watch_count++];
    watch->bus = bus;
    watch->tag = tag;
    watch->tag_if_false = tag_if_false;
    int status = bus->sd_bus_add_match_async(bus->connection, NULL, match, signal_came, match_answered, watch);
    return status < 0 ? failed(status, "the system bus", reason, reason_size) : 0;
}

int bg_bus_descriptor(bg_bus *bus) { return bus->sd_bus_get_fd(bus->connection); }

short bg_bus_events(bg_bus *bus) {
    int events = bus->sd_bus_get_events(bus->connection);
    return events < 0 ? POLLIN : (short)events;
}

uint64_t bg_bus_deadline(bg_bus *bus) {
    uint64_t deadline = UINT64_MAX;
    return bus->sd_bus_get_timeout(bus->connection, &deadline) < 0 ? UINT64_MAX : deadline;
}

int bg_bus_process(bg_bus *bus, uint8_t *tags, size_t capacity) {
    // Bounded, so that a flood of signals cannot keep the caller here.
    for (int i = 0; i < 1000; i++) {
        int status = bus->sd_bus_process(bus->connection, NULL);
        if (status < 0)
            return status;
        if (status == 0)
            break;
    }
    size_t count = bus->tag_count < capacity ? bus->tag_count : capacity;
    memcpy(tags, bus->tags, count);
    bus->tag_count = 0;
    return (int)count;
}
