/* grader log mN: prints the graded versions. */
#include "grader/history/history_command.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/tsv.h"

#include <stdlib.h>
#include <string.h>

/* ---- shared ----------------------------------------------------------------------------------- */

enum st_code hi_milestone_list(const char *id, struct gr_milestone *milestone, struct hi_list *list,
                               struct st_error *err)
{
    char report[PATH_MAX];
    *list = (struct hi_list){0};
    enum st_code code = gr_milestone_find(milestone, id, err);
    const char *build = code ? NULL : checkout_build(err);
    if (!build)
        return code ? code : err->code;
    path_format(report, sizeof report, "%s/report/%s", build, milestone->id);
    code = hi_list_read(list, report, err);
    if (code || list->n)
        return code;
    st_fail(err, ST_NOT_FOUND, "no version of %s has been graded yet", id);
    return st_detail(err, ST_HINT, "make %s && ./grader %s", id, id);
}

const char *hi_device_words(char to[128], const struct gr_result *r)
{
    snprintf(to, 128, "%s%s", strcmp(r->device, "cpu") == 0 ? "CPU" : r->profile,
             strcmp(r->subject, "reference") == 0 ? " (reference)"
             : strcmp(r->subject, "library") == 0 ? " (library)"
                                                  : "");
    return to;
}

/* ---- one version ------------------------------------------------------------------------------ */

/* Finds the limiter of the kernel that takes most of the time at the largest profiled size. */
static void find_limit(const struct hi_version *v, char to[80])
{
    char path[PATH_MAX];
    struct tsv t = {0};
    double images = 0, longest = 0;
    snprintf(to, 80, "-");
    path_format(path, sizeof path, "%s/profile/analysis.tsv", v->folder);
    const bool there = file_exists(path) && !tsv_read(path, &t, NULL);
    const int size = there ? tsv_column(&t, "images") : -1;
    const int ns = there ? tsv_column(&t, "total_ns") : -1;
    const int title = there ? tsv_column(&t, "title") : -1;
    for (size_t row = 0; size >= 0 && ns >= 0 && title >= 0 && row < t.rows; row++) {
        const double at = strtod(tsv_cell(&t, row, size), NULL);
        const double time = strtod(tsv_cell(&t, row, ns), NULL);
        if (at < images || (at == images && time <= longest))
            continue;
        images = at, longest = time;
        snprintf(to, 80, "%s", tsv_cell(&t, row, title));
    }
    tsv_free(&t);
}

/* Writes "0.0350 0.0971 0.1321": the layers' times and their sum, in milliseconds. */
static void put_times(const struct gr_inference *in)
{
    double sum = 0;
    char text[80] = "";
    if (!in->passed) {
        printf("%-30s", "outputs wrong");
        return;
    }
    for (int layer = 0; layer < in->convs; layer++) {
        sum += in->op_time_s[layer];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%9.4g ",
                 in->op_time_s[layer] * 1e3);
    }
    if (in->convs > 1)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%9.4g ", sum * 1e3);
    printf("%-30s", text);
}

static void put_points(char to[40], const struct gr_result *r)
{
    const double unchecked = gr_unchecked_points(r);
    if (unchecked > 0)
        snprintf(to, 40, "%g/%g+%g", r->score, r->max_score - unchecked, unchecked);
    else
        snprintf(to, 40, "%g/%g", r->score, r->max_score);
}

static void print_version(const struct hi_version *v, const struct gr_result *r)
{
    char hash[GR_SHORT_HASH + 1], points[40], device[128], limit[80], date[17];
    put_points(points, r);
    find_limit(v, limit);
    snprintf(date, sizeof date, "%s", r->date); /* without the suffix UTC */
    printf("%6u  %s  %-16s  %-9s", v->number, gr_short_hash(hash, r), date, points);
    if (!r->inferences)
        printf("  %6s  %-30s  %s; %s\n", "-", "", limit, hi_device_words(device, r));
    for (size_t i = 0; i < r->inferences; i++) {
        printf("%*s  %6zu  ", i ? 45 : 0, "", r->inference[i].images);
        put_times(&r->inference[i]);
        if (!i)
            printf("  %s; %s", limit, hi_device_words(device, r));
        putchar('\n');
    }
}

/* ---- the command ------------------------------------------------------------------------------ */

/* @return the number of versions that could not be read */
static size_t print_log(const struct hi_list *list, size_t most, const char *program)
{
    struct gr_result *r = malloc(sizeof *r);
    struct st_error err;
    size_t damaged = 0;
    puts("number  version   graded (UTC)      points     images  Op Times of layers, sum (ms)    "
         "limited by; on");
    for (size_t i = list->n; r && i-- > 0 && list->n - i <= most;) {
        if (!hi_version_read(&list->version[i], r, &err)) {
            print_version(&list->version[i], r);
            continue;
        }
        st_detail(&err, ST_HINT, "the version is skipped; remove its folder");
        fflush(stdout);
        st_print(stderr, program, &err);
        damaged++;
    }
    free(r);
    return damaged;
}

int gr_command_log(int argc, char **argv);
int gr_command_log(int argc, char **argv)
{
    struct arguments {
        const char *milestone;
        size_t most;
    } a = {.most = SIZE_MAX};
    static const struct option_row rows[] = {
        {"last", 'n', "N", "only the newest N versions",
         OPTION_NUMBER(struct arguments, most, 1, 1000000)},
        {.value = "milestone",
         .help = "expected a milestone, for example: grader log m3",
         OPTION_OPERAND(struct arguments, milestone)},
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "MILESTONE",
        .about =
            "List the graded versions of a milestone's source, newest first: points (and +POINTS not checked), Op Times of each layer and size, and the limiter of the longest kernel, if it was profiled. Times on the virtual GPU are modelled.\v"
            "A version is named by its number or the first digits of its source's SHA-256; grader diff compares two. Exit status: 0 all were listed, 2 none exists or one is damaged."};
    options_parse(&table, argc, argv, &a);
    struct gr_milestone milestone;
    struct hi_list list;
    struct st_error err;
    const enum st_code code = hi_milestone_list(a.milestone, &milestone, &list, &err);
    size_t damaged = 0;
    if (code)
        st_print(stderr, argv[0], &err);
    else
        damaged = print_log(&list, a.most, argv[0]);
    hi_list_free(&list);
    return code || damaged ? 2 : 0;
}
