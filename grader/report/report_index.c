/* index.html: one card for every milestone that has been graded, from its result.json.
 *
 * The files may be older, newer or damaged: missing parts are omitted, and a file that cannot be
 * read becomes a card that reports it. */
#include "grader/report/report.h"

#include "base/files.h"
#include "base/page_template.h"
#include "grader/course/milestone.h"
#include "grader/record/result_json.h"
#include "grader/report/report_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char index_card_html[];

static void put_number(FILE *out, double value, int digits)
{
    char text[NUMBER_CHARS];
    fputs(isfinite(value) ? number_short(text, value, digits) : "–", out);
}

static void put_points(FILE *out, double points)
{
    if (isfinite(points) && points == floor(points) && fabs(points) < 1e9)
        fprintf(out, "%.0f", points);
    else
        put_number(out, points, 3);
}

static void put_unchecked(FILE *out, double points)
{
    if (points > 0)
        fprintf(out, " checked in this run, %g not checked", points);
}

static void put_fact(FILE *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    fprintf(out, "<dt>%s</dt><dd>", name);
    gr_put_html(out, text);
    fputs("</dd>\n", out);
}

static const char *time_name(const struct gr_result *r)
{
    return exercise_of(r->milestone)->host_tensors ? "Layer Time" : "Op Time";
}

/* Writes Op Times and correctness of the inference with the most images. */
static void put_inference(FILE *out, const struct gr_result *r)
{
    const struct gr_inference *largest = NULL;
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].images > (largest ? largest->images : 0))
            largest = &r->inference[i];
    if (!largest)
        return;
    fprintf(out, "<dt>%s</dt><dd>", time_name(r));
    for (int layer = 0; layer < largest->convs; layer++) {
        char time[GR_TIME_CHARS];
        fprintf(out, "%slayer %d: %s", layer ? ", " : "", layer + 1,
                gr_time_text(time, largest->op_time_s[layer]));
    }
    fprintf(out, " (%zu images, ", largest->images);
    gr_put_html(out, largest->model);
    fputs(")</dd>\n<dt>Correctness</dt><dd>", out);
    put_number(out, largest->correctness, 4);
    if (!largest->passed)
        fputs(" <strong>✗ outputs wrong</strong>", out);
    fputs("</dd>\n", out);
}

/* Writes the results of technique and speed if they were checked. */
static void put_technique(FILE *out, const struct gr_result *r)
{
    size_t held = 0;
    for (size_t i = 0; i < r->evidences; i++)
        held += r->evidence[i].holds;
    if (r->evidences)
        fprintf(out, "<dt>Technique</dt><dd>%s%zu of %zu facts found%s</dd>\n",
                held < r->evidences ? "<strong>✗ " : "", held, r->evidences,
                held < r->evidences ? "</strong>" : "");
    const struct exercise *exercise = exercise_of(r->milestone);
    char base[24];
    snprintf(base, sizeof base, "× %s's", exercise->baseline);
    const struct {
        double value;
        const char *unit;
    } speed[] = {{r->speed.op_time_s > 0 ? r->speed.op_time_s * 1e3 : NAN, " ms"},
                 {r->speed.to_reference, "× the reference's"},
                 {r->speed.to_baseline, exercise->plain_baseline ? "× the plain version's" : base}};
    char head[40];
    snprintf(head, sizeof head, "<dt>%ss</dt><dd>", time_name(r));
    const char *before = head;
    for (size_t i = 0; i < sizeof speed / sizeof *speed; i++) {
        if (!isfinite(speed[i].value))
            continue;
        fputs(before, out);
        put_number(out, speed[i].value, 3);
        fputs(speed[i].unit, out);
        before = ", ";
    }
    if (before[0] == ',')
        fputs("</dd>\n", out);
}

static void put_manual(FILE *out, const struct gr_result *r)
{
    if (!(r->manual_max > 0))
        return;
    fputs("<p>", out);
    put_points(out, r->manual_max);
    fputs(" more points come from the instructor</p>\n", out);
}

static void put_picture(FILE *out, const char *folder, const char *milestone)
{
    char picture[64], path[PATH_MAX];
    snprintf(picture, sizeof picture, "%s/plots/op-times.svg", milestone);
    if (!path_format(path, sizeof path, "%s/%s", folder, picture) || !file_exists(path))
        return;
    fprintf(out, "<a href=\"%s/report.html\"><img alt=\"Op Times of %s by data-set size\" src=\"",
            milestone, milestone);
    gr_html_put_picture(out, folder, picture);
    fputs("\"></a>\n", out);
}

/* Names the failed checks, each with the first line of its message. */
static void put_failed(FILE *out, const struct gr_result *r)
{
    for (size_t i = 0; i < r->checks; i++) {
        const struct gr_check *check = &r->check[i];
        if (check->status != GR_FAIL)
            continue;
        char *line = strndup(check->message, strcspn(check->message, "\n"));
        fputs("<dt>Failed</dt><dd><strong>✗ ", out);
        gr_put_html(out, check->name);
        fputs("</strong>: ", out);
        gr_put_html(out, line ? line : "");
        fputs("</dd>\n", out);
        free(line);
    }
}

/* Explains points that are missing through no fault of the submission: their checks could not run,
 * or were not requested. */
static void put_skipped(FILE *out, const struct gr_result *r)
{
    for (size_t i = 0; i < r->checks; i++) {
        const struct gr_check *check = &r->check[i];
        if (check->status != GR_SKIP || !(check->max_points > 0))
            continue;
        fputs("<dt>Skipped</dt><dd>", out);
        put_points(out, check->max_points);
        fputs(" points, ", out);
        gr_put_html(out, check->name);
        fputs(": ", out);
        gr_put_html(out, check->message);
        fputs("</dd>\n", out);
    }
}

static void put_facts(FILE *out, const struct gr_result *r)
{
    put_fact(out, "Graded", r->subject);
    put_failed(out, r);
    put_skipped(out, r);
    put_inference(out, r);
    put_technique(out, r);
    put_fact(out, "Machine", r->machine);
    put_fact(out, "Date", r->date);
}

static void put_card(FILE *out, const char *folder, const char *milestone,
                     const struct gr_result *r)
{
    char room[PAGE_NAME_CHARS];
    for (const char *at = index_card_html, *name; (name = page_template_next(out, &at, room));)
        if (strcmp(name, "milestone") == 0)
            fputs(milestone, out);
        else if (strcmp(name, "title") == 0)
            fputs(r->title[0] ? ": " : "", out), gr_put_html(out, r->title);
        else if (strcmp(name, "score") == 0)
            put_points(out, r->score);
        else if (strcmp(name, "max_score") == 0)
            put_points(out, r->max_score - gr_unchecked_points(r));
        else if (strcmp(name, "unchecked") == 0)
            put_unchecked(out, gr_unchecked_points(r));
        else if (strcmp(name, "manual") == 0)
            put_manual(out, r);
        else if (strcmp(name, "facts") == 0)
            put_facts(out, r);
        else if (strcmp(name, "picture") == 0)
            put_picture(out, folder, milestone);
}

/* Writes a milestone's card. A result that cannot be read becomes a card that reports it.
 * @return whether the milestone has a result */
static bool put_milestone(FILE *out, const char *folder, const char *name, struct gr_result *room)
{
    char path[PATH_MAX];
    if (!path_format(path, sizeof path, "%s/%s/result.json", folder, name) || !file_exists(path))
        return false;
    if (!gr_result_read(path, GR_NEED_OBJECT, room, NULL))
        put_card(out, folder, name, room);
    else
        fprintf(out,
                "<li class=\"card\"><div>\n<h2>%s</h2>\n<p>%s/result.json cannot be read: "
                "grade %s again.</p>\n</div></li>\n",
                name, name, name);
    return true;
}

/* Writes the cards of all milestones, or a sentence if there are none. */
static void put_cards(FILE *out, const char *folder, struct dirent **entries, int n,
                      struct gr_result *room)
{
    int cards = 0;
    fputs("<ul class=\"cards\">\n", out);
    for (int i = 0; i < n; i++)
        cards += put_milestone(out, folder, entries[i]->d_name, room);
    fputs("</ul>\n", out);
    if (!cards)
        fputs("<p>No milestone has been graded yet.</p>\n", out);
}

static enum st_code write_index(const char *folder, struct dirent **entries, int n,
                                struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out out;
    struct gr_result *room = malloc(sizeof *room);
    enum st_code code = room ? path_make(path, sizeof path, err, "%s/index.html", folder)
                             : st_fail(err, ST_NO_MEMORY, "out of memory for a result");
    if (!code && !(code = file_out_open(&out, path, err))) {
        gr_html_begin(out.f, "ConvLab: graded milestones", page_css);
        fputs("<h1>ConvLab: graded milestones</h1>\n", out.f);
        put_cards(out.f, folder, entries, n, room);
        gr_html_end(out.f);
        code = file_out_commit(&out, err);
    }
    free(room);
    return code;
}

enum st_code gr_index_write(const char *folder, struct st_error *err)
{
    struct dirent **entries;
    const int n = gr_milestone_folders(folder, &entries);
    if (n < 0) {
        enum st_code code = st_fail_errno(err, errno, "cannot read folder");
        return st_detail(err, ST_WHERE, "%s", folder), code;
    }
    enum st_code code = write_index(folder, entries, n, err);
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return code;
}
