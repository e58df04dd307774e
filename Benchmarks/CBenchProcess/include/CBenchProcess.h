#pragma once

#include <spawn.h>

/// Makes this process the parent of every descendant whose own parent ends, so that all of them can be waited for.
/// Returns 0, or errno.
int bench_adopt_orphans(void);

/// Keeps this process and what it starts on the first `count` processors it may use.
/// Returns the number it is kept on, or -errno.
int bench_use_processors(int count);

/// Lets a program start in `folder` (posix_spawn_file_actions_addchdir_np, which Swift does not see).
int bench_start_in(posix_spawn_file_actions_t *actions, const char *folder);
