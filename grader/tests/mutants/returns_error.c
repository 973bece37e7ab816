/* expect: returned_error (behaviour) */
#define END return 7;
#include "plain.h"
