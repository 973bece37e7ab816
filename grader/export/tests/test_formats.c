/* Tests every format against its specification (formats/ has schemas, written from the documents
 * that they name), with wrong examples that must be rejected (formats/wrong/). */
#include "export_fixture.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/test_text.h"
#include "format_checks.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(exports, wrong_examples_are_rejected)
{
    DIR *folder = opendir(format_path("wrong"));
    cr_assert(folder);
    size_t examples = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (*entry->d_name == '.')
            continue;
        char name[sizeof entry->d_name + 8], format[32], why[512];
        sscanf(entry->d_name, "%31[^-]", format);
        if (strcmp(format, "junit") == 0 && !have_xmllint())
            continue;
        snprintf(name, sizeof name, "wrong/%s", entry->d_name);
        char *text = text_of_file(format_path(name));
        cr_expect_not(is_valid(format, text, why, sizeof why), "%s is accepted", entry->d_name);
        free(text);
        examples++;
    }
    closedir(folder);
    cr_assert_geq(examples, 25);
}

Test(exports, all_formats_are_as_published)
{
    be_on_a_runner();
    expect_valid(record_of("pass", 25, true, "right in all shapes", ""), "passed");
    expect_valid(record_of("fail", 7, true, "wrong", "team a"), "failed");
    expect_valid(record_of("skip", 0, false, "not requested", "team a"), "skipped");
    expect_valid(record_of("skip", 0, true, "no space on disk", "team a"), "fault");
    expect_valid(record_of("fail", 0, true, hostile, hostile), "hostile");
    expect_valid(record_of("skip", 0, true, hostile, hostile), "hostile fault");
    struct gx_record record;
    cr_assert(gx_record_start(&record, "team b", "m3", 0));
    gx_record_set_fault(&record, "the node was lost");
    expect_valid(record, "fault without checks");
    cr_assert(gx_record_start(&record, "=HYPERLINK(\"http://example.org\")", "m3", 0));
    gx_record_set_fault(&record, hostile);
    expect_valid(record, "formula");
}

/* Counts a format's rows in the table of a document like docs/exports.md. */
static size_t documented(const char *text, const char *name)
{
    char row[64];
    size_t rows = 0;
    snprintf(row, sizeof row, "| `%s", name);
    const char *line = strstr(text, "| format | what it is |");
    while (line && *line == '|') {
        rows += strncmp(line, row, strlen(row)) == 0;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return rows;
}

Test(exports, the_documentation_lists_the_formats)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/docs/exports.md", checkout_root(NULL));
    char *text = text_of_file(path);
    size_t formats = 0;
    for (const struct gx_format *f = gx_formats; f->name; f++, formats++) {
        char name[32];
        snprintf(name, sizeof name, "%s`", f->name);
        cr_expect_eq(documented(text, name), 1, "docs/exports.md has no row for '%s'", f->name);
    }
    cr_expect_eq(documented(text, ""), formats, "docs/exports.md lists a format that is none");
    cr_expect_eq(documented(text, "excel`"), 0);
    cr_expect_eq(documented("| `csv` | of another table |\n", "csv`"), 0);
    free(text);
}

Test(exports, each_format_has_wrong_examples)
{
    for (const struct gx_format *f = gx_formats; f->name; f++) {
        size_t examples = 0, length = strlen(f->name);
        DIR *folder = opendir(format_path("wrong"));
        for (struct dirent *entry; (entry = readdir(folder));)
            examples +=
                strncmp(entry->d_name, f->name, length) == 0 && entry->d_name[length] == '-';
        closedir(folder);
        cr_expect_gt(examples, 0, "tests/formats/wrong/ has no %s-WHAT", f->name);
    }
}

/* Shows that the validators check something: a document that is cut off is invalid. */
Test(exports, a_cut_document_is_rejected)
{
    be_on_a_runner();
    struct gx_record record = record_of("fail", 7, true, "wrong", "team a");
    for (const struct gx_format *f = gx_formats; f->name; f++) {
        if (strcmp(f->name, "junit") == 0 && !have_xmllint())
            continue;
        char why[512], *text = said(f->name, &record);
        text[strlen(text) - 4] = '\0';
        cr_expect_not(is_valid(f->name, text, why, sizeof why), "%s", f->name);
        free(text);
    }
    gx_record_free(&record);
}
