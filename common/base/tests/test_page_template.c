/* Tests of page templates. */
#include "base/page_template.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Fills the template so that each name appears in brackets. */
static void expect(const char *template, const char *expected)
{
    char *text, room[PAGE_NAME_CHARS];
    PRINTED(text, for (const char *at = template, *name;
                       (name = page_template_next(out, &at, room));) fprintf(out, "[%s]", name));
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(page_template, names_are_replaced)
{
    expect("", "");
    expect("no name", "no name");
    expect("@a@", "[a]");
    expect("<p>@not_graded@ of @m1@</p>@end@", "<p>[not_graded] of [m1]</p>[end]");
    expect("@a@@b@", "[a][b]");
}

Test(page_template, other_signs_are_text)
{
    expect("@", "@");
    expect("@@", "@@");
    expect("@media (max-width: 40rem) { a@b.example }",
           "@media (max-width: 40rem) { a@b.example }");
    expect("me@example.org, @name@", "me@example.org, [name]");
    expect("@Name@", "@Name@");
    expect("@a_name_that_is_longer_than_any_is@", "@a_name_that_is_longer_than_any_is@");
}
