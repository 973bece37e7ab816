/* Tests that every name that a failed check can print has a page, and that each page has the
 * required parts. The names come from the tables, from the sources that name patterns, and from the
 * mutants' first lines. */
#include "grader/explain/explain.h"

#include "grader/diagnose/faults.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_page(const char *name, const char *of)
{
    struct ex_page page;
    cr_expect(ex_page_find(name, &page), "'%s' of %s has no page in grader/explain/mistakes.md",
              name, of);
}

/* Reads the whole text of a file; the caller frees it. */
static char *read_text(const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f, "%s", path);
    cr_assert(getdelim(&text, &room, '\0', f) >= 0, "%s is empty", path);
    fclose(f);
    return text;
}

/* Expects a page for every name that a regular expression matches as its second group. @return the
 * number of names. */
static size_t expect_pages(const char *files, const char *expression)
{
    size_t names = 0;
    glob_t found;
    regex_t regex;
    regmatch_t at[3];
    cr_assert_eq(regcomp(&regex, expression, REG_EXTENDED), 0);
    cr_assert_eq(glob(files, 0, NULL, &found), 0, "%s", files);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = read_text(found.gl_pathv[i]);
        for (char *p = text; regexec(&regex, p, 3, at, 0) == 0; p += at[2].rm_eo) {
            char name[EX_NAME_CHARS];
            snprintf(name, sizeof name, "%.*s", (int)(at[2].rm_eo - at[2].rm_so), p + at[2].rm_so);
            expect_page(name, found.gl_pathv[i]);
            names++;
        }
        free(text);
    }
    globfree(&found);
    regfree(&regex);
    return names;
}

#define SPACE "[ \n]*"
#define WORD  "\"([a-z][a-z0-9_]+)\""

Test(explain, each_finding_of_the_virtual_gpu_has_a_page)
{
#define FAULT(id, name, effect, title, hint) expect_page(name, title);
#include "vgpu/api/fault_kinds.def"
#undef FAULT
}

Test(explain, each_pattern_of_a_diagnosis_has_a_page)
{
    for (size_t i = 0; i < gr_fault_count; i++)
        expect_page(gr_faults[i].id, "faults.def");
    cr_expect_gt(
        expect_pages("grader/diagnose/region.c", "(PLACE|TILED|LIMITED|CUT)\\(" SPACE WORD), 40);
    cr_expect_gt(expect_pages("grader/diagnose/diagnose.c", "(name\\(" SPACE "to,)" SPACE WORD), 8);
    cr_expect_eq(expect_pages("grader/diagnose/terms.c", "([?:])" SPACE "\"(terms_[a-z_]+)\""), 3);
}

Test(explain, each_pattern_of_a_stage_has_a_page)
{
    cr_expect_gt(
        expect_pages("grader/s*/*.c", "([a-z]->pattern,|gr_check_pattern\\(check,)" SPACE WORD), 5);
    cr_expect_gt(
        expect_pages("grader/s*/*.c", "(pattern =|refuse\\(b,|\\[GR_[A-Z_]+\\] =)" SPACE WORD), 5);
    cr_expect_gt(expect_pages("grader/session/finding.c", "(\\{\"[A-Z][A-Za-z]+\",)" SPACE WORD),
                 4);
    cr_expect_gt(expect_pages("grader/session/session.h", "(#define GR_IDLE_PATTERN )" WORD), 0);
}

Test(explain, each_mutant_has_a_page)
{
    struct ex_page page;
    glob_t found;
    size_t pages = 0;
    cr_assert_eq(glob("grader/tests/mutants*/*.c*", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *text = read_text(found.gl_pathv[i]), name[EX_NAME_CHARS] = "";
        if (sscanf(text, "/* expect: %47[a-z_0-9]", name) == 1 && strcmp(name, "pass") &&
            strcmp(name, "none")) {
            cr_expect(ex_page_find(name, &page), "%s: '%s' has no page", found.gl_pathv[i], name);
            pages++;
        }
        free(text);
    }
    globfree(&found);
    cr_expect_gt(pages, 100);
}

Test(explain, each_page_has_a_cause_wrong_code_and_a_cure)
{
    static const char *const parts[] = {"\n\nCause: ", "\n\nWrong:\n\n    ",
                                        "\n\nFix:", "\n\n    "};
    for (struct ex_page page = {0}; ex_page_next(&page);) {
        char name[EX_NAME_CHARS], text[4096];
        const char *at = text;
        cr_assert(ex_page_name(&page, 0, name));
        cr_assert_lt(page.text_chars, sizeof text);
        snprintf(text, sizeof text, "%.*s", (int)page.text_chars, page.text);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const char *found = strstr(at, parts[i]);
            cr_assert_not_null(found, "the page of %s lacks '%s'", name, parts[i] + 2);
            at = found + 1;
        }
    }
}

Test(explain, no_name_has_two_pages)
{
    for (struct ex_page page = {0}, first; ex_page_next(&page);) {
        char name[EX_NAME_CHARS];
        for (size_t i = 0; ex_page_name(&page, i, name); i++) {
            cr_assert(ex_page_find(name, &first));
            cr_expect_eq(first.names, page.names, "%s has two pages", name);
        }
    }
}

Test(explain, endings_of_regions_lead_to_the_region)
{
    struct ex_page row, missing;
    cr_assert(ex_page_find("last_row", &row));
    cr_assert(ex_page_find("last_row_missing", &missing));
    cr_expect_eq(row.text, missing.text);
    cr_expect_not(ex_page_find("nothing_missing", &missing));
    cr_expect_not(ex_page_find("", &missing));
}

Test(explain, an_unknown_name_gets_the_nearest)
{
    static const char *const names[][2] = {{"race_rwa", "race_raw"},
                                           {"out_of_bound", "out_of_bounds"},
                                           {"outofbounds", "out_of_bounds"},
                                           {"flipped", "weights_flipped"}};
    char nearest[EX_NAME_CHARS];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ex_name_nearest(names[i][0], nearest);
        cr_expect_str_eq(nearest, names[i][1]);
    }
    ex_name_nearest("a name that is like no other, and much longer than any of them", nearest);
    cr_expect_str_empty(nearest);
}
