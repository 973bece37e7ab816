/* expect: killed (behaviour) */
/* Kills its parent and the whole process group of the parent, which is not a pass. */
#include <signal.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    kill(-getpgid(getppid()), SIGKILL);                                                            \
    kill(getppid(), SIGKILL);
#include "plain.cuh"
