/* An include that never ends. */
#include </dev/zero>
#include "plain.h"
