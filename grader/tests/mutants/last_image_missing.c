/* expect: last_image_missing */
#define FOR_B for (int b = 0; b < B - 1; b++)
#include "plain.h"
