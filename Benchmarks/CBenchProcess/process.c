#include "CBenchProcess.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>

int bench_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? 0 : errno; }

int bench_use_processors(int count) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -errno;
    cpu_set_t kept;
    CPU_ZERO(&kept);
    int found = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < count; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, &kept);
            found++;
        }
    }
    if (sched_setaffinity(0, sizeof kept, &kept) != 0)
        return -errno;
    return found;
}

int bench_start_in(posix_spawn_file_actions_t *actions, const char *folder) {
    return posix_spawn_file_actions_addchdir_np(actions, folder);
}
