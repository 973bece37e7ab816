/* Milestone m0: the student writes nothing and runs libraries.
 *
 * Each half (oneDNN on the CPU, cuDNN on a GPU) is a check. For every size, build/library-baseline
 * runs twice: once as a user would run it, for the Op Times and the cost of the whole program, and
 * once with --check, which compares every output with the oracle's. If a library or device is
 * missing, the check is skipped, with the reason, and costs no points. */
#include "grader/stages/grading.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/tsv.h"
#include "grader/profile/timed_program.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE = 0, WRONG = 1, NOT_HERE = 3, LIMIT_S = 600 };

struct half {
    const char *check, *device, *library;
};

static const struct half halves[] = {
    {"library_cpu", "cpu", "oneDNN"},
    {"library_gpu", "gpu", "cuDNN"},
};

/* The figures that one run of the program prints. */
struct printed {
    struct grading *g;
    bool print;
    double correctness;
};

static void take_line(void *context, const char *line)
{
    struct printed *printed = context;
    sscanf(line, "Correctness: %lf", &printed->correctness);
    if (!printed->print)
        return;
    gr_course_line(printed->g, "%s", line);
    progress_begin("running");
}

/* Runs the program on one size. @param table  set to its measurements; free it with tsv_free(). */
static enum st_code run_program(struct printed *printed, const struct half *half, size_t images,
                                bool check, struct tsv *table, struct cost *cost, int *status,
                                char said[512], struct st_error *err)
{
    struct grading *g = printed->g;
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    char program[PATH_MAX], results[] = "/tmp/convlab-m0-XXXXXX", n[24];
    path_format(program, sizeof program, "%s/library-baseline", build);
    snprintf(n, sizeof n, "%zu", images);
    const int fd = mkstemp(results);
    if (fd < 0)
        return st_fail(err, ST_IO, "cannot create a file in /tmp");
    close(fd);
    const char *argv[] = {program,    "--on", half->device, "--model", g->options->model,
                          "--images", n,      "--results",  results,   check ? "--check" : NULL,
                          NULL};
    progress_begin("%s %zu images", check ? "checking" : "running", images);
    enum st_code code =
        gr_timed_program(argv, LIMIT_S, take_line, printed, cost, status, said, err);
    progress_clear();
    if (!code && (*status == DONE || *status == WRONG))
        code = tsv_read(results, table, err);
    unlink(results);
    return code;
}

static double number(const struct tsv *table, size_t row, const char *column)
{
    const int at = tsv_column(table, column);
    return at < 0 ? NAN : strtod(tsv_cell(table, row, at), NULL);
}

/* Keeps the measurements under names that combine model and library, so that the report's tables
 * and plots distinguish both halves. */
static void keep(struct grading *g, const struct half *half, size_t images, const struct tsv *timed,
                 const struct tsv *checked, double correctness, bool passed)
{
    struct gr_result *r = g->result;
    char model[64];
    snprintf(model, sizeof model, "%.40s (%s)", g->options->model, half->library);
    if (r->inferences == GR_MAX_INFERENCES)
        return;
    struct gr_inference *record = &r->inference[r->inferences++];
    *record = (struct gr_inference){.images = images,
                                    .convs = (int)timed->rows,
                                    .correctness = correctness,
                                    .expected_correctness = NAN,
                                    .passed = passed};
    snprintf(record->model, sizeof record->model, "%s", model);
    for (size_t row = 0; row < timed->rows && row < NN_MAX_CONVS; row++) {
        const double op_time_s = number(timed, row, "op_time_s");
        record->op_time_s[row] = op_time_s;
        record->max_error = fmax(record->max_error, number(checked, row, "largest_error"));
        r->max_error = fmax(r->max_error, record->max_error);
        if (r->timings == GR_MAX_TIMINGS)
            continue;
        struct gr_timing *t = &r->timing[r->timings++];
        *t = (struct gr_timing){
            .subject = GR_SUBMISSION,
            .layer = (int)row + 1,
            .shape = {(int)images, (int)number(timed, row, "M"), (int)number(timed, row, "C"),
                      (int)number(timed, row, "H"), (int)number(timed, row, "W"),
                      (int)number(timed, row, "K")},
            .repeats = 1,
            .op_time_s = {op_time_s},
            .median_s = op_time_s};
        t->gmac = nn_conv_macs(&t->shape) * 1e-9;
        snprintf(t->model, sizeof t->model, "%s", model);
    }
}

/* Runs one half of the baseline at one size. @return false, with the check set, if this half ends
 * here. */
static bool run_size(struct grading *g, const struct half *half, struct gr_check *check,
                     size_t images, enum st_code *code, struct st_error *err)
{
    struct printed timed = {.g = g, .print = true}, checked = {.g = g};
    struct tsv timed_table = {0}, checked_table = {0};
    struct cost cost, ignored;
    int status = DONE;
    char said[512], text[256];
    bool good = false;
    *code = run_program(&timed, half, images, false, &timed_table, &cost, &status, said, err);
    if (!*code && status == DONE)
        *code =
            run_program(&checked, half, images, true, &checked_table, &ignored, &status, said, err);
    if (*code)
        goto cleanup;
    if (status == NOT_HERE) {
        const char *reason = strchr(said, ' '); /* the text after the program's name */
        gr_check_set(check, GR_SKIP, "%s", reason ? reason + 1 : "it printed no reason");
        check->required = false; /* a missing library costs no points */
        goto cleanup;
    }
    if (status != DONE && status != WRONG) {
        gr_check_set(check, GR_SKIP, "could not run %s with %zu images: %s", half->library, images,
                     said[0] ? said : "it printed no reason");
        goto cleanup;
    }
    cost_text(text, &cost);
    text[strcspn(text, "\n")] = '\0';
    gr_course_line(g, "%s", text);
    gr_course_line(g, "%s", text + strlen(text) + 1);
    good = status == DONE;
    keep(g, half, images, &timed_table, &checked_table, timed.correctness, good);
    if (!good)
        gr_check_set(check, GR_FAIL, "%s, %zu images: outputs are wrong (%s)", half->library,
                     images, said);
    else
        gr_check_append(check, "%s%zu images: %.2f s elapsed", check->message[0] ? "; " : "",
                        images, cost.elapsed_s);
cleanup:
    tsv_free(&timed_table);
    tsv_free(&checked_table);
    return good;
}

enum st_code gr_library_baseline(struct grading *g, struct st_error *err)
{
    enum st_code code = ST_OK;
    const char *build = checkout_build(err);
    char program[PATH_MAX];
    if (!build)
        return err->code;
    path_format(program, sizeof program, "%s/library-baseline", build);
    gr_source_take(g, program);
    for (size_t h = 0; h < sizeof halves / sizeof *halves && !code; h++) {
        struct gr_check *check = gr_check_add(g, halves[h].check);
        bool good = true;
        check->message[0] = '\0';
        for (size_t s = 0; s < g->options->sizes && good && !code; s++)
            good = run_size(g, &halves[h], check, g->options->images[s], &code, err);
        if (good && !code) {
            char found[sizeof check->message];
            memcpy(found, check->message, sizeof found);
            gr_check_set(check, GR_PASS, "%s: all outputs right; whole program, %s",
                         halves[h].library, found);
        }
        if (!code)
            gr_check_print(g, check);
    }
    return code;
}
