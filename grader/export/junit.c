/* JUnit XML for CI servers: https://github.com/windyroad/JUnit-Schema (of Ant's reports) and
 * https://github.com/jenkinsci/xunit-plugin (junit-10.xsd, of Jenkins). These documents differ.
 * This file writes only forms that both allow, except <testsuites> with counts, which only the
 * second document has.
 *
 * <failure> is a check that the submission failed, <error> a check that could not run, <skipped> a
 * check that was not requested. */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <stdlib.h>

struct counts {
    size_t tests, failures, errors, skipped;
};

/* Writes XML text or an attribute value. Control characters, which XML 1.0 cannot express, and
 * bytes that are not UTF-8 become U+FFFD. */
static void put_xml(FILE *out, const char *text)
{
    unsigned c;
    for (const char *at = text, *start = at; (c = utf8_next(&at)); start = at) {
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\n' || c == '\t')
            fprintf(out, "&#%u;", c);
        else if (c < ' ' || c == 0xfffe || c == 0xffff || c == 0xfffd)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(start, 1, (size_t)(at - start), out);
    }
}

static void put_attribute(FILE *out, const char *name, const char *text)
{
    fprintf(out, " %s=\"", name);
    put_xml(out, text);
    fputc('"', out);
}

static void put_outcome(FILE *out, const char *element, const char *type, const char *message,
                        const char *text)
{
    fprintf(out, "<%s", element);
    if (*type)
        put_attribute(out, "type", type);
    put_attribute(out, "message", message);
    fputc('>', out);
    put_xml(out, text);
    fprintf(out, "</%s>", element);
}

static bool is_error(const struct gx_record *record, const struct gx_check *check)
{
    return check->status == GR_SKIP && check->required && record->fault;
}

/* Writes a test case. Each student has a separate class name, because CI servers merge equal
 * names. */
static void put_case(FILE *out, const struct gx_record *record, const struct gx_check *check)
{
    fputs("    <testcase classname=\"convlab.", out);
    put_xml(out, record->milestone);
    fputs(*record->submission ? "." : "", out);
    put_xml(out, record->submission);
    fputc('"', out);
    put_attribute(out, "name", check->name);
    fputs(" time=\"0\">", out);
    char *output = gx_check_output(check);
    if (check->status == GR_FAIL)
        put_outcome(out, "failure", "check", check->message, output ? output : "");
    else if (is_error(record, check))
        put_outcome(out, "error", "infrastructure", check->message, output ? output : "");
    else if (check->status == GR_SKIP)
        put_outcome(out, "skipped", "", check->message, "");
    free(output);
    fputs("</testcase>\n", out);
}

/* Adds a record's checks to counts. */
static void count(const struct gx_record *record, struct counts *n)
{
    struct gx_check fault;
    size_t checks;
    const struct gx_check *check = gx_checks_or_fault(record, &fault, &checks);
    n->tests += checks;
    for (size_t i = 0; i < checks; i++) {
        const bool error = is_error(record, &check[i]);
        n->failures += check[i].status == GR_FAIL;
        n->errors += error;
        n->skipped += check[i].status == GR_SKIP && !error;
    }
}

/* Writes "2026-11-20 18:30 UTC" as ISO 8601. */
static void put_timestamp(FILE *out, const char *date)
{
    int y, mo, d, h, mi;
    if (sscanf(date, "%4d-%2d-%2d %2d:%2d UTC", &y, &mo, &d, &h, &mi) == 5)
        fprintf(out, " timestamp=\"%04d-%02d-%02dT%02d:%02d:00\"", y, mo, d, h, mi);
}

static void put_suite(FILE *out, const struct gx_record *record)
{
    struct counts n = {0};
    count(record, &n);
    fputs("  <testsuite name=\"", out);
    put_xml(out, record->submission);
    fputs(*record->submission ? " " : "", out);
    put_xml(out, record->milestone);
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
            n.tests, n.failures, n.errors, n.skipped,
            isfinite(record->seconds) ? record->seconds : 0.0);
    put_timestamp(out, record->date);
    fputs(">\n", out);
    struct gx_check fault;
    size_t checks;
    const struct gx_check *check = gx_checks_or_fault(record, &fault, &checks);
    for (size_t i = 0; i < checks; i++)
        put_case(out, record, &check[i]);
    fputs("  </testsuite>\n", out);
}

enum st_code gx_junit_write(FILE *out, const struct gx_class *class,
                            const struct gx_options *options, struct st_error *err)
{
    (void)options, (void)err;
    struct counts all = {0};
    for (size_t i = 0; i < class->records; i++)
        count(&class->record[i], &all);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ConvLab\" "
            "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
            all.tests, all.failures, all.errors, all.skipped);
    for (size_t i = 0; i < class->records; i++)
        put_suite(out, &class->record[i]);
    fputs("</testsuites>\n", out);
    return ST_OK;
}
