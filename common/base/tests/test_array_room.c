#include "base/array_room.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

Test(array, keeps_its_elements_while_it_grows)
{
    int *numbers = NULL;
    for (int n = 0; n < 1000; n++) {
        cr_assert(ARRAY_ROOM(numbers, n));
        numbers[n] = n;
    }
    for (int n = 0; n < 1000; n++)
        cr_assert_eq(numbers[n], n);
    free(numbers);
}

Test(array, is_unchanged_without_memory)
{
    char *text = NULL;
    cr_assert(ARRAY_ROOM(text, 0));
    *text = 'x';
    char *const before = text;
    cr_expect_not(array_room(&text, 1, SIZE_MAX / 4), "more memory than exists");
    cr_expect_eq(text, before);
    cr_expect_eq(*text, 'x');
    free(text);
}
