/* expect: channel_skipped */
#define FOR_C for (int c = 0; c < C - 1; c++)
#include "plain.h"
