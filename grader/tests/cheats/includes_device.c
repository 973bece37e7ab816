/* Includes a file that never ends. */
#include </dev/zero>
#include "plain.h"
