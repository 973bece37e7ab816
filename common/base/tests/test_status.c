#include "base/status.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* st_print()'s output; the caller frees it. */
static char *printed(const struct st_error *err)
{
    char *text;
    PRINTED(text, st_print(out, "program", err));
    return text;
}

static void expect_printed(const struct st_error *err, const char *expected)
{
    char *text = printed(err);
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(status, every_code_has_a_text)
{
#define CHECK(name, text, hint)                                                                    \
    cr_expect_str_eq(st_text(ST_##name), text);                                                    \
    cr_expect(text[0] != '\0', "ST_" #name);
    ST_MAP(CHECK)
#undef CHECK
}

Test(status, a_code_outside_the_table_is_named_as_such)
{
    cr_expect_str_eq(st_text((enum st_code)1000), "unknown status");
}

Test(status, a_full_report_prints_what_where_expected_got_and_hint_in_one_line)
{
    struct st_error err;
    cr_expect_eq(st_fail(&err, ST_BAD_FORMAT, "wrong %s", "magic"), ST_BAD_FORMAT);
    st_detail(&err, ST_WHERE, "file %d", 1);
    st_detail(&err, ST_EXPECTED, "%x", 0x803);
    st_detail(&err, ST_GOT, "%x", 0x801);
    st_detail(&err, ST_HINT, "swap them");
    expect_printed(&err, "program: wrong magic: file 1: expected 803, got 801 (hint: swap them)\n");
}

Test(status, unknown_fields_are_left_out)
{
    struct st_error err;
    st_fail(&err, ST_TOO_LARGE, "the file is too large");
    expect_printed(&err, "program: the file is too large\n");
    st_detail(&err, ST_GOT, "9");
    expect_printed(&err, "program: the file is too large: got 9\n");
}

Test(status, a_report_without_what_prints_the_text_of_its_code)
{
    struct st_error err = {.code = ST_CHILD};
    expect_printed(&err, "program: a helper process failed\n");
}

Test(status, a_report_starts_with_the_hint_of_the_table_and_nothing_of_the_last_report)
{
    struct st_error err;
    memset(&err, 'x', sizeof err);
    st_fail(&err, ST_MISSING_TOOL, "no gnuplot");
    cr_expect_str_eq(err.hint, "run: make doctor");
    cr_expect_str_empty(err.where);
    cr_expect_str_empty(err.expected);
    cr_expect_str_empty(err.got);
}

Test(status, a_detail_returns_the_code_of_the_report)
{
    struct st_error err;
    st_fail(&err, ST_TRUNCATED, "short");
    cr_expect_eq(st_detail(&err, ST_WHERE, "here"), ST_TRUNCATED);
}

Test(status, a_report_that_nobody_wants_still_has_its_code)
{
    cr_expect_eq(st_fail(NULL, ST_IO, "lost"), ST_IO);
    cr_expect_eq(st_fail_errno(NULL, ENOENT, "lost"), ST_NOT_FOUND);
    st_detail(NULL, ST_WHERE, "nowhere");
}

Test(status, errno_chooses_the_code_and_adds_its_text)
{
    struct st_error err;
    cr_expect_eq(st_fail_errno(&err, ENOENT, "cannot read %s", "x"), ST_NOT_FOUND);
    cr_expect_str_eq(err.what, "cannot read x: No such file or directory");
    cr_expect_eq(st_fail_errno(&err, ENOMEM, "no"), ST_NO_MEMORY);
    cr_expect_eq(st_fail_errno(&err, EACCES, "no"), ST_IO);
    cr_expect_eq(err.code, ST_IO);
}

Test(status, a_full_disk_gets_the_hint_to_free_space)
{
    struct st_error err;
    st_fail_errno(&err, ENOSPC, "cannot write");
    cr_expect(strstr(err.hint, "free some space"));
    st_fail_errno(&err, EIO, "cannot write");
    cr_expect_not(strstr(err.hint, "the disk is full"));
}

Test(status, text_too_long_for_a_field_is_cut_not_overrun)
{
    char big[4096];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    struct st_error err;
    st_fail_errno(&err, EIO, "%s", big);
    cr_expect_eq(strlen(err.what), sizeof err.what - 1);
    st_detail(&err, ST_WHERE, "%s", big);
    st_detail(&err, ST_EXPECTED, "%s", big);
    st_detail(&err, ST_GOT, "%s", big);
    st_detail(&err, ST_HINT, "%s", big);
    cr_expect_eq(strlen(err.where), sizeof err.where - 1);
    cr_expect_eq(strlen(err.expected), sizeof err.expected - 1);
    cr_expect_eq(strlen(err.got), sizeof err.got - 1);
    cr_expect_eq(strlen(err.hint), sizeof err.hint - 1);
}

Test(status, control_characters_are_escaped_when_printed)
{
    struct st_error err = {.code = ST_IO};
    st_fail(&err, ST_TOO_LARGE,
            "a\nb\x1b[2Jc\x7f"
            "d");
    expect_printed(&err, "program: a\\x0ab\\x1b[2Jc\\x7fd\n");
    /* U+009B is CSI, the same as ESC [; U+00E9 is a letter. */
    st_fail(&err, ST_TOO_LARGE,
            "\xc2\x9b"
            "2J caf\xc3\xa9");
    expect_printed(&err, "program: \\x9b"
                         "2J caf\xc3\xa9\n");
}
