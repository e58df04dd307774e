#pragma once

#include <stdbool.h>

// -1 and errno on failure.

// From now on no program that this process starts gains rights by its file (prctl(2), PR_SET_NO_NEW_PRIVS).
int bg_no_new_privileges(void);

// Takes the making and connecting of sockets, and io_uring, which could do both, from the calling thread and what it
// starts: EACCES to them. Landlock knows nothing of UDP, nor of sockets with a path. Sockets that are open stay usable.
// mayExecute: false also takes the starting of programs. Needs bg_no_new_privileges.
int bg_refuse_sockets(bool mayExecute);
