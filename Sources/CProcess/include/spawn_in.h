#pragma once

#include <spawn.h>

// posix_spawn_file_actions_addchdir_np(3): the process starts in that folder. 0, or an errno.
int bg_spawn_in(posix_spawn_file_actions_t *actions, const char *folder);

// A pipe whose ends are closed on exec and whose reading end does not block; -1 and errno on failure.
int bg_pipe(int ends[2]);
