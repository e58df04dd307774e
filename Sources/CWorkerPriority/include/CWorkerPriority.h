#pragma once

/// Puts a thread's reads and writes behind those of others (`idle` not 0), or in the middle of the best-effort class.
/// Returns 0, or errno.
int wp_set_io_idle(int thread, int idle);
