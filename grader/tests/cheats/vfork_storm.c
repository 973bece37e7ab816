/* A chain of processes, each of which starts the next in a session of its own and ends: no process
 * lives long enough to be seen. Its answer is right. */
#include <unistd.h>

static void run_away(void)
{
    if (fork() != 0)
        return;
    for (;;) {
        setsid();
        if (fork() != 0)
            _exit(0);
    }
}
#define BEGIN                                                                                      \
    static int started;                                                                            \
    float sum = 0;                                                                                 \
    if (!started++)                                                                                \
        run_away();
#include "plain.h"
