#pragma once

/// Has memory that is freed kept for what comes next, up to so many bytes, where the C library can be told so.
void ic_keep_freed_memory(int bytes);
