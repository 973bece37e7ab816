/* expect: channels_not_summed */
#define BEGIN_CHANNEL sum = 0;
#include "plain.h"
