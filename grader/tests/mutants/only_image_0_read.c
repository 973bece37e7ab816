/* expect: only_image_0 */
#define X_INDEX (c * H + h + p) * W + w + q
#include "plain.h"
