/* Times all GPU milestones and cuDNN in one run on the same inputs (make bench-gpu).
 *
 *     gpubench [--out FOLDER] [--images N,N,...] [--rounds N] [--only MODEL] [NAME=LIBRARY ...]
 *
 * Without libraries, it uses every existing build/reference/mN/libconv.so with N from 2, except
 * m13's, which includes host copies: the grader measures its Layer Times. Exit status: 0 all
 * outputs were right, 1 a subject was wrong or failed, 2 could not run. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/rng.h"
#include "grader/gpubench/gpubench.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_RIGHT = 0, EXIT_WRONG = 1, EXIT_NOT_RUN = 2 };

static const struct bench_layer layers[] = {
    {"two-layer", 1, {0, 12, 1, 70, 70, 5}},    {"two-layer", 2, {0, 24, 12, 33, 33, 5}},
    {"one-layer", 1, {0, 50, 1, 28, 28, 5}},    {"two-layer-86", 1, {0, 4, 1, 86, 86, 7}},
    {"two-layer-86", 2, {0, 16, 4, 40, 40, 7}},
};

struct options {
    const char *out, *only;
    size_t libraries;
    char *library[BENCH_MAX_SUBJECTS];
    struct bench_plan plan;
};

/* Reads a whole number from 1 to `most`, ended by `end`; 0 if the text is not one. */
static long number(const char *text, char end, long most)
{
    char *after;
    const long n = strtol(text, &after, 10);
    return after != text && *after == end && n >= 1 && n <= most ? n : 0;
}

static void take_images(void *to, char *list, const struct option_row *row,
                        struct argp_state *state)
{
    struct bench_plan *plan = to;
    (void)row;
    plan->sizes = 0;
    char *save = NULL;
    for (char *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        const long n = number(item, '\0', 1000000);
        if (!n || plan->sizes == BENCH_MAX_SIZES)
            argp_error(state,
                       "--images: expected up to %d whole numbers from 1 to 1000000, got '%s'",
                       BENCH_MAX_SIZES, item);
        plan->images[plan->sizes++] = (int)n;
    }
    if (!plan->sizes)
        argp_error(state, "--images: expected whole numbers, separated by commas, got nothing");
}

static void take_library(void *options, char *word, const struct option_row *row,
                         struct argp_state *state)
{
    struct options *o = options;
    (void)row;
    if (!strchr(word, '=') || strchr(word, '=') == word)
        argp_error(state, "expected NAME=LIBRARY, got '%s'", word);
    if (o->libraries == BENCH_MAX_SUBJECTS - 2)
        argp_error(state, "expected at most %d libraries", BENCH_MAX_SUBJECTS - 2);
    o->library[o->libraries++] = word;
}

static const char *const models[] = {"two-layer", "one-layer", "two-layer-86", NULL};

static const struct option_row option_rows[] = {
    {"out", 'o', "FOLDER", "folder for bench.tsv and peaks.tsv (default: build/bench-gpu)",
     OPTION_TEXT(struct options, out)},
    {"images", 'n', "N,N,...", "numbers of images (default: 100,1000,10000; virtual GPU: 2)",
     OPTION_TAKE(struct options, plan, take_images)},
    {"rounds", 'r', "N", "runs of each subject (default: 51 up to 1000 images, else 15)",
     OPTION_INT(struct options, plan.rounds, 1, BENCH_MAX_ROUNDS)},
    {"only", 'm', "MODEL", "two-layer, one-layer or two-layer-86 (default: all)",
     OPTION_WORD(struct options, only, models)},
    {"seed", 's', "N", "seed of the inputs (default: 1)",
     OPTION_INT(struct options, plan.seed, 1, 1000000000)},
    {OPTION_OPERANDS(take_library)},
    {0}};

static enum st_code add_subjects(const struct options *o, struct bench_subjects *all,
                                 struct st_error *err)
{
    enum st_code code = ST_OK;
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    for (size_t i = 0; i < o->libraries && !code; i++) {
        char *path = strchr(o->library[i], '=');
        *path++ = '\0';
        code = bench_subject_add_library(all, o->library[i], path, err);
        struct bench_subject *s = &all->subject[all->n - 1];
        if (!code && s->exercise && s->exercise->host_tensors)
            snprintf(s->reason, sizeof s->reason,
                     "takes tensors in host memory: grader %s measures its Layer Times",
                     o->library[i]);
    }
    for (int m = 2; m < 100 && !o->libraries && !code; m++) {
        char name[8], path[PATH_MAX];
        snprintf(name, sizeof name, "m%d", m);
        path_format(path, sizeof path, "%s/reference/%s/libconv.so", build, name);
        if (file_exists(path) && !exercise_of(name)->host_tensors)
            code = bench_subject_add_library(all, name, path, err);
    }
    if (!code)
        code = bench_subject_add_cudnn(all, o->plan.is_virtual, err);
    return code;
}

/* Sets the values that depend on the device. @return the device's name, or NULL with err set. */
static const char *choose_device(struct bench_plan *plan, struct st_error *err)
{
    static struct cudaDeviceProp device;
    int count = 0;
    int error = cudaGetDeviceCount(&count);
    if (!error)
        error = cudaGetDeviceProperties(&device, 0);
    if (error) {
        st_fail(err, ST_MISSING_TOOL, "no GPU is available");
        st_detail(err, ST_GOT, "%s", cudaGetErrorName(error));
        st_detail(err, ST_HINT, "to try it without a GPU: build/vgpu-run build/gpubench");
        return NULL;
    }
    plan->is_virtual = strstr(device.name, "(virtual)") != NULL;
    plan->l2_bytes = (size_t)device.l2CacheSize;
    plan->peak_bytes = plan->is_virtual ? 1 << 20 : (size_t)1 << 30;
    plan->peak_blocks = device.multiProcessorCount * (plan->is_virtual ? 1 : 64);
    plan->peak_rounds = plan->is_virtual ? 2 : 64;
    if (!plan->sizes && plan->is_virtual)
        plan->sizes = 1, plan->images[0] = 2;
    else if (!plan->sizes)
        plan->sizes = 3, plan->images[0] = 100, plan->images[1] = 1000, plan->images[2] = 10000;
    if (!plan->rounds && plan->is_virtual)
        plan->rounds = 1; /* a modelled time never changes */
    return device.name;
}

static enum st_code run(struct options *o, bool *all_right, struct st_error *err)
{
    static struct bench_row rows[BENCH_MAX_ROWS];
    static struct bench_subjects all;
    struct bench_peaks peaks;
    size_t n = 0;
    char folder[PATH_MAX];
    const char *build = checkout_build(err);
    const char *device = build ? choose_device(&o->plan, err) : NULL;
    if (!device)
        return err->code;
    path_format(folder, sizeof folder, "%s%s", o->out ? o->out : build, o->out ? "" : "/bench-gpu");
    enum st_code code = add_subjects(o, &all, err);
    if (!code)
        code = bench_peaks_measure(&o->plan, &peaks, err);
    if (!code)
        bench_print_peaks(stdout, device, o->plan.is_virtual, &peaks);
    for (size_t l = 0; l < sizeof layers / sizeof *layers && !code; l++)
        for (int i = 0; i < o->plan.sizes && !code; i++) {
            if (o->only && strcmp(layers[l].model, o->only) != 0)
                continue;
            const size_t first = n;
            code =
                bench_measure(&o->plan, &all, &peaks, &layers[l], o->plan.images[i], rows, &n, err);
            bench_print_layer(stdout, rows + first, n - first);
            fflush(stdout);
        }
    *all_right = true;
    for (size_t i = 0; i < n; i++)
        *all_right &= strcmp(rows[i].status, "wrong") != 0 && strcmp(rows[i].status, "failed") != 0;
    bench_subjects_free(&all);
    if (code)
        return code;
    bench_print_totals(stdout, rows, n);
    code = bench_write_tsv(folder, device, &peaks, rows, n, err);
    if (!code)
        printf("\nTables: %s/bench.tsv, peaks.tsv\n", folder);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {.plan = {.seed = 1}};
    static const struct option_table table = {
        .rows = option_rows,
        .operands = "[NAME=LIBRARY ...]",
        .about =
            "Time every GPU milestone's reference and cuDNN on the same inputs, alternately.\v"
            "Exit status: 0 all outputs were right, 1 something was wrong or failed, 2 could not run."};
    options_parse(&table, argc, argv, &o);
    struct st_error err = {0};
    bool all_right = false;
    if (run(&o, &all_right, &err)) {
        fflush(stdout);
        st_print(stderr, "gpubench", &err);
        return EXIT_NOT_RUN;
    }
    return all_right ? EXIT_RIGHT : EXIT_WRONG;
}
