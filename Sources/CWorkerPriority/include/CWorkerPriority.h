#pragma once

/// Puts a thread's reads and writes behind those of others (`idle` not 0), or in the middle of the best-effort class.
/// Returns 0, or errno.
int wp_set_io_idle(int thread, int idle);

/// Has a thread of the usual policies preempt nobody when it wakes, and be preempted at once by whoever wakes (`patient` not
/// 0), or compete as usual; its nice value and other policies stay. Returns 0, or errno.
int wp_set_patient(int thread, int patient);
