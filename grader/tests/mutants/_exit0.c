/* expect: exit (behaviour) */
#include <unistd.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    _exit(0);
#include "plain.h"
