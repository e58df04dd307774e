#pragma once

/// Asked within calls that take long, every few milliseconds where the library allows it.
typedef struct ic_pulse {
    /// Returns 0 to end the call, which then fails with `IC_STOPPED`. May be NULL.
    int (*may_go_on)(void *context);
    void *context;
} ic_pulse;

static inline int ic_may_go_on(const ic_pulse *pulse) {
    return !pulse->may_go_on || pulse->may_go_on(pulse->context);
}
