#include "CWorkerPriority.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Who wakes with a shorter slice than the one that runs preempts it (Linux 6.12 and later; before, slices are all the same).
static const unsigned long long longest_slice = 100 * 1000 * 1000;

int wp_set_patient(int thread, int patient) {
    struct sched_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    if (syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) != 0)
        return errno;
    if (attributes.sched_policy != SCHED_NORMAL && attributes.sched_policy != SCHED_BATCH)
        return EINVAL;
    attributes.sched_policy = patient ? SCHED_BATCH : SCHED_NORMAL;
    attributes.sched_runtime = patient ? longest_slice : 0;
    return syscall(SYS_sched_setattr, thread, &attributes, 0) == 0 ? 0 : errno;
}
