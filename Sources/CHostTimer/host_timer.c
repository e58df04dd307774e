#include "CHostTimer.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int ht_boot_timer(void) {
    return timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
}

int ht_set(int timer, uint64_t nanoseconds) {
    struct itimerspec setting = {
        .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000u), .tv_nsec = (long)(nanoseconds % 1000000000u)},
    };
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL);
}

int ht_wall_watch(void) {
    int timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer < 0)
        return -1;
    if (ht_rearm_wall_watch(timer) != 0) {
        int error = errno;
        close(timer);
        errno = error;
        return -1;
    }
    return timer;
}

int ht_rearm_wall_watch(int timer) {
    // Far enough never to come: only a set clock cancels it.
    struct itimerspec setting = {.it_value = {.tv_sec = (time_t)1 << 40}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &setting, NULL);
}

bool ht_take(int timer) {
    uint64_t rings = 0;
    return read(timer, &rings, sizeof rings) > 0 || errno == ECANCELED;
}
