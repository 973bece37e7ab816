/* Runs one GPU library on the grader's unit shapes, and checks the outputs on the device itself.
 *
 *     gpushapes [--seed N] [--save FILE] [--against FILE] NAME=LIBRARY
 *
 * NAME is a milestone, whose tolerance applies. The shapes are small enough for compute-sanitizer.
 * They are the same on a real GPU and on the virtual GPU, so that a run on one compares its outputs
 * with those that a run on the other saved (make gpu-check). Every shape gets its own tensors,
 * allocated with their exact sizes.
 *
 * Prints one line of a table: shapes, right shapes, elements, and the largest error divided by the
 * tolerance; compared with the file, the number of elements with the same bits, and the largest
 * difference divided by the tolerance. Exit status: 0 all shapes are right, 1 a shape is wrong or
 * differs, 2 could not run. */
#include "base/files.h"
#include "base/option_table.h"
#include "base/rng.h"
#include "grader/course/cases.h"
#include "grader/gpubench/gpubench.h"
#include "grader/gpubench/gpubench_kernels.h"
#include "nn/oracle.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_RIGHT = 0, EXIT_WRONG = 1, EXIT_NOT_RUN = 2 };

struct options {
    char *name, *library;
    const char *save, *against;
    unsigned long seed;
};

static void take_library(void *options, char *word, const struct option_row *row,
                         struct argp_state *state)
{
    struct options *o = options;
    char *equals = strchr(word, '=');
    (void)row;
    if (!equals || equals == word || o->library)
        argp_error(state, "expected one NAME=LIBRARY, got '%s'", word);
    *equals = '\0';
    o->name = word;
    o->library = equals + 1;
}

static const struct option_row rows[] = {
    {"seed", 's', "N", "seed of shapes and data (default: 1)",
     OPTION_NUMBER(struct options, seed, 0, UINT64_MAX)},
    {"save", 'o', "FILE", "write the outputs to a file, for --against on another device",
     OPTION_TEXT(struct options, save)},
    {"against", 'a', "FILE", "compare the outputs with another device's file",
     OPTION_TEXT(struct options, against)},
    {.value = "library",
     .help = "expected NAME=LIBRARY, for example m3=build/reference/m3/libconv.so",
     OPTION_OPERANDS(take_library)},
    {0}};

/* Sums over all shapes. */
struct sums {
    size_t shapes, right, elements, equal;
    double error, against_error;
};

struct run {
    struct bench_subject *subject;
    FILE *save;
    const float *against; /* NULL: no comparison */
    size_t against_elems;
    struct sums sums;
};

enum { X, K, Y, REF, ATOL, RESULT, BUFFERS };

/* Compares with the other device's outputs; the file has them in the same order. */
static void compare_devices(struct run *r, const struct conv_shape *s, const float *y,
                            const float *atol, size_t n)
{
    const size_t map = n / (size_t)s->B / (size_t)s->M;
    const float *other = r->against + r->sums.elements;
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&y[i], &other[i], sizeof *y) == 0) {
            r->sums.equal++;
            continue;
        }
        const double tolerance =
            (double)atol[i / map % (size_t)s->M] + (double)NN_RTOL * fabs((double)other[i]);
        const double part = fabs((double)y[i] - (double)other[i]) / tolerance;
        if (!(part <= r->sums.against_error))
            r->sums.against_error = isnan(part) ? INFINITY : part;
    }
}

/* Judges one shape by the comparison on the device and by the other device's file. */
static int judge(struct run *r, const struct gr_case_shape *spec, void *const *buffer,
                 const float *atol, size_t n, struct st_error *err)
{
    struct bench_compared found;
    float worst;
    float *y = malloc(n * sizeof *y);
    int error = cudaMemcpy(&found, buffer[RESULT], sizeof found, cudaMemcpyDeviceToHost);
    if (!y || error)
        goto cleanup;
    memcpy(&worst, &found.worst_bits, sizeof worst);
    r->sums.right += found.wrong == 0;
    r->sums.error = worst > r->sums.error ? worst : r->sums.error;
    const struct conv_shape *s = &spec->shape;
    if (found.wrong)
        fprintf(stderr,
                "%s: shape B=%d M=%d C=%d H=%d W=%d K=%d (%s): %llu of %zu outputs are wrong\n",
                r->subject->name, s->B, s->M, s->C, s->H, s->W, s->K, spec->label, found.wrong, n);
    error = cudaMemcpy(y, buffer[Y], n * sizeof *y, cudaMemcpyDeviceToHost);
    if (!error && r->save && fwrite(y, sizeof *y, n, r->save) != n)
        st_fail(err, ST_IO, "cannot write the outputs");
    if (!error && r->against && r->sums.elements + n <= r->against_elems)
        compare_devices(r, s, y, atol, n);
    r->sums.elements += n;
    r->sums.shapes++;
cleanup:
    free(y);
    return error;
}

static enum st_code run_shape(struct run *r, const struct gr_case_shape *spec, struct rng *rng,
                              struct st_error *err)
{
    const struct conv_shape *s = &spec->shape;
    const size_t x = nn_conv_x_elems(s), k = nn_conv_k_elems(s), n = nn_conv_y_elems(s);
    const size_t bytes[BUFFERS] = {[X] = x * 4,
                                   [K] = k * 4,
                                   [Y] = n * 4,
                                   [REF] = n * 4,
                                   [ATOL] = (size_t)s->M * 4,
                                   [RESULT] = sizeof(struct bench_compared)};
    void *buffer[BUFFERS] = {0};
    char why[300] = "";
    enum st_code code = ST_OK;
    float *host_x = malloc(bytes[X]), *host_k = malloc(bytes[K]), *atol = malloc(bytes[ATOL]);
    int error = 0;
    if (!host_x || !host_k || !atol) {
        code = st_fail(err, ST_NO_MEMORY, "out of memory for a shape's tensors");
        goto cleanup;
    }
    rng_fill(rng, host_x, x, -1, 1);
    rng_fill(rng, host_k, k, -0.5f, 0.5f);
    nn_conv_tolerance(s, r->subject->tolerance, 1, host_k, atol);
    for (int i = 0; i < BUFFERS && !error; i++)
        error = cudaMalloc(&buffer[i], bytes[i]);
    if (!error)
        error = cudaMemcpy(buffer[X], host_x, bytes[X], cudaMemcpyHostToDevice);
    if (!error)
        error = cudaMemcpy(buffer[K], host_k, bytes[K], cudaMemcpyHostToDevice);
    if (!error)
        error = cudaMemcpy(buffer[ATOL], atol, bytes[ATOL], cudaMemcpyHostToDevice);
    if (!error)
        error = cudaMemset(buffer[Y], 0xff, bytes[Y]);
    if (!error)
        error = cudaMemset(buffer[RESULT], 0, bytes[RESULT]);
    if (!error &&
        !bench_subject_run(r->subject, s, buffer[X], buffer[K], buffer[Y], why, sizeof why)) {
        fprintf(stderr, "%s: shape B=%d M=%d C=%d H=%d W=%d K=%d (%s): %s\n", r->subject->name,
                s->B, s->M, s->C, s->H, s->W, s->K, spec->label, why);
    }
    if (!error)
        error = cudaDeviceSynchronize(); /* reports this library's faults here, not in later
                                            launches */
    if (!error) {
        bench_conv_naive(s, buffer[X], buffer[K], buffer[REF]);
        bench_compare(buffer[Y], buffer[REF], buffer[ATOL], NN_RTOL, n, s->M,
                      n / (size_t)s->B / (size_t)s->M, buffer[RESULT]);
        error = judge(r, spec, buffer, atol, n, err);
    }
    code = bench_cuda(error, "the device can no longer be used", err);
    if (code)
        st_detail(err, ST_WHERE, "shape B=%d M=%d C=%d H=%d W=%d K=%d (%s)", s->B, s->M, s->C, s->H,
                  s->W, s->K, spec->label);
cleanup:
    for (int i = 0; i < BUFFERS; i++)
        cudaFree(buffer[i]);
    free(host_x);
    free(host_k);
    free(atol);
    return code;
}

static enum st_code run_all(const struct options *o, struct run *r, struct st_error *err)
{
    static struct gr_case_shape shapes[GR_MAX_CASES];
    const size_t n = gr_case_shapes(exercise_at(0), shapes, o->seed, 0);
    struct rng rng = rng_make(o->seed, 7);
    enum st_code code = ST_OK;
    for (size_t i = 0; i < n && !code; i++)
        code = run_shape(r, &shapes[i], &rng, err);
    if (!code && r->against && r->sums.elements != r->against_elems) {
        st_fail(err, ST_BAD_FORMAT, "the other device's outputs have different shapes");
        st_detail(err, ST_WHERE, "%s", o->against);
        st_detail(err, ST_EXPECTED, "%zu elements", r->sums.elements);
        code = st_detail(err, ST_GOT, "%zu", r->against_elems);
    }
    return code;
}

/* @return the exit status. */
static int run(const struct options *o, struct st_error *err)
{
    static struct bench_subjects all;
    struct file_out file;
    char *other = NULL;
    size_t other_bytes = 0;
    enum st_code code = bench_subject_add_library(&all, o->name, o->library, err);
    if (!code && all.subject[0].reason[0])
        code = st_fail(err, ST_BAD_FORMAT, "%s", all.subject[0].reason);
    struct run r = {.subject = all.subject};
    if (!code && o->against)
        code = file_read(o->against, (size_t)1 << 30, &other, &other_bytes, err);
    r.against = (const float *)(void *)other;
    r.against_elems = other_bytes / sizeof(float);
    if (!code && o->save && !(code = file_out_open(&file, o->save, err)))
        r.save = file.f;
    if (!code)
        code = run_all(o, &r, err);
    if (r.save && !code)
        code = file_out_commit(&file, err);
    else if (r.save)
        file_out_abort(&file);
    free(other);
    bench_subjects_free(&all);
    if (code)
        return EXIT_NOT_RUN;
    const struct sums *s = &r.sums;
    printf("%zu\t%zu\t%zu\t%.4f", s->shapes, s->right, s->elements, s->error);
    if (r.against)
        printf("\t%zu\t%.4f\n", s->equal, s->against_error);
    else
        printf("\t\t\n");
    return s->right == s->shapes && s->against_error <= 1 ? EXIT_RIGHT : EXIT_WRONG;
}

int main(int argc, char **argv)
{
    struct options o = {.seed = 1};
    static const struct option_table table = {
        .rows = rows,
        .operands = "NAME=LIBRARY",
        .about = "Run a GPU library on the grader's unit shapes and check it on the device."};
    options_parse(&table, argc, argv, &o);
    struct st_error err = {0};
    const int status = run(&o, &err);
    if (status == EXIT_NOT_RUN)
        st_print(stderr, "gpushapes", &err);
    return status;
}
