/* expect: only_image_0 */
#define BEGIN_OUTPUT sum = b ? NAN : 0;
#include "plain.h"
