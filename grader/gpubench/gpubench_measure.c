/* Measures one layer at one size.
 *
 * 1. Tensors are allocated, cuDNN tries its algorithms, and every subject runs once as a warm-up
 *    and is checked.
 * 2. Each round has new inputs and expected outputs. In each round, every subject that has been
 *    right so far runs once. Each round begins with the next subject, so that no subject is always
 *    the first.
 * 3. For a run, y is filled with NaN and the cache with other data. The device's clock is read
 *    before and after the run, with events on the same stream, so that filling the cache hides the
 *    host's work. Then y is compared with the expected outputs.
 */
#include "base/rng.h"
#include "grader/course/floor.h"
#include "grader/gpubench/gpubench.h"
#include "grader/gpubench/gpubench_kernels.h"
#include "nn/oracle.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, K, Y, REF, ATOL, ATOL_TF32, ATOL_OWN, FLUSH, RESULT, BUFFERS };

struct bench {
    const struct bench_plan *plan;
    struct conv_shape shape;
    void *buffer[BUFFERS];
    size_t bytes[BUFFERS];
    float *host_k, *host_atol;
    cudaEvent_t event[2];
    double *sample[BENCH_MAX_SUBJECTS]; /* [rounds] for each subject */
    struct bench_row *row;              /* [subjects] */
};

static int rounds_for(const struct bench_plan *plan, int images)
{
    return plan->rounds ? plan->rounds : images <= 1000 ? 51 : 15;
}

/* ---- inputs and expected outputs ------------------------------------------------------------ */

/* TF32 keeps 10 bits of each factor's mantissa: an error of 2^-11 per factor, compared with 2^-24
 * per sum for float32. */
static const float tf32_factor = 2 * 0x1p-11f / 0x1p-24f;

static int new_inputs(struct bench *b, unsigned round)
{
    struct rng r = rng_make(b->plan->seed, round);
    const size_t M = (size_t)b->shape.M;
    rng_fill(&r, b->host_k, nn_conv_k_elems(&b->shape), -0.5f, 0.5f);
    nn_conv_tolerance(&b->shape, 0, 1.0f, b->host_k, b->host_atol);
    for (size_t m = 0; m < M; m++)
        b->host_atol[M + m] = b->host_atol[m] * tf32_factor;
    int error = cudaMemcpy(b->buffer[K], b->host_k, b->bytes[K], cudaMemcpyHostToDevice);
    if (!error)
        error =
            cudaMemcpy(b->buffer[ATOL], b->host_atol, M * sizeof(float), cudaMemcpyHostToDevice);
    if (!error)
        error = cudaMemcpy(b->buffer[ATOL_TF32], b->host_atol + M, M * sizeof(float),
                           cudaMemcpyHostToDevice);
    if (error)
        return error;
    bench_fill(b->buffer[X], nn_conv_x_elems(&b->shape), b->plan->seed + 977 * round);
    bench_conv_naive(&b->shape, b->buffer[X], b->buffer[K], b->buffer[REF]);
    return cudaGetLastError();
}

/* Compares the kernel that computes the expected outputs with the oracle, for the first images. */
static enum st_code check_naive(struct bench *b, struct st_error *err)
{
    struct conv_shape few = b->shape;
    few.B = few.B < 4 ? few.B : 4;
    const size_t x_elems = nn_conv_x_elems(&few), y_elems = nn_conv_y_elems(&few);
    float *x = malloc(x_elems * sizeof *x), *y = malloc(2 * y_elems * sizeof *y);
    enum st_code code = ST_OK;
    if (!x || !y) {
        code = st_fail(err, ST_NO_MEMORY, "out of memory for %d images", few.B);
        goto cleanup;
    }
    int error = cudaMemcpy(x, b->buffer[X], x_elems * sizeof *x, cudaMemcpyDeviceToHost);
    if (!error)
        error = cudaMemcpy(y, b->buffer[REF], y_elems * sizeof *y, cudaMemcpyDeviceToHost);
    if ((code = bench_cuda(error, "cannot compute the expected outputs", err)))
        goto cleanup;
    nn_oracle_conv(&few, x, b->host_k, y + y_elems);
    for (size_t i = 0; i < y_elems && !code; i++) {
        /* Both compute the sum in float64 and round it once; at most the order of additions
         * differs. */
        const float expected = y[y_elems + i];
        if (!(fabsf(y[i] - expected) <= 0x1p-22f * (1 + fabsf(expected)))) {
            st_fail(err, ST_CHILD, "the device's expected outputs differ from the oracle's");
            st_detail(err, ST_WHERE, "element %zu", i);
            st_detail(err, ST_EXPECTED, "%.9g", (double)expected);
            code = st_detail(err, ST_GOT, "%.9g", (double)y[i]);
        }
    }
cleanup:
    free(x);
    free(y);
    return code;
}

/* Sets the tolerance of a milestone that has lower precision than float32. */
static int own_tolerance(struct bench *b, const struct bench_subject *s)
{
    if (s->tolerance <= 0)
        return 0;
    nn_conv_tolerance(&b->shape, s->tolerance, 1.0f, b->host_k, b->host_atol);
    return cudaMemcpy(b->buffer[ATOL_OWN], b->host_atol, b->bytes[ATOL_OWN],
                      cudaMemcpyHostToDevice);
}

/* ---- one run -------------------------------------------------------------------------------- */

static void give_up(struct bench_row *row, const char *status, const char *note)
{
    snprintf(row->status, sizeof row->status, "%s", status);
    snprintf(row->note, sizeof row->note, "%s", note);
}

/* Runs one subject. @return a CUDA error after which the device is unusable. */
static int turn(struct bench *b, struct bench_subject *s, struct bench_row *row, double *sample_s)
{
    char why[300] = "";
    float ms = 0;
    int error = cudaMemsetAsync(b->buffer[Y], 0xff, b->bytes[Y], 0);
    if (!error)
        error = cudaMemsetAsync(b->buffer[FLUSH], 0, b->bytes[FLUSH], 0);
    if (!error)
        error = cudaMemsetAsync(b->buffer[RESULT], 0, b->bytes[RESULT], 0);
    if (!error)
        error = cudaEventRecord(b->event[0], 0);
    if (error)
        return error;
    const bool ran =
        bench_subject_run(s, &b->shape, b->buffer[X], b->buffer[K], b->buffer[Y], why, sizeof why);
    error = cudaEventRecord(b->event[1], 0);
    if (!error)
        error = cudaEventSynchronize(b->event[1]);
    if (!error)
        error = cudaEventElapsedTime(&ms, b->event[0], b->event[1]);
    if (!ran || error) {
        give_up(row, "failed", ran ? cudaGetErrorName(error) : why);
        return error;
    }
    *sample_s = ms * 1e-3;

    const bool tf32 = s->is_cudnn && s->math == VN_TF32;
    const size_t map =
        (size_t)(b->shape.H - b->shape.K + 1) * (size_t)(b->shape.W - b->shape.K + 1);
    struct bench_compared found;
    const int atol = tf32 ? ATOL_TF32 : s->tolerance > 0 ? ATOL_OWN : ATOL;
    error = own_tolerance(b, s);
    if (error)
        return error;
    bench_compare(b->buffer[Y], b->buffer[REF], b->buffer[atol],
                  tf32 ? NN_RTOL * tf32_factor : NN_RTOL, nn_conv_y_elems(&b->shape), b->shape.M,
                  map, b->buffer[RESULT]);
    error = cudaMemcpy(&found, b->buffer[RESULT], sizeof found, cudaMemcpyDeviceToHost);
    if (error)
        return error;
    float worst;
    memcpy(&worst, &found.worst_bits, sizeof worst);
    if (worst > row->error)
        row->error = worst;
    if (found.wrong) {
        snprintf(why, sizeof why, "%llu of %zu outputs are wrong", found.wrong,
                 nn_conv_y_elems(&b->shape));
        give_up(row, "wrong", why);
    }
    return 0;
}

/* ---- all subjects --------------------------------------------------------------------------- */

static enum st_code run_rounds(struct bench *b, struct bench_subjects *all, struct st_error *err)
{
    const int rounds = rounds_for(b->plan, b->shape.B);
    const int first = b->plan->is_virtual ? 0 : -1; /* a modelled time needs no warm-up */
    enum st_code code = ST_OK;
    for (int round = first; round < rounds && !code; round++) {
        double ignored;
        code = bench_cuda(new_inputs(b, (unsigned)(round + 1)), "cannot create new inputs", err);
        if (!code && round == first)
            code = check_naive(b, err);
        for (size_t i = 0; i < all->n && !code; i++) {
            const size_t at = (i + (size_t)(round + 1)) % all->n;
            struct bench_row *row = &b->row[at];
            if (strcmp(row->status, "ok") != 0)
                continue;
            int error =
                turn(b, &all->subject[at], row, round < 0 ? &ignored : &b->sample[at][round]);
            if (error) {
                give_up(row, "failed", cudaGetErrorName(error));
                code = bench_cuda(error, "the device can no longer be used", err);
                st_detail(err, ST_WHERE, "%s, %d images", all->subject[at].name, b->shape.B);
            }
        }
    }
    for (size_t i = 0; i < all->n && !code; i++)
        if (strcmp(b->row[i].status, "ok") == 0)
            b->row[i].s = median_of(b->sample[i], (size_t)rounds);
    return code;
}

static void start_rows(struct bench *b, const struct bench_subjects *all,
                       const struct bench_peaks *peaks, const struct bench_layer *layer)
{
    const struct gr_floor floor =
        gr_floor_of(&b->shape, peaks->copy_bytes_per_s.median, peaks->flops_per_s.median / 2);
    for (size_t i = 0; i < all->n; i++) {
        const struct bench_subject *s = &all->subject[i];
        struct bench_row *row = &b->row[i];
        *row = (struct bench_row){.layer = layer,
                                  .images = b->shape.B,
                                  .macs = nn_conv_macs(&b->shape),
                                  .bytes = floor.bytes,
                                  .floor_s = gr_floor_direct_s(floor),
                                  .floor_is_memory = floor.memory_s >= floor.arithmetic_s};
        snprintf(row->subject, sizeof row->subject, "%s", s->name);
        give_up(row, s->reason[0] ? "skip" : "ok", s->reason[0] ? s->reason : s->cudnn.name);
    }
}

enum st_code bench_measure(const struct bench_plan *plan, struct bench_subjects *all,
                           const struct bench_peaks *peaks, const struct bench_layer *layer,
                           int images, struct bench_row *rows, size_t *n, struct st_error *err)
{
    struct bench b = {.plan = plan, .shape = layer->shape, .row = rows + *n};
    b.shape.B = images;
    b.bytes[X] = nn_conv_x_elems(&b.shape) * sizeof(float);
    b.bytes[K] = nn_conv_k_elems(&b.shape) * sizeof(float);
    b.bytes[Y] = b.bytes[REF] = nn_conv_y_elems(&b.shape) * sizeof(float);
    b.bytes[ATOL] = b.bytes[ATOL_TF32] = b.bytes[ATOL_OWN] = (size_t)b.shape.M * sizeof(float);
    /* Several times the cache's size: writing it takes longer than the host needs to start a
     * run. */
    b.bytes[FLUSH] = plan->is_virtual ? 4096 : 8 * plan->l2_bytes + ((size_t)64 << 20);
    b.bytes[RESULT] = sizeof(struct bench_compared);
    b.host_k = malloc(b.bytes[K]);
    b.host_atol = malloc(2 * b.bytes[ATOL]);
    const int rounds = rounds_for(plan, images);
    double *samples = malloc(all->n * (size_t)rounds * sizeof *samples);
    enum st_code code = ST_OK;
    if (!b.host_k || !b.host_atol || !samples)
        code = st_fail(err, ST_NO_MEMORY, "out of memory for weights and samples");
    int error = 0;
    for (int i = 0; i < BUFFERS && !error; i++)
        error = cudaMalloc(&b.buffer[i], b.bytes[i]);
    for (int i = 0; i < 2 && !error; i++)
        error = cudaEventCreate(&b.event[i]);
    if (!code)
        code = bench_cuda(error, "cannot allocate the tensors", err);
    for (size_t i = 0; i < all->n; i++)
        b.sample[i] = samples + i * (size_t)rounds;
    if (!code)
        code = bench_cuda(new_inputs(&b, 0), "cannot create inputs", err);
    if (!code) {
        bench_subjects_prepare(all, &b.shape, b.buffer[X], b.buffer[K], b.buffer[Y]);
        start_rows(&b, all, peaks, layer);
        code = run_rounds(&b, all, err);
        *n += all->n;
    }
    bench_subjects_release(all);
    for (int i = 0; i < BUFFERS; i++)
        cudaFree(b.buffer[i]);
    for (int i = 0; i < 2; i++)
        if (b.event[i])
            cudaEventDestroy(b.event[i]);
    free(samples);
    free(b.host_k);
    free(b.host_atol);
    return code;
}
