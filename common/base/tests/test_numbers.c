#include "base/numbers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

Test(numbers, short_numbers_have_the_requested_digits)
{
    char to[NUMBER_CHARS];
    cr_expect_str_eq(number_short(to, 0.021170, 4), "0.02117");
    cr_expect_str_eq(number_short(to, 9.9996, 4), "10.00");
    cr_expect_str_eq(number_short(to, 61420.4, 4), "61420");
    cr_expect_str_eq(number_short(to, 1, 3), "1.00");
    cr_expect_str_eq(number_short(to, 0, 3), "0");
    cr_expect_str_eq(number_short(to, NAN, 3), "-");
    cr_expect_str_eq(number_short(to, 1e300, 3), "-");
    cr_expect_str_eq(number_short(to, 1e-300, 3), "0.000000000000000");
}

Test(numbers, exact_numbers_read_back)
{
    static const double values[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 0.002117000001};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char to[NUMBER_CHARS];
        cr_expect_eq(strtod(number_exact(to, values[i]), NULL), values[i]);
    }
}

Test(numbers, only_one_whole_finite_number_is_read)
{
    static const char *const wrong[] = {"", "x", "1 ", "1,5", "1e999", "inf", "nan", "1 2"};
    double value = 0;
    cr_expect(number_read("-1.5e2", &value));
    cr_expect_eq(value, -150);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect_not(number_read(wrong[i], &value), "'%s'", wrong[i]);
}
