/* expect: crash (behaviour) */
#define END                                                                                        \
    char *volatile memory = malloc(64);                                                            \
    free(memory);                                                                                  \
    free(memory);
#include "plain.h"
