/* Starts processes without end. */
#include <unistd.h>
#define END                                                                                        \
    for (;;)                                                                                       \
        fork();
#include "plain.h"
