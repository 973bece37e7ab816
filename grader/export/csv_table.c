/* Writes the class as a table in the format of RFC 4180 (https://www.rfc-editor.org/rfc/rfc4180),
 * with one row for each submission and milestone. Text that a spreadsheet would run as a formula
 * gets a leading apostrophe. */
#include "base/numbers.h"
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"

#include <math.h>
#include <string.h>

static void put_number(FILE *out, double value)
{
    char digits[NUMBER_CHARS];
    if (isfinite(value))
        fputs(number_exact(digits, value), out);
}

/* Finds the columns for checks: every name in any record, in the order of first appearance. */
static size_t check_columns(const struct gx_class *class, const char **name, size_t room)
{
    size_t names = 0;
    for (size_t i = 0; i < class->records; i++)
        for (size_t c = 0; c < class->record[i].checks; c++) {
            size_t n = 0;
            while (n < names && strcmp(name[n], class->record[i].check[c].name) != 0)
                n++;
            if (n == names && names < room)
                name[names++] = class->record[i].check[c].name;
        }
    return names;
}

static void put_points(FILE *out, const struct gx_record *record, const char *name)
{
    for (size_t c = 0; c < record->checks; c++)
        if (strcmp(record->check[c].name, name) == 0 && gx_check_counts(record, &record->check[c]))
            put_number(out, record->check[c].points);
}

static void put_row(FILE *out, const struct gx_record *record, const char **name, size_t names)
{
    const double numbers[] = {record->score, record->max_score, record->manual, record->op_time_s};
    gx_put_cell(out, record->submission);
    fputc(',', out);
    gx_put_cell(out, record->milestone);
    fprintf(out, ",%s,", record->status);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        put_number(out, numbers[i]);
        fputc(',', out);
    }
    if (isfinite(record->op_time_s))
        fprintf(out, "%zu", record->images);
    fputc(',', out);
    gx_put_cell(out, record->fault ? record->fault : "");
    fputc(',', out);
    gx_put_cell(out, record->comments);
    for (size_t n = 0; n < names; n++) {
        fputc(',', out);
        put_points(out, record, name[n]);
    }
    fputs("\r\n", out);
}

enum st_code gx_csv_write(FILE *out, const struct gx_class *class, const struct gx_options *options,
                          struct st_error *err)
{
    (void)err;
    const char *name[64];
    size_t names = check_columns(class, name, sizeof name / sizeof *name);
    if (options->excel)
        fputs("\xef\xbb\xbf", out);
    fputs("submission,milestone,status,score,max_score,manual,op_time_s,images,fault,comments",
          out);
    for (size_t n = 0; n < names; n++) {
        fputc(',', out);
        gx_put_cell(out, name[n]);
    }
    fputs("\r\n", out);
    for (size_t i = 0; i < class->records; i++)
        put_row(out, &class->record[i], name, names);
    return ST_OK;
}
