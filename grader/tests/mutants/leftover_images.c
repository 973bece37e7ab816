/* expect: leftover_images */
#define FOR_B for (int b = 0; b < B / 2 * 2; b++)
#include "plain.h"
