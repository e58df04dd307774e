#pragma once

#include <stdbool.h>
#include <stdint.h>

// A timer of the kernel on the clock that counts sleep (CLOCK_BOOTTIME), not set; -1 and errno on failure.
int ht_boot_timer(void);

// Sets it to a moment on its clock, 0 for never; -1 and errno on failure. A moment that has passed is at once.
int ht_set(int timer, uint64_t nanoseconds);

// A timer that rings only when the wall clock is set; -1 and errno on failure.
int ht_wall_watch(void);

// Makes the watch ready for the next time; -1 and errno on failure.
int ht_rearm_wall_watch(int timer);

// Takes the ring of either. Whether there was one.
bool ht_take(int timer);
