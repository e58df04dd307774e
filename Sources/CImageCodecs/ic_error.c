#include <stdarg.h>
#include <stdio.h>

#include "ic_internal.h"

ic_status ic_fail(ic_error *error, ic_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}
