/* Autolab's autoresult: the last line that an autograder prints, as described in
 * https://docs.autolabproject.com/lab/ ("Writing Autograders"). The names in "scores" must be the
 * names of the lab's problems on the Autolab site: the ids of the rubric's automatic items. */
#include "grader/export/export_formats.h"
#include "grader/export/format_parts.h"

#include "grader/course/milestone.h"
#include "grader/course/rubric.h"

#include <cjson/cJSON.h>
#include <math.h>

/* Adds a missing or rejected submission: 0 points for each problem of the lab. */
static void put_zeros(cJSON *scores, const char *id)
{
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    struct st_error ignored;
    if (gr_milestone_find(&milestone, id, &ignored) ||
        gr_rubric_load(&rubric, milestone.rubric, &ignored))
        return;
    for (unsigned i = 0; i < rubric->items_count; i++)
        if (rubric->items[i].kind == GR_AUTOMATIC)
            cJSON_AddNumberToObject(scores, rubric->items[i].id, 0);
    gr_rubric_free(rubric);
}

enum st_code gx_autolab_write(FILE *out, const struct gx_class *class,
                              const struct gx_options *options, struct st_error *err)
{
    (void)options;
    const struct gx_record *record = class->record;
    cJSON *root = cJSON_CreateObject();
    cJSON *scores = cJSON_AddObjectToObject(root, "scores");
    if (gx_record_lacks_submission(record))
        put_zeros(scores, record->milestone);
    for (size_t i = 0; i < record->checks && !gx_record_lacks_submission(record); i++)
        if (gx_check_counts(record, &record->check[i]))
            cJSON_AddNumberToObject(scores, record->check[i].name, record->check[i].points);
    /* Columns: points, then milliseconds. A scoreboard accepts only numbers, so a submission
     * without a time gets a number that sorts after all others. */
    cJSON *board = cJSON_AddArrayToObject(root, "scoreboard");
    cJSON_AddItemToArray(board, cJSON_CreateNumber(record->score));
    cJSON_AddItemToArray(
        board, cJSON_CreateNumber(isfinite(record->op_time_s) ? 1e3 * record->op_time_s : 1e9));
    return gx_json_print(out, root, true, err);
}
