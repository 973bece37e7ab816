/* Describes a change in words. */
#include "grader/history/compare_versions.h"

#include "grader/record/timing.h"

#include <math.h>
#include <string.h>

/* Smaller relative changes are not worth mentioning. */
static const double LITTLE = 0.02;

/* ---- times ------------------------------------------------------------------------------------ */

bool hi_is_comparable(const struct gr_result *a, const struct gr_result *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->profile, b->profile) == 0 &&
           strcmp(a->machine, b->machine) == 0 && strcmp(a->model_hash, b->model_hash) == 0;
}

const char *hi_time_words(char to[HI_WORDS], double before, double after, double noise)
{
    const double ratio = after / before;
    if (!isfinite(ratio) || !(ratio > 0))
        snprintf(to, HI_WORDS, "-");
    else if (fabs(ratio - 1) <= fmax(noise, 0.0005))
        snprintf(to, HI_WORDS, "%s", noise > 0 ? "equal within noise" : "equal");
    else if (ratio <= 0.5)
        snprintf(to, HI_WORDS, "%.1f times as fast", 1 / ratio);
    else if (ratio >= 2)
        snprintf(to, HI_WORDS, "%.1f times as slow", ratio);
    else
        snprintf(to, HI_WORDS, "%.*f%% %s", fabs(ratio - 1) < 0.01, 100 * fabs(ratio - 1),
                 ratio < 1 ? "faster" : "slower");
    return to;
}

double hi_op_time(const struct gr_result *r, size_t images, int layer, double *noise)
{
    enum { LEAST_PERCENT = 3 }; /* noise of a measured time, even if it was measured only once */
    double seconds = NAN;
    *noise = strcmp(r->device, "virtual") == 0 ? 0 : LEAST_PERCENT / 100.0;
    for (size_t i = 0; i < r->inferences; i++)
        if (r->inference[i].images == images && r->inference[i].passed &&
            layer <= r->inference[i].convs)
            seconds = r->inference[i].op_time_s[layer - 1];
    for (size_t i = 0; i < r->timings; i++)
        if (gr_timing_size(&r->timing[i]) == images && r->timing[i].layer == layer &&
            r->timing[i].median_s == seconds)
            *noise = fmax(*noise, gr_timing_uncertainty(&r->timing[i]));
    return seconds;
}

/* ---- counts ----------------------------------------------------------------------------------- */

/* "shared loads" */
static const char *count_name(enum hi_count count)
{
    static const char *const names[] = {
#define COUNT(name, words, ...) words,
#include "grader/history/counts.def"
#undef COUNT
    };
    return names[count];
}

/* The words for a ratio below 1, if there are any; otherwise NULL. */
static const char *fraction(double ratio)
{
    static const struct {
        double ratio;
        const char *words;
    } names[] = {{0.25, "three quarters fewer"}, {1.0 / 3, "two thirds fewer"},
                 {0.5, "half as many"},          {2.0 / 3, "a third fewer"},
                 {0.75, "a quarter fewer"},      {1.25, "a quarter more"},
                 {1.5, "1.5 times as many"},     {2, "twice as many"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fabs(ratio / names[i].ratio - 1) < 0.01)
            return names[i].words;
    return NULL;
}

const char *hi_count_words(char to[HI_WORDS], enum hi_count count, double before, double after)
{
    const char *name = count_name(count);
    const double ratio = before > 0 ? after / before : INFINITY;
    if (fraction(ratio))
        snprintf(to, HI_WORDS, "%s %s", fraction(ratio), name);
    else if (!(before > 0))
        snprintf(to, HI_WORDS, "new %s", name);
    else if (!(after > 0))
        snprintf(to, HI_WORDS, "no longer any %s", name);
    else if (ratio >= 2)
        snprintf(to, HI_WORDS, "%.3g times as many %s", ratio, name);
    else
        snprintf(to, HI_WORDS, "%.*f%% %s %s", fabs(ratio - 1) < 0.1, 100 * fabs(ratio - 1),
                 ratio < 1 ? "fewer" : "more", name);
    return to;
}

static double ratio_of(const struct hi_line *l, enum hi_count c)
{
    return l->count[HI_AFTER][c] / fmax(l->count[HI_BEFORE][c], 1e-9);
}

/* Whether a line's count changed enough to explain the change of the kernel. */
static bool is_telling(const struct hi_kernel *k, const struct hi_line *l, enum hi_count c)
{
    const double before = l->count[HI_BEFORE][c], after = l->count[HI_AFTER][c];
    const double all = fmax(k->total.count[HI_BEFORE][c], k->total.count[HI_AFTER][c]);
    return fabs(after - before) > LITTLE * all && fabs(after - before) > LITTLE * before;
}

/* Leaves out counts that add no information: sectors and wavefronts that changed like their
 * accesses, and instructions if accesses are among them. */
size_t hi_line_counts(const struct hi_kernel *k, const struct hi_line *l,
                      enum hi_count to[HI_COUNTS])
{
    size_t n = 0;
    for (int c = 0; c < HI_COUNTS; c++) {
        if (!is_telling(k, l, (enum hi_count)c) || (c == HI_INSTRUCTIONS && n))
            continue;
        bool repeats = false;
        for (size_t i = 0; i < n && !repeats; i++)
            repeats = fabs(ratio_of(l, (enum hi_count)c) / ratio_of(l, to[i]) - 1) < 0.01 &&
                      (c == HI_LOAD_SECTORS || c == HI_STORE_SECTORS || c == HI_LOAD_WAVEFRONTS ||
                       c == HI_STORE_WAVEFRONTS);
        if (!repeats)
            to[n++] = (enum hi_count)c;
    }
    return n;
}

/* ---- segments and kernels -------------------------------------------------------------------- */

static void put_lines(char to[48], int first, int last)
{
    if (first > last)
        snprintf(to, 48, "no line");
    else if (first == last)
        snprintf(to, 48, "line %d", first);
    else
        snprintf(to, 48, "lines %d-%d", first, last);
}

const char *hi_place_words(char to[HI_WORDS], const struct hi_place *p)
{
    char before[48], after[48];
    if (!p->before && !p->after)
        return snprintf(to, HI_WORDS, "whole kernel"), to;
    put_lines(before, p->before, p->before_last);
    put_lines(after, p->after, p->after_last);
    if (p->after > p->after_last)
        snprintf(to, HI_WORDS, "%s (removed)", before);
    else if (!p->changed || strcmp(before, after) == 0)
        snprintf(to, HI_WORDS, "%s", after);
    else if (p->before > p->before_last)
        snprintf(to, HI_WORDS, "%s (new)", after);
    else
        snprintf(to, HI_WORDS, "%s (%s before)", after, before);
    return to;
}

/* Whether the change of the segment's time contributes to the change of the kernel's time. */
static bool is_cause(const struct hi_kernel *k, const struct hi_line *l)
{
    return (l->ns[HI_AFTER] - l->ns[HI_BEFORE]) * (k->ns[HI_AFTER] - k->ns[HI_BEFORE]) > 0;
}

static void put_count(FILE *out, const struct hi_line *l, enum hi_count count)
{
    char words[HI_WORDS], place[HI_WORDS];
    fputs(hi_count_words(words, count, l->count[HI_BEFORE][count], l->count[HI_AFTER][count]), out);
    if (l->place.before || l->place.after)
        fprintf(out, " at %s", hi_place_words(place, &l->place));
}

/* Writes the first count of a segment; for a rewritten kernel, all counts. */
static void put_causes(FILE *out, const struct hi_kernel *k)
{
    enum { CAUSES = 3 };
    enum hi_count counts[HI_COUNTS];
    size_t causes = 0;
    for (size_t i = 0; i < k->n; i++) {
        const struct hi_line *l = &k->line[i];
        const bool whole = !l->place.before && !l->place.after;
        const size_t n = whole || is_cause(k, l) ? hi_line_counts(k, l, counts) : 0;
        for (size_t j = 0; j < n && causes < CAUSES && (whole || !j); j++) {
            fputs(causes++ ? "; " : ": ", out);
            put_count(out, l, counts[j]);
        }
    }
}

void hi_kernel_sentence(FILE *out, const struct hi_kernel *k)
{
    char words[HI_WORDS];
    fprintf(out, "%.*s", (int)strcspn(k->name, "("), k->name);
    if (k->earlier[0])
        fprintf(out, " (%.*s before)", (int)strcspn(k->earlier, "("), k->earlier);
    if (!k->ns[HI_BEFORE] || !k->ns[HI_AFTER]) {
        fputs(k->ns[HI_AFTER] ? " is new" : " no longer runs", out);
        return;
    }
    fprintf(out, " %s", hi_time_words(words, k->ns[HI_BEFORE], k->ns[HI_AFTER], 0));
    put_causes(out, k);
}
