/* Computes the facts of facts.def. */
#include "grader/technique/technique.h"

#include "base/numbers.h"
#include "grader/technique/executed.h"
#include "nn/oracle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double outputs(const struct gr_way *w)
{
    return (double)nn_conv_y_elems(&w->shape);
}

static double taps(const struct gr_way *w)
{
    return (double)w->shape.C * w->shape.K * w->shape.K;
}

__attribute__((format(printf, 4, 5))) static void say(struct gr_evidence *to, bool holds,
                                                      double found, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(to->text, sizeof to->text, text, args);
    va_end(args);
    to->holds = holds;
    to->found = found;
}

/* ---- facts of all milestones ---------------------------------------------------------------- */

/* Writes the position of an output: "b=0, m=1, h=2, w=3". */
static void place_text(const struct conv_shape *s, size_t i, char *to, size_t room)
{
    const size_t width = (size_t)(s->W - s->K + 1), height = (size_t)(s->H - s->K + 1),
                 maps = (size_t)s->M;
    snprintf(to, room, "b=%zu, m=%zu, h=%zu, w=%zu", i / width / height / maps,
             i / width / height % maps, i / width % height, i % width);
}

static void work_on_gpu(const struct gr_way *ways, size_t layers, struct gr_evidence *to)
{
    for (size_t i = 0; i < layers; i++) {
        const struct gr_way *w = &ways[i];
        const double all = outputs(w);
        char where[96];
        if (w->right == all)
            continue;
        place_text(&w->shape, (size_t)w->first_wrong, where, sizeof where);
        if (w->outputs != all)
            say(to, false, 0,
                "right, but x, k and y were not at the addresses of the harness: the work was not done on the GPU");
        else
            say(to, false, w->right / all,
                "right, but it seems that the work was not done on the GPU: as far as the proof can follow, kernels did not compute %.0f of the %.0f outputs from x and k: y[%s] is not the sum of all its products of x and k%s",
                all - w->right, all, where,
                w->lost > 0
                    ? ", or its value is not that sum: the sum was lost in a larger number, or its bits were replaced"
                : w->no_element > 0 ? ", and some outputs contain nothing of x and k"
                                    : "");
        return;
    }
    say(to, true, 1, "kernels computed all outputs as sums of products of x and k");
}

/* ---- shares of the products ------------------------------------------------------------------ */

/* The share of the products of y that have this property. Extra products, which cancel each other,
 * do not hide products without the property. */
static double share(const struct gr_way *w, double came)
{
    const double needed = fmin(w->products, taps(w) * outputs(w));
    return needed > 0 ? fmax(0, 1 - (w->products - came) / needed) : 0;
}

static double x_shared(const struct gr_way *w)
{
    return share(w, w->x_shared);
}

static double k_shared(const struct gr_way *w)
{
    return share(w, w->k_shared);
}

static double k_constant(const struct gr_way *w)
{
    return share(w, w->k_constant);
}

static double k_on_chip(const struct gr_way *w)
{
    return share(w, w->k_shared + w->k_constant);
}

static double x_from_matrix(const struct gr_way *w)
{
    return share(w, w->x_buffer);
}

static double read_only(const struct gr_way *w)
{
    return share(w, w->read_only);
}

static double by_atomics(const struct gr_way *w)
{
    return share(w, w->by_atomics);
}

/* ---- counts --------------------------------------------------------------------------------- */

static double shared_reused(const struct gr_way *w)
{
    return ratio(w->multiplying.shared_loads, w->multiplying.staged);
}

static double x_from_others(const struct gr_way *w)
{
    return ratio(w->multiplying.x_from_shared - w->multiplying.x_own, w->multiplying.x_from_shared);
}

static double x_shared_by_several(const struct gr_way *w)
{
    return ratio(w->multiplying.x_read_by_several, w->multiplying.x_read);
}

static double x_mixed(const struct gr_way *w)
{
    return ratio(w->multiplying.x_mixed, w->multiplying.x_staged);
}

static double x_loads(const struct gr_way *w)
{
    return ratio(w->total.x_loads, outputs(w) * w->shape.C);
}

static double barriers_passed(const struct gr_way *w)
{
    return w->multiplying.barriers;
}

/* The share that is not covered by products computed in other ways. */
static double by_matrix(const struct gr_way *w)
{
    const double others = w->multiplying.products - w->multiplying.matrix_products;
    return fmax(0, 1 - ratio(others, taps(w) * outputs(w)));
}

/* The pairs of threads without outputs may have the same factors in both halves, for example elements
 * of the last row. */
static double by_pairs(const struct gr_way *w)
{
    const struct gr_kernel_way *k = &w->multiplying;
    const double others = k->products - k->paired_products - k->idle_singly;
    return fmax(0, 1 - ratio(others, taps(w) * outputs(w)));
}

/* Copies may move x once, k for each image (to constant memory), and y; more is an unrolled matrix. */
static double x_rewritten(const struct gr_way *w)
{
    const struct conv_shape *s = &w->shape;
    const double moved =
        (double)nn_conv_x_elems(s) + s->B * (double)nn_conv_k_elems(s) + outputs(w);
    return w->total.x_rewritten + fmax(0, w->copied_on_device - moved);
}

static double without_x_shared(const struct gr_way *w)
{
    return ratio(w->without_x_shared, outputs(w));
}

static double products(const struct gr_way *w)
{
    return ratio(w->products, taps(w) * outputs(w));
}

static double multiplications(const struct gr_way *w)
{
    const double all = w->total.products + w->total.other_products - w->total.idle_products;
    return ratio(all, taps(w) * outputs(w)); /* a tile may extend past the edges */
}

static double directly(const struct gr_way *w)
{
    return ratio(w->multiplying.direct_outputs, outputs(w));
}

static double largest_part(const struct gr_way *w)
{
    return ratio(w->largest_part, fmin(w->by_atomics, taps(w) * outputs(w)));
}

static double joined(const struct gr_way *w)
{
    return ratio(w->joined, outputs(w));
}

static double in_one_half(const struct gr_way *w)
{
    return ratio(fmax(w->lower, w->upper), fmax(taps(w) * outputs(w), w->lower + w->upper));
}

/* The products of matrix instructions and of threads without outputs do not count, nor do products
 * of the rest that rounding leaves of a factor. */
static double pairs_used(const struct gr_way *w)
{
    const struct gr_kernel_way *k = &w->multiplying;
    const double idle = k->idle_products - k->idle_singly;
    const double computed = k->paired_products - k->matrix_products - idle;
    const double needed = taps(w) * outputs(w);
    return computed > needed ? needed / computed : 1;
}

static double alone(const struct gr_way *w)
{
    const struct gr_kernel_way *k = &w->multiplying;
    return ratio(k->alone_products, k->products + k->other_products - k->idle_products);
}

static double matrix_read(const struct gr_way *w)
{
    return ratio(w->multiplying.buffer_words, outputs(w) / w->shape.M * taps(w));
}

static double joins(const struct gr_way *w)
{
    return ratio(w->joins, outputs(w));
}

/* The kernels that compute at least a tenth of the products. All others count as one kernel.
 * @param to  [GR_MAX_KERNELS + 1] @return their number */
static size_t large_kernels(const struct gr_way *w, struct gr_kernel_way *to)
{
    const double least = 0.1 * taps(w) * outputs(w);
    struct gr_kernel_way others = {.name = ""};
    size_t n = 0;
    for (size_t i = 0; i < w->kernels; i++) {
        if (w->kernel[i].products >= least)
            to[n++] = w->kernel[i];
        else if (w->kernel[i].products > 0)
            gr_kernel_way_add(&others, &w->kernel[i]);
    }
    if (others.products >= least)
        to[n++] = others;
    return n;
}

/* The number of products in a row; if there is no loop, all products of a thread, at most those of an
 * output. Products that y does not need do not make rows longer. */
static double products_in_a_row(const struct gr_way *w)
{
    const double part = fmin(1, ratio(taps(w) * outputs(w), w->multiplying.products));
    struct gr_kernel_way large[GR_MAX_KERNELS + 1];
    const size_t n = large_kernels(w, large);
    double least = taps(w);
    for (size_t i = 0; i < n; i++) {
        const struct gr_kernel_way *k = &large[i];
        if (k->loop_branches > 0)
            least = fmin(least, part * k->products / k->loop_branches);
        /* launches in a loop, or a thread for each product */
        least = fmin(least, part * ratio(k->products, k->product_threads));
    }
    return least;
}

/* The number of products that threads with outputs computed. Where their tiles extend past an edge,
 * they multiply by zeros, whose loads are not counted: these products count half, but not so much
 * that zeros replace a second output. */
static double made(const struct gr_kernel_way *k)
{
    const double useful = fmax(0, k->products - k->idle_products);
    const double padded = fmax(0, k->padded_products - k->idle_padded);
    return useful + fmin(padded / 2, 0.4 * useful);
}

/* Words of x and k that threads load per product (except to stage them), in the kernel that loads
 * most. The products counted are at most 3.5 times those that y needs, because tiles that extend
 * past an edge compute extra products. */
static double loads_per_product(const struct gr_way *w)
{
    const double part = fmin(1, ratio(3.5 * taps(w) * outputs(w), made(&w->multiplying)));
    struct gr_kernel_way large[GR_MAX_KERNELS + 1];
    const size_t n = large_kernels(w, large);
    double most = n ? 0 : 2;
    for (size_t i = 0; i < n; i++) {
        const struct gr_kernel_way *k = &large[i];
        const double direct = fmax(0, k->x_loads + k->k_loads - k->staged);
        most = fmax(most,
                    ratio(k->shared_loads + direct + k->exchanged - k->idle_loads, part * made(k)));
    }
    return most;
}

/* The minimum over the tensors that must be copied in each direction. */
static double copied(const struct gr_way *w)
{
    const struct conv_shape *s = &w->copied;
    const double in = (double)(nn_conv_x_elems(s) + nn_conv_k_elems(s)),
                 out = (double)nn_conv_y_elems(s);
    return fmin(1, fmin(ratio(w->copies.in_bytes / sizeof(float), in),
                        ratio(w->copies.out_bytes / sizeof(float), out)));
}

/* The share that comes from any source other than the harness's x. */
static double x_on_device(const struct gr_way *w)
{
    return share(w, w->x_buffer);
}

/* @return the share of the copy time of x, k and y that is overlapped. Extra bytes count as not
 * overlapped, and neither do copies in the other direction that may run beside them. */
static double copies_overlapped(const struct gr_way *w)
{
    const struct conv_shape *s = &w->copied;
    const double needed = (double)sizeof(float) *
                          (double)(nn_conv_x_elems(s) + nn_conv_k_elems(s) + nn_conv_y_elems(s));
    const double part = fmin(1, ratio(needed, w->copies.in_bytes + w->copies.out_bytes));
    const double extra_ns = (1 - part) * w->copies.copy_ns,
                 beside_ns = fmin(extra_ns, w->copies.crossing_ns);
    return fmax(0, ratio(w->copies.overlapped_ns - extra_ns - beside_ns, part * w->copies.copy_ns));
}

/* ---- facts that report more than a number ------------------------------------------------------ */

static void matrix_written(const struct gr_way *w, size_t layers, struct gr_evidence *to)
{
    const double wanted = outputs(w) / w->shape.M * taps(w);
    const double found = w->total.x_unrolled / wanted;
    (void)layers;
    say(to, found >= 0.9 && found <= 1.5, found,
        "launches that do not multiply wrote %.2f times the unrolled matrix of %.0f elements to global memory (must be about 1)",
        found, wanted);
}

static void one_kernel(const struct gr_way *w, size_t layers, struct gr_evidence *to)
{
    int found = 0;
    char names[128] = "";
    (void)layers;
    for (size_t i = 0; i < w->kernels; i++) {
        const struct gr_kernel_way *k = &w->kernel[i];
        bool is_instance = false; /* of the same template */
        for (size_t j = 0; j < i; j++)
            is_instance |= strcmp(w->kernel[j].name, k->name) == 0 &&
                           (w->kernel[j].x_loads > 0 || w->kernel[j].products > 0);
        if (is_instance || (k->x_loads == 0 && k->products == 0))
            continue;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.60s", found++ ? ", " : "", k->name);
    }
    say(to, found == 1, found, "%d kernel%s use%s x (must be 1): %s", found, found == 1 ? "" : "s",
        found == 1 ? "s" : "", names);
}

/* The share of a kernel's products that are computed by threads which need most of their products.
 * Tiles that extend past the edges compute others: in a layer that they fit, at least TILED. */
#define TILED 0.25
static double needed(const struct gr_kernel_way *k)
{
    return k->stored_products > 0 ? k->needed_products / k->stored_products : 1;
}

/* @return the share in the same kernel, or an instance of the same template, for another layer: its
 * tile may fit only there. Sums of one product do not show what a thread adds in a loop. */
static double needed_elsewhere(const struct gr_kernel_way *k, const struct gr_way *way)
{
    double most = 0;
    for (size_t i = 0; i < way->kernels && taps(way) > 1; i++) {
        const struct gr_kernel_way *other = &way->kernel[i];
        if (strcmp(other->name, k->name) == 0 && other->stored_products > 0)
            most = fmax(most, needed(other));
    }
    return most;
}

/* The share of the sums in scratch memory that y needs. */
static double kept_needed(const struct gr_way *w)
{
    const struct gr_kernel_way *k = &w->multiplying;
    return k->kept_products > 0 ? fmin(1, fmax(0, w->products - k->own_products) / k->kept_products)
                                : 1;
}

/* One layer alone cannot show that a kernel has no tiles. */
static void sums_stored(const struct gr_way *w, size_t layers, struct gr_evidence *to)
{
    const double loads = 1.4, most_kept = 0.55;
    const double kept = fmax(kept_needed(w), layers > 1 ? kept_needed(&w[1]) : 1);
    struct gr_kernel_way large[GR_MAX_KERNELS + 1];
    const size_t n = large_kernels(w, large);
    double found = 1;
    for (size_t i = 0; i < n; i++) {
        const struct gr_kernel_way *k = &large[i];
        const double stored = taps(w) * k->stored_outputs + kept_needed(w) * k->kept_products;
        const bool is_tiled = k->stored_loads <= loads * stored;
        const double share = fmax(needed(k), layers > 1 ? needed_elsewhere(k, &w[1]) : 1);
        const bool is_useless = k->kept_products > 0.1 * k->products && kept < most_kept;
        found = is_tiled ? found : fmin(found, is_useless ? 0 : share);
    }
    say(to, found >= TILED, found,
        "%.0f%% of the products were computed by threads that need most of their products for the outputs that they store (at least %.0f%%)",
        100 * found, 100 * TILED);
}

/* The kernel that does most of the work. */
static const struct gr_kernel_way *main_kernel(const struct gr_way *w)
{
    const struct gr_kernel_way *most = NULL;
    for (size_t i = 0; i < w->kernels; i++)
        if (!most || w->kernel[i].products > most->products)
            most = &w->kernel[i];
    return most;
}

/* Staged elements per block. They count only if products take x or k from them. */
static double staged(const struct gr_way *w)
{
    return fmax(x_shared(w), k_shared(w)) >= 0.1 ? main_kernel(w)->shared_words : 0;
}

/* Whether two layers stage equally many words. A layer with more input maps may stage a multiple: a
 * kernel may stage all maps, or a filter over all maps. */
static bool same_staged(const struct gr_way *a, const struct gr_way *b)
{
    const double p = staged(a), q = staged(b), times = ratio(p, q);
    return p == q || (times > 0 && times == floor(times) && times * b->shape.C <= a->shape.C);
}

/* Whether the threads of a block store outputs in the order of their numbers. */
static bool are_numbered(const struct gr_kernel_way *k)
{
    return k->outputs_in_order >= 0.9 * k->stored_outputs;
}

/* Whether two layers use the same kernel. Copies of a kernel count as one kernel: only different
 * tiles and registers make a difference. Threads that exit at once, unused memory, and threads for
 * which a plane is too small do not. */
static bool same_kernel(const struct gr_way *of_a, const struct gr_way *of_b)
{
    const struct gr_kernel_way *a = main_kernel(of_a), *b = main_kernel(of_b);
    const bool numbered = are_numbered(a) && are_numbered(b); /* so columns make no difference */
    const bool same_threads = a->multiplying_threads == b->multiplying_threads &&
                              (numbered || a->multiplying_columns == b->multiplying_columns);
    const bool same_block = a->threads == b->threads && (numbered || a->columns == b->columns);
    const bool is_useless = fmin(needed(a), needed(b)) < TILED; /* its code makes no difference */
    const bool same_code =
        a->product_sites == b->product_sites && fabs(a->working_sites - b->working_sites) <=
                                                    0.25 * fmax(a->working_sites, b->working_sites);
    return (same_threads || same_block) && same_staged(of_a, of_b) && (same_code || is_useless) &&
           a->store_sites == b->store_sites;
}

static void layers_differ(const struct gr_way *ways, size_t layers, struct gr_evidence *to)
{
    char text[2][160] = {"nothing", "nothing"};
    const struct gr_kernel_way *k[2] = {main_kernel(&ways[0]),
                                        layers > 1 ? main_kernel(&ways[1]) : NULL};
    for (int i = 0; i < 2; i++)
        if (k[i])
            snprintf(
                text[i], sizeof text[i],
                "%.30s, %.0f threads of a block multiply, in %.0f columns, %.0f words of x and k shared, %.0f multiply-adds in its code",
                k[i]->name, k[i]->multiplying_threads, k[i]->multiplying_columns,
                k[i]->shared_words, k[i]->product_sites);
    const bool differ = k[0] && k[1] && !same_kernel(&ways[0], &ways[1]);
    say(to, differ, differ, "%s: C=%d: %s; C=%d: %s",
        differ ? "different kernels or blocks for the two layers"
               : "the same kernel and blocks for both layers",
        ways[0].shape.C, text[0], layers > 1 ? ways[1].shape.C : 0, text[1]);
}

/* ---- facts in a rubric ----------------------------------------------------------------------- */

/* A fact: a number with its sentence, or a function that decides and reports. */
static const struct fact {
    const char *name;
    double (*number)(const struct gr_way *);
    double scale;
    const char *sentence;
    void (*tell)(const struct gr_way *, size_t, struct gr_evidence *);
    size_t layers;
} facts[] = {
#define FACT(name, scale, sentence) {#name, name, scale, sentence, NULL, 1},
#define JUDGED(name, layers)        {#name, NULL, 0, NULL, name, layers},
#include "grader/technique/facts.def"
};
enum { FACTS = sizeof facts / sizeof *facts };

static const struct fact *fact_called(const char *name)
{
    for (size_t i = 0; i < FACTS; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

static void look(const struct gr_bound *wanted, const struct fact *fact, const struct gr_way *ways,
                 size_t layers, struct gr_evidence *to)
{
    snprintf(to->fact, sizeof to->fact, "%s", fact->name);
    if (fact->tell) {
        fact->tell(ways, layers, to);
        return;
    }
    const bool is_most = wanted->relation == GR_AT_MOST;
    const double found = fact->number(ways);
    say(to, is_most ? found <= wanted->bound : found >= wanted->bound, found, fact->sentence,
        fact->scale * found, is_most ? "at most" : "at least", fact->scale * wanted->bound);
}

size_t gr_technique_facts(const struct gr_item *technique, const struct gr_way *ways, size_t layers,
                          struct gr_evidence *to)
{
    size_t n = 0;
    for (unsigned i = 0; i < (technique ? technique->facts_count : 1); i++) {
        struct gr_bound wanted;
        gr_bound_read(&wanted, technique ? technique->facts[i] : "work_on_gpu");
        const struct fact *fact = fact_called(wanted.fact);
        if (fact && layers >= fact->layers)
            look(&wanted, fact, ways, layers, &to[n++]);
    }
    return n;
}

/* @return the nth fact that a rubric requires, or NULL */
static const struct fact *required(const struct gr_item *technique, unsigned nth)
{
    struct gr_bound wanted;
    gr_bound_read(&wanted, technique->facts[nth]);
    return fact_called(wanted.fact);
}

bool gr_technique_compares_layers(const struct gr_item *technique)
{
    bool compares = false;
    for (unsigned i = 0; technique && i < technique->facts_count; i++) {
        const struct fact *fact = required(technique, i);
        compares |= fact && fact->layers > 1;
    }
    return compares;
}

bool gr_technique_looks_at_tiles(const struct gr_item *technique)
{
    bool looks = false;
    for (unsigned i = 0; technique && i < technique->facts_count; i++) {
        const struct fact *fact = required(technique, i);
        looks |= fact && fact->number == x_mixed;
    }
    return looks;
}

static enum st_code no_such(const char *what, const char *got, const char *expected,
                            const char *path, struct st_error *err)
{
    st_fail(err, ST_BAD_FORMAT, "rubric: item 'technique' has %s", what);
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED, "%s", expected);
    return st_detail(err, ST_GOT, "%s", got);
}

enum st_code gr_technique_known(const struct gr_item *technique, const char *path,
                                struct st_error *err)
{
    for (unsigned i = 0; i < technique->facts_count; i++) {
        struct gr_bound wanted;
        gr_bound_read(&wanted, technique->facts[i]);
        const struct fact *fact = fact_called(wanted.fact);
        if (!fact)
            return no_such("an unknown fact", technique->facts[i],
                           "a row of grader/technique/facts.def", path, err);
        if (fact->number && wanted.relation == GR_JUDGED)
            return no_such("a fact without its bound", technique->facts[i],
                           "a bound, as in x_shared >= 0.7", path, err);
        if (!fact->number && wanted.relation != GR_JUDGED)
            return no_such("a bound for a fact that has none", technique->facts[i],
                           "its name alone", path, err);
    }
    for (unsigned i = 0; i < technique->counted_count; i++)
        if (!gr_is_counter(technique->counted[i]))
            return no_such("an unknown counter", technique->counted[i],
                           "a counter of docs/trace.md", path, err);
    return ST_OK;
}
