/* expect: channel_count */
#define FOR_C for (int c = 0; c < M; c++)
#include "plain.h"
