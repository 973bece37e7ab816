#include "race_fixture.h"

#include <criterion/criterion.h>

struct race_shadow shadow;

static void open_shadow(void)
{
    cr_assert(race_open(&shadow, 256));
}

static void close_shadow(void)
{
    race_close(&shadow);
}

TestSuite(race, .init = open_shadow, .fini = close_shadow);
