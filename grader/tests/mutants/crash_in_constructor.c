/* expect: not_loaded (behaviour) */
/* Runs before the harness calls anything. */
#include <stdlib.h>

__attribute__((constructor)) static void before_main(void)
{
    abort();
}
#include "plain.h"
