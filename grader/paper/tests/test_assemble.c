/* Tests that reassembling a report renews the grader's parts and keeps the student's parts. */
#include "paper_fixture.h"

#include "base/files.h"
#include "base/rng.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(assemble, .init = paper_make, .fini = paper_remove);

static const char *const none[] = {NULL};

static size_t count(const struct text *t, const char *part)
{
    size_t n = 0;
    for (const char *at = t->text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* Copies the text, with the first @p from replaced. */
static struct text replaced(const struct text *t, const char *from, const char *to)
{
    const char *at = strstr(t->text, from);
    cr_assert(at, "'%s' is not there", from);
    struct text edited;
    edited.bytes = (size_t)asprintf(&edited.text, "%.*s%s%s", (int)(at - t->text), t->text, to,
                                    at + strlen(from));
    return edited;
}

/* Copies the text without the part from one string to the end of another. */
static struct text without(const struct text *t, const char *from, const char *to)
{
    const char *at = strstr(t->text, from), *end = at ? strstr(at, to) : NULL;
    cr_assert(end);
    struct text edited;
    edited.bytes =
        (size_t)asprintf(&edited.text, "%.*s%s", (int)(at - t->text), t->text, end + strlen(to));
    return edited;
}

/* ---- a first report -------------------------------------------------------------------------- */

Test(assemble, is_as_it_was)
{
    struct text report = sample_report();
    expect_golden(data_path("expected.md"), report.text);
    free(report.text);
}

Test(assemble, a_milestone_that_was_not_graded_names_the_command)
{
    struct text report = assembled(NULL, (const char *const[]){"m5", NULL}, NULL);
    cr_assert_gt(count(&report, "`make m5 && ./grader m5`"), 3);
    cr_assert_gt(count(&report, "`make m5 && ./grader m5 --profile`"), 3);
    cr_assert_eq(count(&report, "`./grader m5 --profile`"), 1);
    free(report.text);
}

/* The course's templates: each can be read, and requires the evidence by which an optimisation is
 * graded. */
Test(assemble, the_courses_templates_ask_for_every_deliverable)
{
    static const char *const all[] = {"m0", "m1",  "m2",  "m3",  "m4",  "m5",  "m6",    "m7", "m8",
                                      "m9", "m10", "m11", "m12", "m13", "m14", "final", NULL};
    static const char *const of_m0[] = {"GENERATED m0 kernels",      "GENERATED m0 calls",
                                        "PROSE m0 difference",       "GENERATED m0 output",
                                        "GENERATED m0 run-time-cpu", "GENERATED m0 run-time-gpu",
                                        "GENERATED m0 op-times"};
    static const char *const of_each[] = {
        "PROSE m%d opportunity",  "PROSE m%d expectation",  "PROSE m%d effect",
        "PROSE m%d tried",        "PROSE m%d references",   "PROSE m%d division",
        "GENERATED m%d op-times", "GENERATED m%d networks", "GENERATED m%d run-time"};
    static const char *const of_gpus[] = {
        "GENERATED m%d kernels", "GENERATED m%d calls",  "GENERATED m%d kernel-sizes",
        "GENERATED m%d summary", "GENERATED m%d limits", "GENERATED m%d timeline-figure"};
    char folder[PATH_MAX], mark[80];
    snprintf(folder, sizeof folder, "%s/../../../../report-templates", data_path("."));
    templates_folder = folder;
    struct text report = assembled(NULL, all, NULL);
    for (size_t i = 0; i < sizeof of_m0 / sizeof *of_m0; i++)
        cr_assert(strstr(report.text, of_m0[i]), "%s", of_m0[i]);
    for (int m = 1; m <= 10; m += m == 10 ? 4 : 1) {
        for (size_t i = 0; i < sizeof of_each / sizeof *of_each; i++) {
            snprintf(mark, sizeof mark, of_each[i], m);
            cr_assert(strstr(report.text, mark), "%s", mark);
        }
        for (size_t i = 0; m > 1 && i < sizeof of_gpus / sizeof *of_gpus; i++) {
            snprintf(mark, sizeof mark, of_gpus[i], m);
            cr_assert(strstr(report.text, mark), "%s", mark);
        }
    }
    cr_assert(strstr(report.text, "PROSE final comparison"));
    struct text again = assembled(&report, none, NULL);
    cr_assert_str_eq(again.text, report.text);
    free(report.text), free(again.text);
}

Test(assemble, a_section_without_template_is_an_error)
{
    struct text report;
    struct st_error err;
    cr_assert_eq(assemble(NULL, (const char *const[]){"m12", NULL}, &report, NULL, &err),
                 ST_NOT_FOUND);
    free(report.text);
}

/* ---- a second report ------------------------------------------------------------------------ */

Test(assemble, again_is_the_same)
{
    struct text first = sample_report(), second = assembled(&first, none, NULL);
    cr_assert_str_eq(first.text, second.text);
    free(first.text), free(second.text);
}

Test(assemble, new_sections_go_where_they_belong)
{
    struct text late = assembled(NULL, (const char *const[]){"final", "m4", NULL}, NULL);
    struct text all = assembled(&late, (const char *const[]){"m3", NULL}, NULL);
    const char *m3 = strstr(all.text, "<!-- SECTION m3 -->");
    const char *m4 = strstr(all.text, "<!-- SECTION m4 -->");
    const char *final = strstr(all.text, "<!-- SECTION final -->");
    cr_assert(m3 && m4 && final && m3 < m4 && m4 < final);
    cr_assert_eq(count(&all, "<!-- SECTION "), 4);
    free(late.text), free(all.text);
}

Test(assemble, a_deleted_block_stays_deleted)
{
    struct text report = sample_report(), whole = replaced(&report, "x", "x");
    char *begin = strstr(whole.text, "<!-- BEGIN GENERATED m3 checks");
    const char *end = strstr(begin, "<!-- BEGIN GENERATED m3 networks");
    memmove(begin, end, strlen(end) + 1);
    whole.bytes = strlen(whole.text);
    for (int i = 0; i < 3; i++) {
        struct text again = assembled(&whole, none, NULL);
        cr_assert_eq(count(&again, "GENERATED m3 checks"), 0);
        cr_assert_str_eq(again.text, whole.text);
        free(whole.text);
        whole = again;
    }
    free(whole.text), free(report.text);
}

Test(assemble, a_deleted_section_comes_back_only_when_named)
{
    struct text report = sample_report();
    struct text cut = without(&report, "<!-- SECTION m3 -->", "END PROSE m3 effect -->\n");
    struct text again = assembled(&cut, none, NULL);
    cr_assert_eq(count(&again, " m3 "), 0);
    struct text named = assembled(&again, (const char *const[]){"m3", NULL}, NULL);
    cr_assert_eq(count(&named, "BEGIN GENERATED m3 checks"), 1);
    free(report.text), free(cut.text), free(again.text), free(named.text);
}

Test(assemble, a_block_changed_by_hand_is_kept_until_it_is_emptied)
{
    char *notes;
    struct text report = sample_report();
    struct text edited = replaced(&report, "**Table 3.1.** Checks.", "**Table 3.1.** My words.");
    struct text again = assembled(&edited, none, &notes);
    cr_assert_str_eq(again.text, edited.text);
    cr_assert(strstr(notes, "kept: m3 checks (line "), "%s", notes);
    free(notes);
    const char *begin = strstr(again.text, "<!-- BEGIN GENERATED m3 checks -->\n");
    char *from = strchr(begin, '\n') + 1, *to = strstr(from, "<!-- END GENERATED m3 checks");
    memmove(from, to, strlen(to) + 1);
    again.bytes = strlen(again.text);
    struct text renewed = assembled(&again, none, NULL);
    cr_assert_str_eq(renewed.text, report.text);
    free(report.text), free(edited.text), free(again.text), free(renewed.text);
}

Test(assemble, blocks_with_other_line_ends_are_not_changed_by_hand)
{
    struct text report = sample_report(), dos = {.text = malloc(2 * report.bytes)};
    for (size_t i = 0; i < report.bytes; i++) {
        if (report.text[i] == '\n')
            dos.text[dos.bytes++] = '\r';
        dos.text[dos.bytes++] = report.text[i];
    }
    dos.text[dos.bytes] = '\0';
    char *notes;
    struct text again = assembled(&dos, none, &notes);
    cr_assert_str_eq(notes, "");
    cr_assert_eq(count(&again, "(write here)\r\n"), count(&report, "(write here)\n"));
    free(notes), free(report.text), free(dos.text), free(again.text);
}

/* Copies the data's templates, so that a test can change them. */
static void copy_templates(void)
{
    static char folder[PATH_MAX];
    cr_assert_eq(run("cp -r '%s' '%s'", data_path("templates"), in_folder("t")), 0);
    snprintf(folder, sizeof folder, "%s", in_folder("t"));
    templates_folder = folder;
}

Test(assemble, a_piece_that_is_new_in_a_template_is_added_and_reported)
{
    char *notes;
    struct text report = sample_report();
    copy_templates();
    cr_assert_eq(run("printf '<!-- @prose outlook question=\"And now?\" -->\\n' >>'%s'",
                     in_folder("t/m3.md")),
                 0);
    struct text again = assembled(&report, none, &notes);
    const char *place = strstr(again.text, "<!-- BEGIN PROSE m3 outlook -->");
    cr_assert(place && place < strstr(again.text, "<!-- SECTION m4 -->"));
    cr_assert(strstr(notes, "added: m3 outlook"));
    free(notes);
    struct text third = assembled(&again, none, &notes);
    cr_assert_str_eq(third.text, again.text);
    cr_assert_str_eq(notes, "");
    free(notes), free(report.text), free(again.text), free(third.text);
}

Test(assemble, a_template_that_is_gone_leaves_its_section)
{
    struct text report = sample_report();
    copy_templates();
    cr_assert_eq(run("rm '%s'", in_folder("t/m3.md")), 0);
    struct text again = assembled(&report, none, NULL);
    cr_assert(strstr(again.text, "**Table 3.1.** Checks."));
    free(report.text), free(again.text);
}

/* ---- ten times, with random edits ----------------------------------------------------------- */

/* Writes text as a student would: anything except the markers. */
static void type_words(struct rng *rng, FILE *out)
{
    static const char *const words[] = {"the kernel ",
                                        "\n",
                                        "\n\n",
                                        "  trailing  \n",
                                        "```\n",
                                        "| a | b |\n|---|---|\n",
                                        "\r\n",
                                        "\tindented",
                                        "# heading\n",
                                        "- [ ] list\n",
                                        "<b>raw</b>",
                                        "\xff\xfe",
                                        "é漢 ",
                                        "<!-- a comment -->",
                                        "-->",
                                        "\\write18{x}",
                                        "$$",
                                        "(write here)",
                                        "&lt;",
                                        "\n<!--\n",
                                        "~~",
                                        "<!-- SECTION-like -->\n",
                                        "END GENERATED "};
    for (int n = rng_range(rng, 0, 11); n > 0; n--)
        fputs(words[rng_range(rng, 0, sizeof words / sizeof *words - 1)], out);
}

/* Edits free text and places, and sometimes deletes a block. @param kept  set to all bytes that
 * must survive, in order. */
static struct text edit(struct rng *rng, const struct text *report, struct text *kept)
{
    struct pp_document d = document_of(report);
    struct text edited;
    FILE *out = open_memstream(&edited.text, &edited.bytes);
    FILE *keep = open_memstream(&kept->text, &kept->bytes);
    for (size_t i = 0; i < d.segments; i++) {
        const struct pp_segment *s = &d.segment[i];
        if (s->kind == PP_GENERATED) {
            if (strcmp(s->section, "report") == 0 || rng_range(rng, 0, 39))
                fwrite(s->all, 1, s->all_bytes, out);
            continue;
        }
        /* Words are inserted at the start of a line: after a marker's line, or after the first line
         * of a free text. */
        const char *first = memchr(s->all, '\n', s->all_bytes);
        const size_t head = first ? (size_t)(first + 1 - s->all) : s->all_bytes;
        char *typed = NULL;
        size_t bytes = 0;
        if (first && rng_range(rng, 0, 2) == 0) {
            FILE *words = open_memstream(&typed, &bytes);
            type_words(rng, words);
            fputc('\n', words);
            fclose(words);
        }
        for (int to = 0; to < 2; to++) {
            FILE *f = to ? keep : out;
            fwrite(s->all, 1, head, f);
            fwrite(typed ? typed : "", 1, bytes, f);
            fwrite(s->all + head, 1, s->all_bytes - head, f);
        }
        free(typed);
    }
    fclose(out), fclose(keep);
    pp_document_free(&d);
    return edited;
}

/* All bytes of a report that were not written by the grader. */
static struct text own_words(const struct text *report)
{
    struct pp_document d = document_of(report);
    struct text own;
    FILE *out = open_memstream(&own.text, &own.bytes);
    for (size_t i = 0; i < d.segments; i++)
        if (d.segment[i].kind != PP_GENERATED)
            fwrite(d.segment[i].all, 1, d.segment[i].all_bytes, out);
    fclose(out);
    pp_document_free(&d);
    return own;
}

Test(assemble, every_word_survives_ten_regenerations)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct rng rng = rng_make(seed, 0);
        struct text report = sample_report();
        for (int round = 0; round < 10; round++) {
            struct text kept, edited = edit(&rng, &report, &kept);
            struct text again = assembled(&edited, none, NULL), own = own_words(&again);
            cr_assert(own.bytes == kept.bytes && memcmp(own.text, kept.text, own.bytes) == 0,
                      "seed %d, round %d: words were changed", (int)seed, round);
            free(report.text), free(kept.text), free(edited.text), free(own.text);
            report = again;
        }
        free(report.text);
    }
}
