/* expect: sum_starts_at_one */
#define BEGIN_OUTPUT sum = 1;
#include "plain.h"
