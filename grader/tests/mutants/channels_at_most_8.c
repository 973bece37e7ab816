/* expect: terms_left_out */
/* An array in shared memory that holds eight channels */
#define FOR_C for (int c = 0; c < (C < 8 ? C : 8); c++)
#include "plain.h"
