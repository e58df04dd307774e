#pragma once

/// Why a call failed. The values match the cases of the Swift error.
typedef enum ic_status {
    IC_OK = 0,
    IC_UNSUPPORTED,
    IC_DAMAGED,
    IC_LIMIT,
    IC_OUT_OF_MEMORY,
    IC_ENCODE,
    /// The pulse said so.
    IC_STOPPED,
    /// A library is not installed.
    IC_MISSING_LIBRARY,
} ic_status;

/// Filled by every call that returns something other than `IC_OK`.
typedef struct ic_error {
    ic_status status;
    char message[200];
} ic_error;
