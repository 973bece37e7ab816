/* expect: all_zero */
#define BEGIN int sum = 0;
#include "plain.h"
