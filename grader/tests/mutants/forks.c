/* expect: pass (behaviour) */
/* A right answer, and a child that continues to run with all descriptors. */
#include <sys/types.h>
#include <unistd.h>
#define END                                                                                        \
    static pid_t child;                                                                            \
    if (!child && (child = fork()) == 0)                                                           \
        for (;;)                                                                                   \
            pause();
#include "plain.h"
