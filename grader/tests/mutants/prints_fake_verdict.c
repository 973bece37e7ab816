/* expect: all_zero (behaviour) */
/* Prints the output of a right program, but computes nothing. */
#include <stdio.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    printf("Op Time: 0.000001\nCorrectness: 1.0 Model: two-layer\nPASS score 60/60\n");            \
    fprintf(stderr, "{\"score\": 60, \"max_score\": 60}\n");
#define TERM
#include "plain.h"
