#include "grader/export/export_formats.h"

#include "grader/report/report_parts.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

const struct gx_format gx_formats[] = {
    {"gradescope", "results.json of a Gradescope autograder", ".json", false, gx_gradescope_write},
    {"autolab", "the last line that an Autolab autograder prints", ".json", false,
     gx_autolab_write},
    {"check50", "what check50 -o json prints", ".json", false, gx_check50_write},
    {"github", "the result of a GitHub Classroom grading step, in base64", ".b64", false,
     gx_github_write},
    {"junit", "JUnit XML, one suite for each record", ".xml", true, gx_junit_write},
    {"csv", "a table with a row for each record", ".csv", true, gx_csv_write},
    {0},
};

const struct gx_format *gx_format_named(const char *name)
{
    for (const struct gx_format *f = gx_formats; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

enum st_code gx_refuse_fault(const struct gx_record *record, const char *platform,
                             struct st_error *err)
{
    st_fail(err, ST_BAD_FORMAT, "not graded, so there is no score to export");
    st_detail(err, ST_WHERE, "%s%s%s", record->submission, *record->submission ? ", " : "",
              record->milestone);
    st_detail(err, ST_GOT, "%s", record->fault);
    return st_detail(err, ST_HINT,
                     "grade again; until then %s shows that the autograder failed, which is true",
                     platform);
}

bool gx_check_counts(const struct gx_record *record, const struct gx_check *check)
{
    return check->status != GR_SKIP || (check->required && !record->fault);
}

char *gx_check_output(const struct gx_check *check)
{
    const char *parts[] = {check->message, check->map, check->hint};
    const char *before[] = {"", "\n", "\nHint: "};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    for (size_t i = 0; i < 3; i++)
        if (*parts[i])
            fprintf(out, "%s%s", before[i], parts[i]);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

enum st_code gx_json_print(FILE *out, cJSON *root, bool line, struct st_error *err)
{
    char *text = line ? cJSON_PrintUnformatted(root) : cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the export in memory");
    fprintf(out, "%s\n", text);
    free(text);
    return ST_OK;
}

void gx_json_text(cJSON *to, const char *name, const char *text)
{
    char *valid = utf8_repair(text ? text : "");
    cJSON_AddStringToObject(to, name, valid ? valid : "");
    free(valid);
}
