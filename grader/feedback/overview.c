#include "grader/feedback/overview.h"

#include "base/files.h"
#include "base/page_template.h"
#include "base/utf8.h"
#include "exercise/exercise.h"
#include "grader/export/format_parts.h"
#include "grader/similar/resemble.h"
#include "grader/standing/standing.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char overview_html[], overview_css[], overview_js[], feedback_css[];

/* JSON has no NAN, so an unknown number is omitted. */
static void put_number(cJSON *to, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(to, name, value);
}

static const char *shown_name(const struct sd_student *s)
{
    return s->display_name[0] ? s->display_name : s->name;
}

/* ---- students ------------------------------------------------------------------------------- */

static cJSON *cell_of(const struct sd_points *p)
{
    cJSON *cell = cJSON_CreateObject();
    if (!p->grade)
        return cell;
    gx_json_text(cell, "status", p->grade->status);
    put_number(cell, "points", p->total);
    put_number(cell, "automatic", p->automatic);
    cJSON_AddNumberToObject(cell, "open", (double)p->open);
    put_number(cell, "ms", 1e3 * p->op_time_s);
    if (p->attempt && p->attempt->message[0])
        gx_json_text(cell, "message", p->attempt->message);
    if (p->late && p->late->reason[0])
        gx_json_text(cell, "late", p->late->reason);
    if (p->late && p->late->unknown)
        cJSON_AddTrueToObject(cell, "late_unknown");
    if (p->attempt && p->attempt->noisy)
        cJSON_AddTrueToObject(cell, "noisy");
    if (p->handin && p->handin->report)
        cJSON_AddTrueToObject(cell, "report");
    return cell;
}

static void put_students(cJSON *to, const struct sd_class *class)
{
    cJSON *students = cJSON_AddArrayToObject(to, "students");
    for (size_t i = 0; i < class->students; i++) {
        const struct sd_student *s = &class->student[i];
        cJSON *student = cJSON_CreateObject(), *cells = cJSON_CreateArray();
        gx_json_text(student, "name", shown_name(s));
        gx_json_text(student, "submission", s->submission ? s->submission : "");
        for (size_t m = 0; m < class->milestones; m++)
            cJSON_AddItemToArray(cells, cell_of(&s->milestone[m]));
        cJSON_AddItemToObject(student, "cells", cells);
        cJSON_AddItemToArray(students, student);
    }
}

static void put_milestones(cJSON *to, const struct sd_class *class)
{
    cJSON *milestones = cJSON_AddArrayToObject(to, "milestones");
    for (size_t m = 0; m < class->milestones; m++) {
        cJSON *milestone = cJSON_CreateObject();
        gx_json_text(milestone, "id", class->milestone[m].id);
        cJSON_AddNumberToObject(milestone, "max",
                                class->milestone[m].automatic + class->milestone[m].manual);
        cJSON_AddNumberToObject(milestone, "automatic", class->milestone[m].automatic);
        char size[EXERCISE_TEXT];
        gx_json_text(
            milestone, "size",
            exercise_size(exercise_of(class->milestone[m].id), class->milestone[m].images, size));
        cJSON_AddItemToArray(milestones, milestone);
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Adds a student to a list of groups, which are in the order of first appearance: {"key": ...,
 * "who": [...]} */
static void add_to_group(cJSON *groups, const char *milestone, const char *key, const char *kind,
                         const char *who)
{
    cJSON *group;
    cJSON_ArrayForEach(
        group, groups) if (strcmp(cJSON_GetObjectItem(group, "key")->valuestring, key) == 0 &&
                           strcmp(cJSON_GetObjectItem(group, "milestone")->valuestring,
                                  milestone) == 0) break;
    if (!group) {
        group = cJSON_CreateObject();
        gx_json_text(group, "milestone", milestone);
        gx_json_text(group, "key", key);
        gx_json_text(group, "kind", kind);
        cJSON_AddArrayToObject(group, "who");
        cJSON_AddItemToArray(groups, group);
    }
    char *valid = utf8_repair(who);
    cJSON_AddItemToArray(cJSON_GetObjectItem(group, "who"), cJSON_CreateString(valid ? valid : ""));
    free(valid);
}

/* Groups the valid grades by the pattern of their first failed check. */
static enum st_code put_mistakes(cJSON *to, const struct sd_class *class, struct gradebook *book,
                                 struct st_error *err)
{
    cJSON *mistakes = cJSON_AddArrayToObject(to, "mistakes");
    struct gb_check_result_list checks;
    enum st_code code = gb_check_result_read(
        book, &checks, err,
        "WHERE status = 'fail' AND attempt IN (SELECT attempt FROM grade) ORDER BY attempt, position");
    for (size_t g = 0; !code && g < class->grades.n; g++) {
        const struct gb_grade *grade = &class->grades.row[g];
        for (size_t i = 0; i < checks.n; i++)
            if (checks.row[i].attempt == grade->attempt) {
                const char *pattern = checks.row[i].pattern;
                add_to_group(mistakes, grade->milestone, pattern[0] ? pattern : checks.row[i].name,
                             checks.row[i].name, grade->submission);
                break;
            }
    }
    if (!code)
        gb_check_result_free(&checks);
    return code;
}

/* Writes a pair of similar submissions. Identical submissions form a group, named after the first
 * one; other pairs remain pairs. */
static void put_pair(cJSON *alike, const struct si_class *class, const struct si_pair *pair)
{
    const struct si_work *a = &class->work[pair->a], *b = &class->work[pair->b];
    const bool same = pair->how <= SI_RENAMED;
    char key[64], kind[128];
    snprintf(key, sizeof key, "%zu %zu %d", pair->a, same ? 0 : pair->b,
             pair->how + (pair->weak ? SI_TEXT + 1 : 0));
    snprintf(kind, sizeof kind, same ? "%s" : "%s, %.0f %%", si_how_text(pair->how),
             100 * pair->score);
    strncat(kind, si_weak_text(pair), sizeof kind - strlen(kind) - 1);
    const cJSON *last = cJSON_GetArrayItem(alike, cJSON_GetArraySize(alike) - 1);
    if (!last || strcmp(cJSON_GetObjectItem(last, "key")->valuestring, key) != 0)
        add_to_group(alike, a->milestone, key, kind, a->name);
    add_to_group(alike, a->milestone, key, kind, b->name);
}

/* Writes which submissions resemble each other (grader similar), only at the end of a run, because
 * finding them takes seconds. */
static enum st_code put_alike(cJSON *to, struct gradebook *book, struct st_error *err)
{
    cJSON *alike = cJSON_AddArrayToObject(to, "alike");
    struct si_class class = {0};
    enum st_code code = si_gradebook_read(&class, book, NULL, err);
    if (!code)
        code = si_compare(&class, err);
    for (size_t i = 0; i < class.pairs && !code; i++)
        put_pair(alike, &class, &class.pair[i]);
    si_class_free(&class);
    return code;
}

/* Writes the notices of the last run, each about a named submission. */
static enum st_code put_notices(cJSON *to, struct gradebook *book, struct st_error *err)
{
    cJSON *notices = cJSON_AddArrayToObject(to, "notices");
    struct gb_notice_list list;
    enum st_code code =
        gb_notice_read(book, &list, err, "WHERE run = (SELECT max(id) FROM run) ORDER BY id");
    for (size_t i = 0; !code && i < list.n; i++) {
        cJSON *notice = cJSON_CreateObject();
        gx_json_text(notice, "who", list.row[i].submission ? list.row[i].submission : "");
        gx_json_text(notice, "text", list.row[i].message);
        cJSON_AddItemToArray(notices, notice);
    }
    if (!code)
        gb_notice_free(&list);
    return code;
}

/* ---- the page ------------------------------------------------------------------------------- */

static void put_page(FILE *out, const cJSON *data, bool runs)
{
    char *json = cJSON_PrintUnformatted(data);
    page_write(
        out, overview_html,
        (struct page_part[]){
            {"style", .text = feedback_css},
            {"more_style", .text = overview_css},
            {"refresh", .text = runs ? "<meta http-equiv=\"refresh\" content=\"15\">\n" : ""},
            {"data", .json = json ? json : "{}"},
            {"script", .text = overview_js},
            {0}},
        NULL);
    free(json);
}

enum st_code ov_page_write(const char *path, struct gradebook *book,
                           const struct ov_progress *progress, struct st_error *err)
{
    struct sd_class class;
    struct file_out page;
    char made[32];
    cJSON *data = cJSON_CreateObject();
    enum st_code code = sd_class_read(&class, book, NULL, NULL, err);
    gx_json_text(data, "made", sd_time_text(made, (double)time(NULL)));
    cJSON_AddNumberToObject(data, "done", (double)progress->done);
    cJSON_AddNumberToObject(data, "total", (double)progress->total);
    put_number(data, "left_s", progress->left_s);
    put_milestones(data, &class);
    put_students(data, &class);
    if (!code && progress->done >= progress->total)
        code = put_alike(data, book, err);
    if (!code)
        code = put_mistakes(data, &class, book, err);
    if (!code)
        code = put_notices(data, book, err);
    if (!code && !(code = file_out_open(&page, path, err))) {
        put_page(page.f, data, progress->done < progress->total);
        code = file_out_commit(&page, err);
    }
    sd_class_free(&class);
    cJSON_Delete(data);
    return code;
}
