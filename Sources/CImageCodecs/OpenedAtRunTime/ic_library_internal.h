#pragma once

#include <stddef.h>

#include "../ic_internal.h"
#include "../include/ic_library.h"

/// Fills a table of pointers to the functions of these names, once for a process; NULL with `error` filled without the
/// library or one of them.
const void *ic_library_functions(
    ic_library library, const char *const *names, size_t count, void **table, ic_error *error);

#define IC_LIBRARY_FIELD(function) __typeof__(function) *function;
#define IC_LIBRARY_NAME(function) #function,

/// Defines `name`, which gives the table of the functions that `FUNCTIONS` lists.
#define IC_LIBRARY_TABLE(name, library, FUNCTIONS)                                                                     \
    typedef struct name##_table {                                                                                      \
        FUNCTIONS(IC_LIBRARY_FIELD)                                                                                    \
    } name##_table;                                                                                                    \
    static inline const name##_table *name(ic_error *error) {                                                          \
        static const char *const names[] = {FUNCTIONS(IC_LIBRARY_NAME)};                                               \
        static union {                                                                                                 \
            name##_table table;                                                                                        \
            void *pointers[sizeof names / sizeof names[0]];                                                            \
        } functions;                                                                                                   \
        return ic_library_functions(library, names, sizeof names / sizeof names[0], functions.pointers, error);        \
    }

/// Between these, what the calling library prints to the C stream stderr is lost, and so is what others print there meanwhile;
/// the descriptor stays as it is. For libraries that have no switch for it.
void ic_quiet_begin(void);
void ic_quiet_end(void);
