#include "base/printable.h"
#include "base/utf8.h"

#include <criterion/criterion.h>

/* RFC 3629, section 4: the length that the first two bytes allow, if continuation bytes follow. */
static size_t by_the_table(unsigned a, unsigned b)
{
    if (a < 0x80)
        return 1;
    if (a < 0xc2 || a > 0xf4 || b < 0x80 || b > 0xbf)
        return 0;
    if ((a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f) || (a == 0xf0 && b < 0x90) ||
        (a == 0xf4 && b > 0x8f))
        return 0;
    return a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4;
}

Test(utf8, follows_the_rfc)
{
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            const char text[] = {(char)a, (char)b, (char)0x80, (char)0xbf, 0};
            unsigned point = 0;
            cr_assert_eq(utf8_decode(text, &point), by_the_table(a, b), "%02x %02x", a, b);
        }
}

Test(utf8, has_points)
{
    unsigned point = 0;
    cr_expect_eq(utf8_decode("A", &point), 1);
    cr_expect_eq(point, 'A');
    cr_expect_eq(utf8_decode("\xc3\xa9", &point), 2);
    cr_expect_eq(point, 0xe9);
    cr_expect_eq(utf8_decode("\xe2\x80\xae", &point), 3);
    cr_expect_eq(point, 0x202e);
    cr_expect_eq(utf8_decode("\xf4\x8f\xbf\xbf", &point), 4);
    cr_expect_eq(point, 0x10ffff);
}

Test(utf8, that_is_cut_is_none)
{
    unsigned point = 7;
    cr_expect_eq(utf8_decode("\xc3", &point), 0);
    cr_expect_eq(utf8_decode("\xe2\x80", &point), 0);
    cr_expect_eq(utf8_decode("\xf4\x8f\xbf", &point), 0);
    cr_expect_eq(point, 7);
}

Test(utf8, that_is_not_printable_is_shown_as_bytes)
{
    char to[64];
    cr_expect_str_eq(text_printable(to, sizeof to, "a\tb\n\xe2\x80\x98q\xe2\x80\x99"),
                     "a\tb\n\xe2\x80\x98q\xe2\x80\x99");
    cr_expect_str_eq(text_printable(to, sizeof to, "\x1b[2J\xff\xc0\xaf\xed\xa0\x80\xe2\x80\xae"),
                     "\\x1b[2J\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x80\\xae");
    cr_expect_str_eq(text_printable(to, 6, "abc\x01"), "abc");
    cr_expect_str_eq(text_printable(to, 4, "ab\xe2\x80\x98"), "ab");
}
