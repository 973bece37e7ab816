/* expect: not_loaded (behaviour) */
/* Runs before anything of the harness requests it. */
#include <stdlib.h>

__attribute__((constructor)) static void before_main(void)
{
    abort();
}
#include "plain.h"
