/* Sets of marks are compared by the weight of their intersection divided by that of their union
 * (Jaccard). A mark weighs more if fewer submissions of the milestone have it: code that everyone
 * took from the lecture weighs almost nothing. The numbers in the source (tiles, blocks) weigh
 * little, because there are few ways to write a kernel of few instructions. */
#include "grader/similar/resemble.h"

#include "base/array_room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_RARE = 8, FEW = 3, FEW_OF = 8 };
#define NUMBERS_PART 0.3

const char *si_how_text(enum si_how how)
{
    static const char *const texts[] = {
#define SI_HOW_TEXT(name, text) text,
        SI_HOW_MAP(SI_HOW_TEXT)
#undef SI_HOW_TEXT
    };
    return texts[how];
}

const char *si_weak_text(const struct si_pair *pair)
{
    return pair->weak ? "; weak, because the code is short" : "";
}

/* ---- works ---------------------------------------------------------------------------------- */

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool make_set(struct si_set *to, const struct si_marks *marks)
{
    to->hash = calloc(marks->n + 1, sizeof *to->hash);
    to->weight = calloc(marks->n + 1, sizeof *to->weight);
    to->have = calloc(marks->n + 1, sizeof *to->have);
    if (!to->hash || !to->weight || !to->have)
        return false;
    for (size_t i = 0; i < marks->n; i++)
        to->hash[i] = marks->mark[i].hash;
    qsort(to->hash, marks->n, sizeof *to->hash, by_hash);
    for (size_t i = 0; i < marks->n; i++)
        if (!to->n || to->hash[to->n - 1] != to->hash[i])
            to->hash[to->n++] = to->hash[i];
    return true;
}

enum st_code si_work_add(struct si_class *class, const char *milestone, const char *name,
                         const char *source, const char *ptx, bool is_reference,
                         struct st_error *err)
{
    if (!ARRAY_ROOM(class->work, class->n))
        return st_fail(err, ST_NO_MEMORY, "cannot compare the class");
    struct si_work *w = &class->work[class->n++];
    struct si_marks numbers = {0};
    struct st_error why;
    *w = (struct si_work){.name = strdup(name),
                          .milestone = strdup(milestone),
                          .source = strdup(source),
                          .bytes = strlen(source),
                          .is_reference = is_reference};
    bool can = w->name && w->milestone && w->source &&
               !si_source_marks(&w->text, source, w->bytes, err) &&
               si_number_marks(&numbers, source, w->bytes);
    si_fingerprint(source, w->bytes, w->fingerprint);
    if (ptx && si_kernel_marks(&w->kernels, ptx, strlen(ptx), &why))
        si_marks_free(&w->kernels); /* damaged PTX is treated as missing */
    can = can && make_set(&w->words, &w->text) && make_set(&w->flow, &w->kernels) &&
          make_set(&w->numbers, &numbers);
    si_marks_free(&numbers);
    return can ? ST_OK : st_fail(err, ST_NO_MEMORY, "cannot compare %s", name);
}

static void free_set(struct si_set *set)
{
    free(set->hash);
    free(set->weight);
    free(set->have);
}

void si_class_free(struct si_class *class)
{
    for (size_t i = 0; i < class->n; i++) {
        struct si_work *w = &class->work[i];
        free(w->name);
        free(w->milestone);
        free(w->source);
        si_marks_free(&w->text);
        si_marks_free(&w->kernels);
        free_set(&w->words);
        free_set(&w->flow);
        free_set(&w->numbers);
    }
    free(class->work);
    free(class->pair);
    *class = (struct si_class){0};
}

const struct si_marks *si_marks_of(const struct si_work *work, enum si_how how)
{
    return how == SI_KERNELS ? &work->kernels : &work->text;
}

const struct si_set *si_set_of(const struct si_work *work, enum si_how how)
{
    return how == SI_KERNELS ? &work->flow : &work->words;
}

double si_weight(const struct si_set *set, uint64_t hash, unsigned *have)
{
    const uint64_t *at = set->n ? bsearch(&hash, set->hash, set->n, sizeof hash, by_hash) : NULL;
    *have = at ? set->have[at - set->hash] : 0;
    return at ? set->weight[at - set->hash] : 0;
}

/* ---- weights -------------------------------------------------------------------------------- */

/* Counts how many works have each hash: all hashes are put in one sorted list, so that equal hashes
 * are neighbours. */
static bool weigh(struct si_work *work, size_t n, enum si_how how)
{
    size_t all = 0, used = 0;
    for (size_t i = 0; i < n; i++)
        all += si_set_of(&work[i], how)->n;
    uint64_t *hash = calloc(all + 1, sizeof *hash);
    for (size_t i = 0; i < n && hash; i++) {
        const struct si_set *set = si_set_of(&work[i], how);
        memcpy(hash + used, set->hash, set->n * sizeof *hash);
        used += set->n;
    }
    if (hash)
        qsort(hash, all, sizeof *hash, by_hash);
    for (size_t i = 0; i < n && hash; i++) {
        struct si_set *set = how == SI_KERNELS ? &work[i].flow : &work[i].words;
        size_t at = 0;
        set->total = 0;
        for (size_t k = 0; k < set->n; k++) {
            while (hash[at] != set->hash[k])
                at++;
            for (set->have[k] = 0; at < all && hash[at] == set->hash[k]; at++)
                set->have[k]++;
            const unsigned others = set->have[k] > 1 ? set->have[k] - 1 : 1;
            set->weight[k] = log((double)(n + 1) / others);
            set->total += set->weight[k];
        }
    }
    const bool can = hash != NULL;
    free(hash);
    return can;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* The weight of the marks that two sets have in common. @param few  a mark is rare if at most this
 * many works have it */
static double shared(const struct si_set *a, const struct si_set *b, unsigned few, size_t *rare)
{
    double sum = 0;
    *rare = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        if (a->hash[i] == b->hash[k]) {
            sum += a->weight[i];
            *rare += a->have[i] <= few;
        }
        const bool first = a->hash[i] <= b->hash[k], second = b->hash[k] <= a->hash[i];
        i += first;
        k += second;
    }
    return sum;
}

static double likeness(const struct si_set *a, const struct si_set *b, unsigned few, size_t *rare)
{
    const double both = shared(a, b, few, rare), all = a->total + b->total - both;
    return all > 0 ? both / all : 0;
}

static double numbers_likeness(const struct si_work *a, const struct si_work *b)
{
    size_t both = 0;
    for (size_t i = 0, k = 0; i < a->numbers.n && k < b->numbers.n;) {
        const uint64_t x = a->numbers.hash[i], y = b->numbers.hash[k];
        both += x == y;
        i += x <= y;
        k += y <= x;
    }
    const size_t all = a->numbers.n + b->numbers.n - both;
    return all ? (double)both / (double)all : 1;
}

/* Equal code is evidence only if it takes many decisions to write it. The shorter source counts,
 * because a copy may contain unused code. Sources that are equal byte for byte also have their
 * comments and layout in common. */
static bool is_weak(const struct si_class *class, const struct si_pair *pair)
{
    const size_t a = class->work[pair->a].words.n, b = class->work[pair->b].words.n,
                 size = a < b ? a : b;
    return pair->how != SI_IDENTICAL &&
           (size < SI_SHORT || (size < SI_MEDIUM && pair->score < SI_ALMOST_EQUAL));
}

static bool add_pair(struct si_class *class, struct si_pair pair)
{
    pair.weak = is_weak(class, &pair);
    if (!ARRAY_ROOM(class->pair, class->pairs))
        return false;
    class->pair[class->pairs++] = pair;
    return true;
}

static bool is_cuda(const struct si_work *work)
{
    return strstr(work->source, "__global__") != NULL;
}

/* @return whether two works resemble each other, and how. @param n  number of the milestone's
 * works */
static bool compare_two(const struct si_class *class, struct si_pair *pair, size_t n)
{
    const struct si_work *a = &class->work[pair->a], *b = &class->work[pair->b];
    const double kernels = class->least > 0 ? class->least
                           : is_cuda(a)     ? SI_KERNELS_ALIKE
                                            : SI_C_ALIKE,
                 text = class->least > 0 ? class->least : SI_TEXT_ALIKE;
    const unsigned few = n / FEW_OF > FEW ? (unsigned)(n / FEW_OF) : FEW;
    pair->how = SI_KERNELS;
    pair->score = likeness(&a->flow, &b->flow, few, &pair->rare) *
                  (1 - NUMBERS_PART + NUMBERS_PART * numbers_likeness(a, b));
    if (pair->score >= kernels && pair->rare >= LEAST_RARE)
        return true;
    pair->how = SI_TEXT;
    pair->score = likeness(&a->words, &b->words, few, &pair->rare);
    return pair->score >= text && pair->rare >= LEAST_RARE;
}

static bool is_identical(const struct si_work *a, const struct si_work *b)
{
    return a->bytes == b->bytes && memcmp(a->source, b->source, a->bytes) == 0;
}

static bool is_renamed(const struct si_work *a, const struct si_work *b)
{
    return a->fingerprint[0] && strcmp(a->fingerprint, b->fingerprint) == 0;
}

/* @return the index of the first work that is equal to @p b; @p b if there is none before it */
static size_t first_same(const struct si_work *work, size_t first, size_t b, enum si_how *how)
{
    for (size_t a = first; a < b; a++)
        if (is_identical(&work[a], &work[b])) {
            *how = SI_IDENTICAL;
            return a;
        }
    for (size_t a = first; a < b; a++)
        if (is_renamed(&work[a], &work[b])) {
            *how = SI_RENAMED;
            return a;
        }
    return b;
}

/* Compares the works of a milestone. Of a group of works that are equal except for names, only the
 * first is compared with others. */
static bool compare_milestone(struct si_class *class, size_t first, size_t end)
{
    bool *stands_for_itself = calloc(end - first + 1, sizeof(bool)),
         can = stands_for_itself != NULL;
    can = can && weigh(class->work + first, end - first, SI_KERNELS) &&
          weigh(class->work + first, end - first, SI_TEXT);
    for (size_t b = first; b < end && can; b++) {
        struct si_pair pair = {.b = b, .score = 1};
        pair.a = first_same(class->work, first, b, &pair.how);
        stands_for_itself[b - first] = pair.a == b;
        if (pair.a < b)
            can = add_pair(class, pair);
        for (size_t a = first; a < b && can && pair.a == b; a++) {
            struct si_pair other = {.a = a, .b = b};
            if (stands_for_itself[a - first] && compare_two(class, &other, end - first))
                can = add_pair(class, other);
        }
    }
    free(stands_for_itself);
    return can;
}

static int by_likeness(const void *a, const void *b)
{
    const struct si_pair *x = a, *y = b;
    if (x->weak != y->weak)
        return x->weak ? 1 : -1;
    if (x->how != y->how)
        return x->how < y->how ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

/* Orders works. The reference comes first, so that a group that contains it is named after it. */
static int by_milestone(const void *a, const void *b)
{
    const struct si_work *x = a, *y = b;
    const int milestones = strverscmp(x->milestone, y->milestone);
    return milestones                           ? milestones
           : x->is_reference != y->is_reference ? (x->is_reference ? -1 : 1)
                                                : strcmp(x->name, y->name);
}

enum st_code si_compare(struct si_class *class, struct st_error *err)
{
    class->pairs = class->without_kernels = class->without_code = 0;
    if (class->n)
        qsort(class->work, class->n, sizeof *class->work, by_milestone);
    for (size_t first = 0, end; first < class->n; first = end) {
        for (end = first; end < class->n &&
                          strcmp(class->work[end].milestone, class->work[first].milestone) == 0;
             end++)
            if (!class->work[end].kernels.n)
                ++*(is_cuda(&class->work[end]) ? &class->without_kernels : &class->without_code);
        const size_t pairs = class->pairs;
        if (!compare_milestone(class, first, end))
            return st_fail(err, ST_NO_MEMORY, "cannot compare the class");
        if (class->pairs > pairs)
            qsort(class->pair + pairs, class->pairs - pairs, sizeof *class->pair, by_likeness);
    }
    return ST_OK;
}
