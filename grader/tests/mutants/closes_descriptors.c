/* expect: channel_closed (behaviour) */
#include <unistd.h>
#define END                                                                                        \
    for (int fd = 0; fd < 1024; fd++)                                                              \
        close(fd);
#include "plain.h"
