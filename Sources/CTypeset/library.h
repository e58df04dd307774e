// Looking up a library's functions once.
#pragma once

#include <dlfcn.h>
#include <stdio.h>

// Fills one field of a table of functions, or leaves a failure and returns from the loading function.
#define BG_LOOK_UP(table, handle, function)                                                                            \
    table.function = (__typeof__(table.function))dlsym(handle, #function);                                             \
    if (!table.function) {                                                                                             \
        snprintf(table.failure, sizeof table.failure, "the library lacks %s", #function);                              \
        return;                                                                                                        \
    }

#define BG_FIELD(function) __typeof__(&function) function;
