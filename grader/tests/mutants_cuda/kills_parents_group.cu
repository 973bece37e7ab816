/* expect: killed (behaviour) */
/* Kills its parent and all that the parent has started in its group: that is no pass. */
#include <signal.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    kill(-getpgid(getppid()), SIGKILL);                                                            \
    kill(getppid(), SIGKILL);
#include "plain.cuh"
