#include "grader/export/format_parts.h"

#include "base/printable.h"
#include "grader/report/report_parts.h"

#include "base/utf8.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

bool gx_record_lacks_submission(const struct gx_record *record)
{
    return record->checks && strcmp(record->check[record->checks - 1].name, GX_SUBMITTED) == 0;
}

bool gx_check_counts(const struct gx_record *record, const struct gx_check *check)
{
    return check->status != GR_SKIP || (check->required && !record->fault);
}

const struct gx_check *gx_checks_or_fault(const struct gx_record *record, struct gx_check *room,
                                          size_t *n)
{
    *n = record->checks;
    if (record->checks || !record->fault)
        return record->check;
    *room = (struct gx_check){.name = "graded",
                              .text = "graded",
                              .status = GR_SKIP,
                              .required = true,
                              .message = record->fault,
                              .hint = "",
                              .map = ""};
    *n = 1;
    return room;
}

char *gx_check_output(const struct gx_check *check)
{
    char *text;
    if (asprintf(&text, "%s%s%s%s%s", check->message, *check->map ? "\n" : "", check->map,
                 *check->hint ? "\nHint: " : "", check->hint) < 0)
        return NULL;
    return text;
}

cJSON *gx_json_entry(cJSON *list)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddItemToArray(list, entry);
    return entry;
}

void gx_json_text(cJSON *to, const char *name, const char *text)
{
    char *valid = utf8_repair(text ? text : "");
    cJSON_AddStringToObject(to, name, valid ? valid : "");
    free(valid);
}

/* A record without any grading has no device. */
void gx_json_output(cJSON *root, const struct gx_record *record)
{
    char *output = NULL;
    if (asprintf(&output, "%s%s%s. %s%s by ConvLab %s%s%s.%s%s", record->milestone,
                 *record->title ? ": " : "", record->title,
                 *record->device ? "Graded on " : "Looked at", record->device, record->version,
                 *record->date ? ", " : "", record->date, *record->comments ? "\n\nBy hand:\n" : "",
                 record->comments) < 0)
        return;
    gx_json_text(root, "output", output);
    free(output);
}

enum st_code gx_json_print(FILE *out, cJSON *root, bool line, struct st_error *err)
{
    char *text = line ? cJSON_PrintUnformatted(root) : cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the export");
    fprintf(out, "%s\n", text);
    free(text);
    return ST_OK;
}

void gx_put_cell(FILE *out, const char *text)
{
    const size_t room = 4 * strlen(text) + 1;
    char *valid = malloc(room);
    if (!valid)
        return;
    text_printable(valid, room, text);
    bool formula = gr_is_formula(valid);
    bool quoted = formula || strpbrk(valid, ",\"\r\n") || *valid == ' ';
    if (quoted)
        fputc('"', out);
    if (formula)
        fputc('\'', out);
    for (const char *c = valid; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    if (quoted)
        fputc('"', out);
    free(valid);
}

void gx_put_cells(FILE *out, size_t n, const char *const cell[])
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputc(',', out);
        gx_put_cell(out, cell[i]);
    }
}

bool gx_milestone_next(const char **list, char name[GX_MILESTONE_CHARS])
{
    const size_t chars = strcspn(*list, ",");
    snprintf(name, GX_MILESTONE_CHARS, "%.*s", (int)chars, *list);
    *list += chars + ((*list)[chars] == ',');
    return chars > 0;
}
