/* The facts that techniques.def asks for. Each says what was found, as a number, and what is
 * wanted.
 *
 * Limits are far from both sides: what lacks the technique has 0% or the count of m2, what has it
 * 100% or a fraction of that count. */
#include "grader/technique/technique.h"

#include "nn/oracle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double outputs(const struct gr_work *w)
{
    return (double)nn_conv_y_elems(&w->shape);
}

static double taps(const struct gr_work *w)
{
    return (double)w->shape.C * w->shape.K * w->shape.K;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void say(struct gr_evidence *to, bool holds, double found, const char *text, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct gr_evidence *to, bool holds, double found, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(to->text, sizeof to->text, text, args);
    va_end(args);
    to->holds = holds;
    to->found = found;
}

/* A fact about the first layer alone, w. */
#define FACT_OF_ONE(name)                                                                          \
    static void name(const struct gr_work *w, __attribute__((unused)) size_t layers,               \
                     struct gr_evidence *to)

/* ---- of all milestones ---------------------------------------------------------------------- */

static double least_followed(const struct gr_work *work, size_t layers)
{
    double least = INFINITY;
    for (size_t i = 0; i < layers; i++)
        least = fmin(least, ratio(work[i].total.multiply_adds, nn_conv_macs(&work[i].shape)));
    return least;
}

/* Room for the weights twice, in another order say, and for tables; an answer that the host
 * computed has to come to the device, however much is multiplied there. Tables of indices do not
 * count. */
static double most_from_host(const struct gr_work *w)
{
    const double k = sizeof(float) * (double)nn_conv_k_elems(&w->shape);
    return fmax(2 * k + 16384, sizeof(float) * outputs(w) / 8);
}

/* @return whether the host made what y is made of; then that is said. */
static bool made_by_host(const struct gr_work *work, size_t layers, struct gr_evidence *to)
{
    for (size_t i = 0; i < layers; i++)
        if (work[i].from_host_bytes > most_from_host(&work[i])) {
            say(to, false, work[i].from_host_bytes,
                "right, but %.0f bytes of what y is made of came from the host meanwhile (at most %.0f): "
                "the work was not done on the GPU",
                work[i].from_host_bytes, most_from_host(&work[i]));
            return true;
        }
    return false;
}

/* Far below what any algorithm needs, as where runs on the virtual GPU are judged (session.c). */
static void work_on_gpu(const struct gr_work *work, size_t layers, struct gr_evidence *to)
{
    const double least = least_followed(work, layers);
    if (least >= 0.1 && made_by_host(work, layers, to))
        return;
    say(to, least >= 0.1, least,
        "right, but kernels did %.0f%% of the multiply-adds of x and k that make y (at least 10%%): "
        "the work was not done on the GPU",
        100 * fmin(least, 1));
}

/* Otherwise all other facts would be about a part of the work only. */
static void multiply_adds_followed(const struct gr_work *work, size_t layers,
                                   struct gr_evidence *to)
{
    const double least = least_followed(work, layers);
    if (least >= 0.9 && made_by_host(work, layers, to))
        return;
    say(to, least >= 0.9, least,
        "%.0f%% of the multiply-adds were followed from x and k to y (at least 90%%)",
        100 * fmin(least, 1));
}

static void results_stored_once(const struct gr_work *work, size_t layers, struct gr_evidence *to)
{
    double most = 0;
    for (size_t i = 0; i < layers; i++)
        most = fmax(most, ratio(work[i].total.y_stores, outputs(&work[i])));
    say(to, most <= 1.5, most,
        "%.1f results stored to y for each output (at most 1.5, for tiles that overlap at an edge)",
        most);
}

/* ---- shared memory -------------------------------------------------------------------------- */

static void share(struct gr_evidence *to, const struct gr_work *w, double part, const char *what)
{
    double found = ratio(part, w->total.multiply_adds);
    say(to, found >= 0.9, found, "%.0f%% of the multiply-adds take %s (at least 90%%)", 100 * found,
        what);
}

FACT_OF_ONE(x_through_shared)
{
    share(to, w, w->total.x_through_shared, "x from shared memory");
}

FACT_OF_ONE(k_through_shared)
{
    share(to, w, w->total.k_through_shared, "k from shared memory");
}

FACT_OF_ONE(k_on_chip)
{
    share(to, w, w->total.k_through_shared + w->total.k_from_constant,
          "k from shared or constant memory");
}

FACT_OF_ONE(shared_reused)
{
    double found = ratio(w->multiplying.shared_loads, w->multiplying.staged);
    say(to, found >= 1.5, found, "%.1f shared loads for each staged element (at least 1.5)", found);
}

FACT_OF_ONE(x_loaded_less)
{
    double found = ratio(w->total.x_loads, outputs(w)), most = taps(w) / 2;
    say(to, found <= most, found,
        "%.1f loads of x from global memory for each output (at most %.0f; without a tile %.0f)",
        found, most, taps(w));
}

FACT_OF_ONE(barriers_passed)
{
    double found = w->multiplying.barriers;
    say(to, found > 0, found,
        "%.0f times a thread passed a barrier in the kernels that multiply (at least once)", found);
}

/* ---- constant memory ------------------------------------------------------------------------ */

FACT_OF_ONE(k_from_constant)
{
    double found = ratio(w->total.k_from_constant, w->total.multiply_adds);
    say(to, found >= 0.9, found,
        "%.0f%% of the multiply-adds take k from a __constant__ variable (at least 90%%); %.2f constant loads for each",
        100 * found, ratio(w->total.constant_loads, w->total.multiply_adds));
}

FACT_OF_ONE(k_copied_to_constant)
{
    double wanted = (double)nn_conv_k_elems(&w->shape) * sizeof(float);
    say(to, w->constant_bytes_copied >= wanted, w->constant_bytes_copied,
        "%.0f bytes of weights copied to __constant__ variables (at least %.0f)",
        w->constant_bytes_copied, wanted);
}

FACT_OF_ONE(k_not_loaded)
{
    double found = ratio(w->multiplying.k_loads, w->multiplying.multiply_adds);
    say(to, found <= 0.01, found,
        "%.2f loads of k from global memory for each multiply-add (at most 0.01)", found);
}

/* ---- unrolled matrix ------------------------------------------------------------------------ */

FACT_OF_ONE(matrix_written)
{
    double wanted = outputs(w) / w->shape.M * taps(w);
    double found = (w->total.x_rewritten - w->multiplying.x_rewritten) / wanted;
    say(to, found >= 0.9 && found <= 1.5, found,
        "kernels that do not multiply wrote %.2f times the unrolled matrix of %.0f elements to global memory (about 1)",
        found, wanted);
}

FACT_OF_ONE(x_from_matrix)
{
    share(to, w, w->total.x_through_buffer, "x from that matrix");
}

FACT_OF_ONE(no_matrix)
{
    double found = w->total.x_rewritten;
    say(to, found == 0, found, "%.0f elements of x written back to global memory (none)", found);
}

FACT_OF_ONE(one_kernel)
{
    int found = 0;
    char names[128] = "";
    for (size_t i = 0; i < w->kernels; i++) {
        const struct gr_kernel_work *k = &w->kernel[i];
        if (k->counts.x_loads == 0 && k->counts.multiply_adds == 0)
            continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.60s", found++ ? ", " : "", k->name);
    }
    say(to, found == 1, found, "%d kernel%s work%s on x (exactly 1): %s", found,
        found == 1 ? "" : "s", found == 1 ? "s" : "", names);
}

/* ---- atomics -------------------------------------------------------------------------------- */

FACT_OF_ONE(sums_by_atomics)
{
    double found = ratio(w->total.into_atomics, w->total.multiply_adds);
    say(to, found >= 0.9, found,
        "%.0f%% of the multiply-adds reach y by an atomic addition (at least 90%%)", 100 * found);
}

FACT_OF_ONE(several_atomics)
{
    double found = ratio(w->total.y_atomics, outputs(w));
    say(to, found >= 1.9 && w->shape.C > 1, found,
        "%.1f atomic additions to each output, whose sum is over %d channels (at least 2; the whole sum at once is no reduction)",
        found, w->shape.C);
}

/* ---- layers --------------------------------------------------------------------------------- */

/* The kernel that does most of the work. */
static const struct gr_kernel_work *main_kernel(const struct gr_work *w)
{
    const struct gr_kernel_work *most = NULL;
    for (size_t i = 0; i < w->kernels; i++)
        if (!most || w->kernel[i].counts.multiply_adds > most->counts.multiply_adds)
            most = &w->kernel[i];
    return most;
}

/* Copies of one kernel are one kernel: it is what tiles and registers make of it that counts. */
static bool same_kernel(const struct gr_kernel_work *a, const struct gr_kernel_work *b)
{
    double longer = fmax((double)a->instructions, (double)b->instructions);
    return strcmp(a->block, b->block) == 0 && a->shared_bytes == b->shared_bytes &&
           a->multiply_instructions == b->multiply_instructions &&
           a->result_stores == b->result_stores &&
           fabs((double)a->instructions - (double)b->instructions) <= 0.1 * longer;
}

static void layers_differ(const struct gr_work *work, size_t layers, struct gr_evidence *to)
{
    char text[2][96] = {"nothing", "nothing"};
    const struct gr_kernel_work *k[2] = {main_kernel(&work[0]),
                                         layers > 1 ? main_kernel(&work[1]) : NULL};
    for (int i = 0; i < 2; i++)
        if (k[i])
            snprintf(text[i], sizeof text[i],
                     "%.30s, blocks of %s, %zu bytes shared, %d multiply-adds in its code",
                     k[i]->name, k[i]->block, k[i]->shared_bytes, k[i]->multiply_instructions);
    bool differ = k[0] && k[1] && !same_kernel(k[0], k[1]);
    say(to, differ, differ, "%s for both layers: C=%d: %s; C=%d: %s",
        differ ? "not the same kernel and blocks" : "the same kernel and blocks", work[0].shape.C,
        text[0], layers > 1 ? work[1].shape.C : 0, text[1]);
}

/* ---- read-only loads and unrolled loops ----------------------------------------------------- */

FACT_OF_ONE(read_only_loads)
{
    double x = ratio(w->total.x_read_only_loads, w->total.x_loads);
    double k = ratio(w->total.k_read_only_loads, w->total.k_loads);
    say(to, x >= 0.8 || k >= 0.8, fmax(x, k),
        "%.0f%% of the loads of x and %.0f%% of those of k from global memory are read-only loads, ld.global.nc (at least 80%% of one of them)",
        100 * x, 100 * k);
}

FACT_OF_ONE(loops_unrolled)
{
    double found = ratio(w->total.multiply_adds, w->total.multiply_blocks);
    double branches = ratio(w->total.loop_branches, w->total.multiply_adds);
    say(to, found >= 4 && branches <= 0.3, found,
        "%.1f multiply-adds in a row (at least 4), %.2f loop branches for each (at most 0.3)",
        found, branches);
}

size_t gr_technique_facts(const char *milestone, const struct gr_work *work, size_t layers,
                          struct gr_evidence *to)
{
    static const struct {
        const char *milestone, *name;
        gr_fact *fact;
    } table[] = {
#define FACT(milestone, name) {milestone, #name, name},
#include "grader/technique/techniques.def"
#undef FACT
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table && n < GR_MAX_EVIDENCE; i++) {
        if (strcmp(table[i].milestone, milestone) != 0)
            continue;
        snprintf(to[n].fact, sizeof to[n].fact, "%s", table[i].name);
        table[i].fact(work, layers, &to[n++]);
    }
    return n;
}
