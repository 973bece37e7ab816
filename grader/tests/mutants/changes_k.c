/* expect: input_changed (behaviour) */
/* "Clears" the filter after use */
#define END memset((float *)k, 0, sizeof *k);
#include "plain.h"
