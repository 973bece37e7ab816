/* expect: unwritten */
#define STORE
#include "plain.h"
