/* expect: pass (behaviour) */
/* Clears the screen, sets the title, makes the text invisible, rings the bell. */
#include <stdio.h>
#define END                                                                                        \
    fputs("\033[2J\033]0;graded: 100\007\033[8m\rCorrectness: 1.0\x9b"                             \
          "1A\n",                                                                                  \
          stdout);
#include "plain.h"
