/* Tries to become root in a new user namespace, to mount and unmount there. */
#define _GNU_SOURCE
#include <sched.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    unshare(CLONE_NEWUSER | CLONE_NEWNS);
#include "plain.h"
