#pragma once

#include "include/ic_error.h"

/// Stores status and message, and returns the status.
__attribute__((format(printf, 3, 4))) ic_status ic_fail(ic_error *error, ic_status status, const char *format, ...);
