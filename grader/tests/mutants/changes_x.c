/* expect: input_changed (behaviour) */
#define END ((float *)x)[0] += 1;
#include "plain.h"
