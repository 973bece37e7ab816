#include "grader/export/from_gradebook.h"

#include "base/numbers.h"
#include "grader/course/milestone.h"
#include "grader/course/rubric.h"
#include "grader/export/format_parts.h"
#include "grader/record/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double or_zero(double points)
{
    return isfinite(points) ? points : 0;
}

static void take_checks(struct gx_record *to, const struct gb_check_result_list *from)
{
    for (size_t i = 0; i < from->n; i++) {
        const struct gb_check_result *row = &from->row[i];
        to->check[to->checks++] = (struct gx_check){.name = gx_record_keep(to, row->name),
                                                    .text = gx_record_keep(to, row->text),
                                                    .status = gr_status_named(row->status),
                                                    .points = or_zero(row->points),
                                                    .max_points = or_zero(row->max_points),
                                                    .required = row->required != 0,
                                                    .message = gx_record_keep(to, row->message),
                                                    .hint = gx_record_keep(to, row->hint),
                                                    .map = ""};
    }
}

/* Adds up the Op Times of one inference: the medians of its layers. */
static void take_inference(struct gx_record *to, const struct gb_graded *from,
                           const struct gb_inference *inference)
{
    double sum = 0, uncertainty = 0;
    for (size_t i = 0; i < from->timings.n; i++) {
        const struct gb_timing *row = &from->timings.row[i];
        if (row->images != inference->images || strcmp(row->model, inference->model) != 0 ||
            strcmp(row->subject, "submission") != 0)
            continue;
        sum += row->median_s;
        uncertainty =
            hypot(uncertainty, gr_timing_text_uncertainty(row->op_times_s) * row->median_s);
    }
    if (sum <= 0)
        return;
    to->op_time_s = sum;
    to->uncertainty_s = uncertainty;
    to->images = (size_t)inference->images;
}

/* Finds the Op Times of the largest inference that was right and timed. */
static void take_op_time(struct gx_record *to, const struct gb_graded *from)
{
    for (size_t i = 0; i < from->inferences.n; i++) {
        const struct gb_inference *row = &from->inferences.row[i];
        if (row->passed && (size_t)row->images > to->images)
            take_inference(to, from, row);
    }
}

/* Describes a missing or rejected submission: one check that failed. */
static void take_no_submission(struct gx_record *to, const struct gb_attempt *from)
{
    const char *why = *from->message ? from->message : from->status;
    to->score = 0;
    to->check[to->checks++] = (struct gx_check){.name = GX_SUBMITTED,
                                                .text = "a submission exists and can be read",
                                                .status = GR_FAIL,
                                                .max_points = or_zero(from->max_score),
                                                .required = true,
                                                .message = gx_record_keep(to, why),
                                                .hint = "",
                                                .map = ""};
}

static void take_date(struct gx_record *to, double finished)
{
    char date[32];
    time_t at = (time_t)finished;
    struct tm utc;
    if (finished > 0 && gmtime_r(&at, &utc) &&
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc))
        to->date = gx_record_keep(to, date);
}

/* Reads the title as in result.json, if the rubric still exists. */
static void take_title(struct gx_record *to, const char *id)
{
    struct gr_milestone milestone;
    struct gr_rubric *rubric;
    struct st_error err;
    if (gr_milestone_find(&milestone, id, &err) || gr_rubric_load(&rubric, milestone.rubric, &err))
        return;
    to->title = gx_record_keep(to, rubric->title);
    gr_rubric_free(rubric);
}

static bool take_attempt(struct gx_record *to, const struct gb_graded *from)
{
    const struct gb_attempt *a = &from->attempt;
    if (!gx_record_start(to, a->submission, a->milestone, from->checks.n + 1))
        return false;
    take_title(to, a->milestone);
    to->device = gx_record_keep(to, a->device);
    to->version = gx_record_keep(to, a->version);
    to->score = a->score;
    to->max_score = a->max_score;
    to->seconds = a->finished - a->started;
    take_date(to, a->finished);
    take_checks(to, &from->checks);
    take_op_time(to, from);
    gx_record_judge(to);
    if (strcmp(a->status, "missing") == 0 || strcmp(a->status, "rejected") == 0) {
        take_no_submission(to, a);
        to->status = gx_record_keep(to, a->status);
    } else if (!to->fault && (strcmp(a->status, "fault") == 0 || strcmp(a->status, "skip") == 0 ||
                              !isfinite(a->score))) {
        gx_record_set_fault(to, a->message);
    }
    return true;
}

/* Writes one item as a line for the student: "explanation_effect, 9: Why is conv2 slower?" */
static void put_comment(FILE *out, const struct gb_manual_item *item)
{
    const bool named = strcmp(item->item, "comment") != 0, counts = isfinite(item->points);
    char points[NUMBER_CHARS];
    fprintf(out, "%s%s%s%s%s\n", named ? item->item : "", named && counts ? ", " : "",
            named && counts ? number_exact(points, item->points) : "",
            named && *item->comment ? ": " : "", item->comment);
}

/* Reads the manual entries: the points for items of the rubric (not for late days and comments),
 * and one line per entry. */
static enum st_code take_manual(struct gx_record *to, struct gradebook *book, struct st_error *err)
{
    struct gb_manual_item_list items;
    char *comments = NULL;
    size_t bytes;
    enum st_code code = gb_manual_item_read(
        book, &items, err, "WHERE submission = %Q AND milestone = %Q ORDER BY item", to->submission,
        to->milestone);
    FILE *out = open_memstream(&comments, &bytes);
    for (size_t i = 0; !code && i < items.n; i++) {
        const struct gb_manual_item *item = &items.row[i];
        if (out)
            put_comment(out, item);
        if (isfinite(item->points) && strcmp(item->item, "late_days") != 0 &&
            strcmp(item->item, "comment") != 0)
            to->manual = (isfinite(to->manual) ? to->manual : 0) + item->points;
    }
    if (out && fclose(out) == 0)
        to->comments = gx_record_keep(to, comments);
    free(comments);
    gb_manual_item_free(&items);
    return code;
}

static enum st_code add_attempt(struct gx_class *class, struct gradebook *book, int64_t attempt,
                                struct st_error *err)
{
    struct gb_graded graded;
    enum st_code code = gb_graded_read(book, attempt, &graded, err);
    if (code)
        return code;
    struct gx_record record;
    if (!take_attempt(&record, &graded))
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the grades of a class");
    else
        code = take_manual(&record, book, err);
    gb_graded_free(&graded);
    if (code) {
        gx_record_free(&record);
        return code;
    }
    return gx_class_add(class, &record, err);
}

enum st_code gx_class_read(struct gx_class *class, struct gradebook *book, const char *submission,
                           const char *milestone, struct st_error *err)
{
    struct gb_grade_list grades;
    *class = (struct gx_class){0};
    enum st_code code = gb_grade_read(
        book, &grades, err,
        "WHERE submission = coalesce(nullif(%Q, ''), submission) AND milestone = coalesce(nullif(%Q, ''), milestone) ORDER BY submission, length(milestone), milestone",
        submission, milestone);
    for (size_t i = 0; !code && i < grades.n; i++)
        code = add_attempt(class, book, grades.row[i].attempt, err);
    if (!code && grades.n == 0) {
        code = st_fail(err, ST_NOT_FOUND, "the gradebook has no such grade");
        st_detail(err, ST_WHERE, "%s%s%s%s%s", gb_path(book), submission ? ", " : "",
                  submission ? submission : "", milestone ? ", " : "", milestone ? milestone : "");
        st_detail(err, ST_HINT, "grade first: grader class");
    }
    gb_grade_free(&grades);
    if (code)
        gx_class_free(class);
    return code;
}
