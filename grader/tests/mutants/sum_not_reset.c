/* expect: sum_not_reset */
#define BEGIN_OUTPUT
#include "plain.h"
