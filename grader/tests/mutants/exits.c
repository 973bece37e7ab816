/* expect: exit (behaviour) */
/* The answer is right, and so is the exit status. */
#define END exit(0);
#include "plain.h"
