#pragma once

#include <spawn.h>

// posix_spawn_file_actions_addchdir_np(3): the process starts in that folder. 0, or an errno.
int bg_spawn_in(posix_spawn_file_actions_t *actions, const char *folder);

// posix_spawn_file_actions_addclosefrom_np(3): the process inherits no descriptor from that one on. 0, or an errno.
int bg_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// A pipe whose ends are closed on exec and whose reading end does not block; -1 and errno on failure.
int bg_pipe(int ends[2]);
