/* `grader debug mN --shape B,M,C,H,W,K --output b,m,h,w`: prints how one output is computed, next
 * to how it should be computed. The virtual GPU runs the convolution in its interpreter and follows
 * the output (vgpu/exec/proof_log.h). */
#include "base/option_table.h"
#include "base/progress.h"
#include "base/rng.h"
#include "grader/compare/verify.h"
#include "grader/follow/story.h"
#include "grader/stages/follow.h"
#include "nn/oracle.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int gr_command_debug(int argc, char **argv);

enum { EXIT_RIGHT, EXIT_WRONG, EXIT_NOT_RUN };

/* The limit: each product takes up to three entries of the log. */
enum { MOST_PRODUCTS = 2500000 };
enum { LONGEST_RUN_S = 600 };

struct arguments {
    struct gr_options options;
    struct db_output output;
    bool has_shape, has_output, all;
};

/* ---- the command line ------------------------------------------------------------------------ */

static void take_shape(void *to, char *text, const struct option_row *row, struct argp_state *state)
{
    struct arguments *a = to;
    struct conv_shape *s = &a->output.shape;
    char end;
    const int n =
        sscanf(text, "%d,%d,%d,%d,%d,%d%c", &s->B, &s->M, &s->C, &s->H, &s->W, &s->K, &end);
    a->has_shape =
        n == 6 && s->B > 0 && s->M > 0 && s->C > 0 && s->K > 0 && s->H >= s->K && s->W >= s->K;
    if (!a->has_shape)
        argp_error(state, "--%s: expected B,M,C,H,W,K with K at most H and W, got '%s'", row->name,
                   text);
    if (nn_conv_macs(s) > MOST_PRODUCTS)
        argp_error(
            state,
            "--%s: expected at most %d products, got %.3g: use fewer images, maps, channels, "
            "rows or columns",
            row->name, MOST_PRODUCTS, nn_conv_macs(s));
}

static void take_output(void *to, char *text, const struct option_row *row,
                        struct argp_state *state)
{
    struct arguments *a = to;
    struct db_output *o = &a->output;
    char end;
    a->has_output = sscanf(text, "%d,%d,%d,%d%c", &o->b, &o->m, &o->h, &o->w, &end) == 4;
    if (!a->has_output)
        argp_error(state, "--%s: expected b,m,h,w, got '%s'", row->name, text);
}

static void check(void *arguments, struct argp_state *state)
{
    const struct arguments *a = arguments;
    const struct db_output *o = &a->output;
    const struct conv_shape *s = &o->shape;
    if (!a->has_shape)
        argp_error(state, "--shape is missing: expected B,M,C,H,W,K, as in a failed unit shape");
    if (a->has_output && (o->b < 0 || o->b >= s->B || o->m < 0 || o->m >= s->M || o->h < 0 ||
                          o->h > s->H - s->K || o->w < 0 || o->w > s->W - s->K))
        argp_error(state, "--output: expected b,m,h,w from 0,0,0,0 to %d,%d,%d,%d, got %d,%d,%d,%d",
                   s->B - 1, s->M - 1, s->H - s->K, s->W - s->K, o->b, o->m, o->h, o->w);
    if (a->options.reference + !!a->options.lib + !!a->options.file > 1)
        argp_error(state, "--reference, --lib and --source exclude each other");
}

static const struct option_row rows[] = {
    {"shape", 's', "B,M,C,H,W,K", "the convolution's shape, as in the line of the first mismatch",
     OPTION_TAKE_ALL(take_shape)},
    {"output", 'o', "b,m,h,w", "the output to follow (default: the first wrong one)",
     OPTION_TAKE_ALL(take_output)},
    {"all", 'a', NULL, "print every product, not only those near the first wrong one",
     OPTION_FLAG(struct arguments, all)},
    {"reference", 0, NULL, "run the reference solution instead of the lab",
     OPTION_FLAG(struct arguments, options.reference)},
    {"lib", 0, "FILE", "run a shared library that is already built",
     OPTION_TEXT(struct arguments, options.lib)},
    {"source", 0, "FILE", "run this source file", OPTION_TEXT(struct arguments, options.file)},
    {"seed", 0, "N", "seed of the random data (default: 1)",
     OPTION_NUMBER(struct arguments, options.seed, 0, UINT64_MAX)},
    {"no-sandbox", 0, NULL, "do not confine the submission's code (see grader sandbox)",
     OPTION_SET(struct arguments, options.sandbox, GR_SANDBOX_NEVER)},
    {.value = "milestone",
     .help = "expected a milestone, for example: grader debug m3 --shape 2,3,4,9,7,3",
     OPTION_OPERAND(struct arguments, options.milestone)},
    {0}};

/* ---- a run ----------------------------------------------------------------------------------- */

/* One convolution: its data, the expected output and the actual one. */
struct trial {
    struct grading *g;
    struct gr_conv conv;
    float *data, *ref, *atol;
    struct gr_session session;
    struct gr_run run;
};

static enum st_code make_data(struct trial *t, uint64_t seed, struct st_error *err)
{
    const struct conv_shape *s = &t->conv.shape;
    const size_t x = nn_conv_x_elems(s), k = nn_conv_k_elems(s);
    struct rng rng = rng_make(seed, 0);
    t->data = malloc((x + k) * sizeof *t->data);
    t->ref = malloc(nn_conv_y_elems(s) * sizeof *t->ref);
    t->atol = malloc((size_t)s->M * sizeof *t->atol);
    if (!t->data || !t->ref || !t->atol)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a convolution");
    rng_fill(&rng, t->data, x + k, -1, 1);
    t->conv.x = t->data;
    t->conv.k = t->data + x;
    nn_oracle_conv(s, t->conv.x, t->conv.k, t->ref);
    nn_conv_tolerance(s, t->g->rubric->tolerance, 1, t->conv.k, t->atol);
    return ST_OK;
}

static enum st_code run_once(struct trial *t, size_t output, struct st_error *err)
{
    return gr_follow(t->g, &t->conv, output, LONGEST_RUN_S, &t->session, &t->run, err);
}

static const float *outputs(const struct trial *t)
{
    return (const float *)(t->g->arena.base + arena_layout_for(&t->conv.shape).y);
}

static bool is_right(const struct trial *t, size_t i)
{
    const struct conv_shape *s = &t->conv.shape;
    const size_t plane = (size_t)(s->H - s->K + 1) * (size_t)(s->W - s->K + 1);
    const double bound =
        (double)t->atol[i / plane % (size_t)s->M] + NN_RTOL * fabs((double)t->ref[i]);
    return fabs((double)outputs(t)[i] - (double)t->ref[i]) <= bound;
}

static void place_output(struct db_output *o, size_t i)
{
    const struct conv_shape *s = &o->shape;
    const size_t width = (size_t)(s->W - s->K + 1), height = (size_t)(s->H - s->K + 1);
    o->w = (int)(i % width);
    o->h = (int)(i / width % height);
    o->m = (int)(i / width / height % (size_t)s->M);
    o->b = (int)(i / width / height / (size_t)s->M);
}

static size_t output_number(const struct db_output *o)
{
    const struct conv_shape *s = &o->shape;
    const size_t map = (size_t)o->b * (size_t)s->M + (size_t)o->m;
    return (map * (size_t)(s->H - s->K + 1) + (size_t)o->h) * (size_t)(s->W - s->K + 1) +
           (size_t)o->w;
}

/* Chooses the output if --output is not given: the first wrong one, or else the first one. */
static enum st_code choose_output(struct trial *t, struct arguments *a, struct st_error *err)
{
    const size_t n = nn_conv_y_elems(&t->conv.shape);
    size_t i = 0;
    if (a->has_output)
        return ST_OK;
    const enum st_code code = run_once(t, SIZE_MAX, err);
    while (!code && i < n && is_right(t, i))
        i++;
    place_output(&a->output, i < n ? i : 0);
    return code;
}

/* ---- the printed steps ---------------------------------------------------------------------- */

static void print_found(FILE *out, const struct trial *t, const struct gr_device_record *record)
{
    if (!t->run.message[0])
        return;
    fprintf(out, "The run %s: %s\n", t->run.outcome == GR_RAN ? "has a finding" : "ended early",
            t->run.message);
    if (t->run.hint[0])
        fprintf(out, "  hint: %s\n", t->run.hint);
    if (t->run.pattern[0])
        fprintf(out, "  see ./grader explain %s\n", t->run.pattern);
    if (record)
        db_recent_print(out, &record->proof, t->run.message);
    fputc('\n', out);
}

static enum st_code explain(struct trial *t, const struct arguments *a, bool *right,
                            struct st_error *err)
{
    const struct gr_device_record *record = gr_session_device_record(&t->session);
    const size_t i = output_number(&a->output);
    struct db_steps steps = {0};
    uint32_t bits;
    print_found(stdout, t, record);
    if (!record)
        return ST_OK;
    enum st_code code = db_steps_read(&steps, &record->proof, &a->output, err);
    if (!code && steps.lost) {
        code = st_fail(err, ST_TOO_LARGE, "the shape has too many products to follow");
        st_detail(err, ST_HINT, "use fewer images, maps, channels, rows or columns");
    }
    memcpy(&bits, &outputs(t)[i], sizeof bits);
    *right = is_right(t, i);
    const struct db_story story = {.output = a->output,
                                   .steps = &steps,
                                   .x = t->conv.x,
                                   .k = t->conv.k,
                                   .expected = t->ref[i],
                                   .got = outputs(t)[i],
                                   .right = *right,
                                   .written = bits != GR_POISON_BITS,
                                   .ended = t->run.outcome != GR_RAN,
                                   .all = a->all,
                                   .source = t->g->host.source};
    if (!code)
        db_story_print(stdout, &story);
    *right = *right && t->run.outcome == GR_RAN && !t->run.message[0];
    db_steps_free(&steps);
    return code;
}

static enum st_code follow(struct trial *t, struct arguments *a, bool *right, struct st_error *err)
{
    enum st_code code = make_data(t, a->options.seed, err);
    if (!code)
        code = choose_output(t, a, err);
    if (code)
        return code;
    code = run_once(t, output_number(&a->output), err);
    if (!code)
        code = explain(t, a, right, err);
    return code;
}

/* Builds and runs the submission. @param right  set to whether the output is right */
static enum st_code debug(struct grading *g, struct arguments *a, bool *right, struct st_error *err)
{
    struct trial t = {.g = g, .conv = {.shape = a->output.shape}, .session = GR_SESSION_CLOSED};
    enum st_code code = gr_milestone_find(&g->milestone, a->options.milestone, err);
    if (!code && !g->milestone.cuda) {
        code = st_fail(err, ST_USAGE, "%s has no kernels of yours to follow", g->milestone.id);
        st_detail(err, ST_HINT,
                  "grader debug supports GPU milestones; use gdb for programs on the CPU");
    }
    if (!code && g->milestone.exercise->square) {
        code = st_fail(err, ST_USAGE, "%s has no convolution to follow", g->milestone.id);
        st_detail(err, ST_HINT, "grader debug supports GPU milestones of the convolution");
    }
    if (!code)
        code = gr_grading_prepare(g, err);
    if (a->options.file) /* an absolute path also works, because only the caller reads it */
        snprintf(g->host.source, sizeof g->host.source, "%s", a->options.file);
    if (!code)
        code = gr_build_check(g, err);
    struct gr_check *builds = code ? NULL : gr_check_add(g, "builds");
    if (builds && builds->status == GR_FAIL) {
        gr_check_print(g, builds);
        return ST_OK;
    }
    if (!code)
        code = arena_open(&g->arena, err);
    if (!code)
        code = follow(&t, a, right, err);
    gr_session_end(&t.session);
    free(t.data);
    free(t.ref);
    free(t.atol);
    return code;
}

int gr_command_debug(int argc, char **argv)
{
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "MILESTONE",
        .about =
            "Follow one output through a lab's kernels, with source lines: the thread that writes it, each added product beside the product that the convolution needs, the first one that differs, and the path of its wrong operand. The virtual GPU runs the lab in the interpreter; shapes of up to 2.5 million products fit.\v"
            "Exit status: 0 the output is right, 1 it is wrong, 2 could not run."};
    struct arguments a = {.options = gr_options_default()};
    struct st_error err;
    bool right = false;
    a.options.device = "virtual";
    a.options.engine = "interpreter";
    a.options.seed = 1;
    options_parse(&table, argc, argv, &a);
    signal(SIGPIPE, SIG_IGN);
    struct gr_result *result = calloc(1, sizeof *result);
    if (!result) {
        st_fail(&err, ST_NO_MEMORY, "out of memory for a result");
        st_print(stderr, argv[0], &err);
        return EXIT_NOT_RUN;
    }
    struct grading g = {.options = &a.options, .result = result, .out = stdout};
    const enum st_code code = debug(&g, &a, &right, &err);
    progress_clear();
    fflush(stdout);
    if (code)
        st_print(stderr, argv[0], &err);
    gr_grading_free(&g);
    free(result);
    return code ? EXIT_NOT_RUN : right ? EXIT_RIGHT : EXIT_WRONG;
}
