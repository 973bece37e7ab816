/* expect: channel_closed (behaviour) */
/* Closes descriptors of others: the harness's channel and the connection to the device. */
#include <unistd.h>
#define BEGIN                                                                                      \
    for (int fd = 3; fd < 1024; fd++)                                                              \
        close(fd);
#include "plain.cuh"
