/* expect: channel_skipped */
#define FOR_C for (int c = 1; c < C; c++)
#include "plain.h"
