#include "CWorkerPriority.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sys/syscall.h>
#include <unistd.h>

int wp_set_io_idle(int thread, int idle) {
    int value = idle ? IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0) : IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4);
    return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, thread, value) == 0 ? 0 : errno;
}
