/* expect: exit (behaviour) */
/* Both the answer and the exit status are right. */
#define END exit(0);
#include "plain.h"
