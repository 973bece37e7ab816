/* Writes into the memory of every process that it can see, and reads their command lines and
 * environments. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    for (int pid = 1; pid < 3000; pid++) {                                                         \
        char path[64], found[4096];                                                                \
        if (pid == getpid())                                                                       \
            continue;                                                                              \
        snprintf(path, sizeof path, "/proc/%d/mem", pid);                                          \
        int fd = open(path, O_RDWR);                                                               \
        snprintf(path, sizeof path, "/proc/%d/environ", pid);                                      \
        int other = open(path, O_RDONLY);                                                          \
        if (fd >= 0 || (other >= 0 && read(other, found, sizeof found) > 0))                       \
            printf("got hold of process %d\n", pid);                                               \
    }
#include "plain.h"
