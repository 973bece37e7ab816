/* grader worksheet: writes the items to grade by hand, as a table and as a page that shows the
 * report next to them. */
#include "base/file_name.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/page_template.h"
#include "grader/export/format_parts.h"
#include "grader/feedback/feedback.h"
#include "grader/handin/handin.h"
#include "grader/standing/standing.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int gr_command_worksheet(int argc, char **argv);

extern const char worksheet_html[], worksheet_js[], feedback_css[];

struct arguments {
    const char *gradebook, *out, *milestone;
};

/* The worksheet of one milestone of one submission. */
struct sheet {
    const struct sd_student *student; /* the first student of the submission */
    const struct sd_milestone *milestone;
    const struct sd_points *points;
    char people[1024]; /* all members, if it is a team's */
    char report[PATH_MAX];
};

struct making {
    const struct arguments *arguments;
    struct gradebook *book;
    struct sd_class class;
    FILE *csv;
    cJSON *sheets;
    size_t open, reports;
};

/* ---- reports -------------------------------------------------------------------------------- */

static enum st_code put_page_of_markdown(const char *from, const char *to, struct st_error *err)
{
    char *text;
    size_t bytes;
    struct file_out page;
    enum st_code code = file_read(from, HI_MAX_REPORT_BYTES, &text, &bytes, err);
    if (code)
        return code;
    code = file_out_open(&page, to, err);
    if (!code) {
        fb_html_write(page.f, "report", text, bytes);
        code = file_out_commit(&page, err);
    }
    free(text);
    return code;
}

/* Copies the report into a folder next to the page: reports/NAME-m1.pdf, or Markdown as HTML. */
static enum st_code put_report(struct making *w, struct sheet *s, struct st_error *err)
{
    const struct gb_handin *h = s->points->handin;
    char name[FILE_NAME_BYTES], from[PATH_MAX], to[PATH_MAX];
    const char *slash = strrchr(gb_path(w->book), '/');
    const int folder = slash ? (int)(slash + 1 - gb_path(w->book)) : 0;
    if (!h || !h->report)
        return ST_OK;
    const size_t length = strlen(h->report);
    const bool pdf = length > 4 && strcmp(h->report + length - 4, ".pdf") == 0;
    file_name_of(name, s->points->submission, "-");
    if (path_make(from, sizeof from, err, "%.*s%s", folder, gb_path(w->book), h->report) ||
        path_make(s->report, sizeof s->report, err, "reports/%s-%s.%s", name, s->milestone->id,
                  pdf ? "pdf" : "html") ||
        path_make(to, sizeof to, err, "%s/%s", w->arguments->out, s->report))
        return err->code;
    if (!file_exists(from)) {
        fprintf(stderr, "grader worksheet: %s %s: its report no longer exists: %s\n",
                s->points->submission, s->milestone->id, from);
        s->report[0] = '\0';
        return ST_OK;
    }
    w->reports++;
    return pdf ? file_copy(from, to, HI_MAX_REPORT_BYTES, err)
               : put_page_of_markdown(from, to, err);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void put_row(struct making *w, const struct sheet *s, const char *item, const char *text,
                    double most, cJSON *items)
{
    const struct gb_manual_item *given =
        sd_item_of(&w->class, s->points->submission, s->milestone->id, item);
    char points[32] = "", max[32] = "";
    if (given && isfinite(given->points))
        snprintf(points, sizeof points, "%g", given->points);
    if (most > 0)
        snprintf(max, sizeof max, "%g", most);
    const char *const cells[] = {s->points->submission,
                                 s->milestone->id,
                                 item,
                                 points,
                                 given ? given->comment : "",
                                 max,
                                 s->people,
                                 s->student->email,
                                 s->report,
                                 text};
    gx_put_cells(w->csv, sizeof cells / sizeof *cells, cells);
    fputs("\r\n", w->csv);
    cJSON *json = cJSON_CreateObject();
    gx_json_text(json, "item", item);
    gx_json_text(json, "text", text);
    gx_json_text(json, "points", points);
    gx_json_text(json, "comment", given ? given->comment : NULL);
    cJSON_AddNumberToObject(json, "max", most);
    cJSON_AddItemToArray(items, json);
    w->open += most > 0 && !points[0];
}

static enum st_code put_sheet(struct making *w, struct sheet *s, struct st_error *err)
{
    char automatic[64];
    enum st_code code = put_report(w, s, err);
    if (code)
        return code;
    snprintf(automatic, sizeof automatic, "%g of %g",
             isfinite(s->points->automatic) ? s->points->automatic : 0, s->milestone->automatic);
    cJSON *sheet = cJSON_CreateObject(), *items = cJSON_CreateArray();
    gx_json_text(sheet, "submission", s->points->submission);
    gx_json_text(sheet, "milestone", s->milestone->id);
    gx_json_text(sheet, "students", s->people);
    gx_json_text(sheet, "automatic", automatic);
    gx_json_text(sheet, "late", s->points->late ? s->points->late->reason : NULL);
    gx_json_text(sheet, "report", s->report);
    gx_json_text(sheet, "report_name", s->report[0] ? s->points->handin->report_name : "");
    for (size_t i = 0; i < s->milestone->items; i++)
        put_row(w, s, s->milestone->item[i].id, s->milestone->item[i].text,
                s->milestone->item[i].points, items);
    put_row(w, s, "comment", "An overall comment", 0, items);
    cJSON_AddItemToObject(sheet, "items", items);
    cJSON_AddItemToArray(w->sheets, sheet);
    return ST_OK;
}

/* Finds a submission, once, with all its students. @return false: it was found before, or has
 * nothing to grade. */
static bool find_sheet(const struct making *w, size_t student, size_t m, struct sheet *s)
{
    const struct sd_class *class = &w->class;
    *s = (struct sheet){.student = &class->student[student],
                        .milestone = &class->milestone[m],
                        .points = &class->student[student].milestone[m]};
    const struct gb_grade *grade = s->points->grade;
    if (!grade || (strcmp(grade->status, "missing") == 0 &&
                   !(s->points->handin && s->points->handin->report)))
        return false;
    for (size_t i = 0; i < class->students; i++) {
        const struct sd_student *other = &class->student[i];
        const char *const whose = other->milestone[m].submission;
        if (!whose || strcmp(whose, s->points->submission) != 0)
            continue;
        if (i < student)
            return false;
        const size_t used = strlen(s->people);
        snprintf(s->people + used, sizeof s->people - used, "%s%s", used ? ", " : "",
                 other->display_name[0] ? other->display_name : other->name);
    }
    return true;
}

static enum st_code put_sheets(struct making *w, struct st_error *err)
{
    enum st_code code = ST_OK;
    fputs(
        "\xef\xbb\xbfsubmission,milestone,item,points,comment,most,students,email,report,text\r\n",
        w->csv);
    for (size_t m = 0; m < w->class.milestones; m++)
        for (size_t i = 0; !code && i < w->class.students; i++) {
            struct sheet sheet;
            const char *only = w->arguments->milestone;
            if ((!only || strcmp(only, w->class.milestone[m].id) == 0) &&
                w->class.student[i].submission && find_sheet(w, i, m, &sheet))
                code = put_sheet(w, &sheet, err);
        }
    return code;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void put_page(FILE *out, const cJSON *data)
{
    char *json = cJSON_PrintUnformatted(data);
    page_write(out, worksheet_html,
               (struct page_part[]){{"style", .text = feedback_css},
                                    {"data", .json = json ? json : "{}"},
                                    {"script", .text = worksheet_js},
                                    {0}},
               NULL);
    free(json);
}

static enum st_code write_files(struct making *w, struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out csv, page;
    path_format(path, sizeof path, "%s/reports", w->arguments->out);
    enum st_code code = dir_make(path, err);
    path_format(path, sizeof path, "%s/worksheet.csv", w->arguments->out);
    if (!code)
        code = file_out_open(&csv, path, err);
    if (code)
        return code;
    cJSON *data = cJSON_CreateObject();
    w->sheets = cJSON_AddArrayToObject(data, "sheets");
    cJSON_AddNumberToObject(data, "made", (double)time(NULL));
    w->csv = csv.f;
    code = put_sheets(w, err);
    if (code)
        file_out_abort(&csv);
    else
        code = file_out_commit(&csv, err);
    path_format(path, sizeof path, "%s/worksheet.html", w->arguments->out);
    if (!code && !(code = file_out_open(&page, path, err))) {
        put_page(page.f, data);
        code = file_out_commit(&page, err);
    }
    if (!code)
        printf("%s: %d submissions, %zu open items, %zu reports\n", path,
               cJSON_GetArraySize(w->sheets), w->open, w->reports);
    cJSON_Delete(data);
    return code;
}

static enum st_code write_all(struct gradebook *book, void *arguments, struct st_error *err)
{
    struct making w = {.arguments = arguments, .book = book};
    enum st_code code = sd_class_read(&w.class, book, NULL, NULL, err);
    if (!code)
        code = write_files(&w, err);
    sd_class_free(&w.class);
    return code;
}

int gr_command_worksheet(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"out", 'o', "DIR", "folder for worksheet.csv, worksheet.html and reports/",
         OPTION_NEEDED(struct arguments, out, "expected a folder: --out DIR")},
        {"milestone", 'm', "mN", "only this milestone", OPTION_TEXT(struct arguments, milestone)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Write the worksheet of manual grading: a table with a row for each submission's manual item, blank if open, and a page that shows each report beside its items. grader manual --import reads the table."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    return gb_command(argv[0], a.gradebook, GB_READ, write_all, &a);
}
