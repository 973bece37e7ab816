/* JUnit XML as CI servers read it: https://github.com/windyroad/JUnit-Schema (of Ant's reports) and
 * https://github.com/jenkinsci/xunit-plugin (junit-10.xsd, of Jenkins). The documents differ; what
 * is written here is what both allow, but for <testsuites> with counts, which only the second has.
 *
 * <failure> is a check that the submission failed, <error> what kept a check from running,
 * <skipped> what was not asked for. */
#include "grader/export/export_formats.h"
#include "grader/report/report_parts.h"

#include <math.h>
#include <stdlib.h>

struct counts {
    size_t tests, failures, errors, skipped;
};

/* XML text or attribute value. XML 1.0 has no way to write control characters; they, and what is
 * not UTF-8, become U+FFFD. */
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

static void put_case(FILE *out, const struct gx_record *record, const struct gx_check *check)
{
    char class_name[64];
    snprintf(class_name, sizeof class_name, "convlab.%s", record->milestone);
    fputs("    <testcase", out);
    put_attribute(out, "classname", class_name);
    put_attribute(out, "name", check->name);
    fputs(" time=\"0\">", out);
    char *output = gx_check_output(check);
    if (check->status == GR_FAIL)
        put_outcome(out, "failure", "check", check->message, output ? output : "");
    else if (check->status == GR_SKIP && check->required && record->fault)
        put_outcome(out, "error", "infrastructure", check->message, output ? output : "");
    else if (check->status == GR_SKIP)
        put_outcome(out, "skipped", "", check->message, "");
    free(output);
    fputs("</testcase>\n", out);
}

/* A fault without checks is one test that is an error. */
static const struct gx_check graded = {
    .name = "graded", .text = "graded", .status = GR_SKIP, .required = true, .hint = "", .map = ""};

static struct counts count(const struct gx_record *record)
{
    struct counts n = {.tests = record->checks};
    for (size_t i = 0; i < record->checks; i++) {
        const struct gx_check *check = &record->check[i];
        n.failures += check->status == GR_FAIL;
        n.errors += check->status == GR_SKIP && check->required && record->fault;
        n.skipped += check->status == GR_SKIP && !(check->required && record->fault);
    }
    if (record->fault && !record->checks)
        n.tests = n.errors = 1;
    return n;
}

/* "2026-11-20 18:30 UTC" as ISO 8601. */
static void put_timestamp(FILE *out, const char *date)
{
    int y, mo, d, h, mi;
    if (sscanf(date, "%4d-%2d-%2d %2d:%2d UTC", &y, &mo, &d, &h, &mi) == 5)
        fprintf(out, " timestamp=\"%04d-%02d-%02dT%02d:%02d:00\"", y, mo, d, h, mi);
}

static void put_suite(FILE *out, const struct gx_record *record)
{
    struct counts n = count(record);
    fputs("  <testsuite name=\"", out);
    put_xml(out, record->submission);
    fputs(*record->submission ? " " : "", out);
    put_xml(out, record->milestone);
    fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
            n.tests, n.failures, n.errors, n.skipped,
            isfinite(record->seconds) ? record->seconds : 0.0);
    put_timestamp(out, record->date);
    fputs(">\n", out);
    for (size_t i = 0; i < record->checks; i++)
        put_case(out, record, &record->check[i]);
    if (record->fault && !record->checks) {
        struct gx_check fault = graded;
        fault.message = record->fault;
        put_case(out, record, &fault);
    }
    fputs("  </testsuite>\n", out);
}

enum st_code gx_junit_write(FILE *out, const struct gx_class *class,
                            const struct gx_options *options, struct st_error *err)
{
    (void)options, (void)err;
    struct counts all = {0};
    for (size_t i = 0; i < class->records; i++) {
        struct counts n = count(&class->record[i]);
        all.tests += n.tests;
        all.failures += n.failures;
        all.errors += n.errors;
        all.skipped += n.skipped;
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ConvLab\" "
            "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
            all.tests, all.failures, all.errors, all.skipped);
    for (size_t i = 0; i < class->records; i++)
        put_suite(out, &class->record[i]);
    fputs("</testsuites>\n", out);
    return ST_OK;
}
