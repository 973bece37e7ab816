/* Takes memory in many processes, each below the limit. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    for (int i = 0; i < 40; i++)                                                                   \
        if (fork() == 0) {                                                                         \
            char *much =                                                                           \
                mmap(0, 1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);      \
            for (long at = 0; much != MAP_FAILED && at < 1 << 28; at += 4096)                      \
                much[at] = 1;                                                                      \
            pause();                                                                               \
        }                                                                                          \
    sleep(20);
#include "plain.h"
