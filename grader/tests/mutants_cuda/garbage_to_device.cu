/* expect: launch_failed (behaviour) */
/* Writes garbage into every socket: the harness's, the door and the connection. */
#include <sys/socket.h>
#define BEGIN                                                                                      \
    static char garbage[5000];                                                                     \
    for (int i = 0; i < (int)sizeof garbage; i++)                                                  \
        garbage[i] = (char)(i * 7919 >> 3);                                                        \
    for (int fd = 3; fd < 64; fd++)                                                                \
        for (int n = 1; n < (int)sizeof garbage; n = 3 * n + 5)                                    \
            send(fd, garbage, n, MSG_NOSIGNAL | MSG_DONTWAIT);
#include "plain.cuh"
