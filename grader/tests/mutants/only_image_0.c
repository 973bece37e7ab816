/* expect: only_image_0 */
#define FOR_B for (int b = 0; b < 1; b++)
#include "plain.h"
