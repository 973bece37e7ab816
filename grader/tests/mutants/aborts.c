/* expect: crash (behaviour) */
#define END abort();
#include "plain.h"
