/* expect: pass */
/* Right: the grader must find no fault in it. */
#include "plain.h"
