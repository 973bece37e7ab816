/* expect: guard (behaviour) */
#define END y[-1] = 0;
#include "plain.h"
