/* Compares the profiles of two versions, kernel by kernel, and within a kernel by segments of the
 * source.
 *
 *     parts.tsv               the profiled sizes, and whether lines were counted
 *     analysis.tsv            a kernel's times and its limiter
 *     lines.tsv               a line's share of its kernel's time
 *     counters-N.tsv          a line's counters
 */
#include "grader/history/compare_versions.h"

#include "base/array_room.h"
#include "base/checkout.h"
#include "base/files.h"
#include "exercise/exercise.h"
#include "base/tsv.h"
#include "base/shown_path.h"
#include "trace/demangle.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE_BYTES = 1 << 20, SIZES = 32 };

static double number(const struct tsv *t, size_t row, const char *column)
{
    const double value = strtod(tsv_text(t, row, column), NULL);
    return isfinite(value) ? value : 0;
}

static bool read_table(const struct hi_version *v, const char *name, struct tsv *t)
{
    char path[PATH_MAX];
    *t = (struct tsv){0};
    return path_format(path, sizeof path, "%s/profile/%s", v->folder, name) &&
           !tsv_read(path, t, NULL);
}

static void add_missing(struct hi_change *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_missing(struct hi_change *c, const char *format, ...)
{
    const size_t used = strlen(c->missing);
    va_list args;
    va_start(args, format);
    if (used)
        snprintf(c->missing + used, sizeof c->missing - used, "; ");
    vsnprintf(c->missing + strlen(c->missing), sizeof c->missing - strlen(c->missing), format,
              args);
    va_end(args);
}

/* ---- the size ------------------------------------------------------------------------------- */

static bool is_profiled_at(const struct tsv *parts, long images)
{
    for (size_t row = 0; row < parts->rows; row++)
        if (number(parts, row, "images") == images &&
            strcmp(tsv_text(parts, row, "part"), "trace") == 0 &&
            strcmp(tsv_text(parts, row, "state"), "here") == 0)
            return true;
    return false;
}

/* Writes the command that profiles a version. */
static void ask_for_profile(struct hi_change *c, int side)
{
    const struct hi_version *v = &c->version[side];
    const char *name = strrchr(c->result[side]->source, '/');
    char here[PATH_MAX];
    add_missing(
        c, "%.8s was not profiled (to profile it: ./grader %s --quick --profile --source %s%s)",
        v->hash, c->result[side]->milestone, checkout_from_here(v->folder, here),
        name ? name : "/conv.cu");
}

static void choose_size(struct hi_change *c)
{
    struct tsv parts[2];
    bool profiled[2];
    for (int side = 0; side < 2; side++)
        profiled[side] = read_table(&c->version[side], "parts.tsv", &parts[side]);
    for (size_t row = 0; profiled[0] && profiled[1] && row < parts[0].rows; row++) {
        const long images = (long)number(&parts[0], row, "images");
        if (images > c->images && is_profiled_at(&parts[0], images) &&
            is_profiled_at(&parts[1], images))
            c->images = images;
    }
    if (strcmp(c->result[0]->device, "cpu") == 0)
        add_missing(c, "a program on the CPU has no kernels");
    else if (profiled[0] && profiled[1] && !c->images)
        add_missing(c, "the two versions were profiled at different sizes");
    for (int side = 0; side < 2 && strcmp(c->result[0]->device, "cpu") != 0; side++)
        if (!profiled[side])
            ask_for_profile(c, side);
    tsv_free(&parts[0]);
    tsv_free(&parts[1]);
}

/* ---- kernels ---------------------------------------------------------------------------------- */

/* The kernel with this name on one side, or NULL. */
static struct hi_kernel *kernel_of(struct hi_change *c, const char *name, int side)
{
    for (size_t i = 0; i < c->kernels; i++) {
        struct hi_kernel *k = &c->kernel[i];
        if (strcmp(side == HI_BEFORE && k->earlier[0] ? k->earlier : k->name, name) == 0)
            return k;
    }
    return NULL;
}

/* As kernel_of(), but adds the kernel if it is missing; NULL: no space left. */
static struct hi_kernel *kernel_made(struct hi_change *c, const char *name, int side)
{
    struct hi_kernel *known = kernel_of(c, name, side);
    if (known)
        return known;
    if (c->kernels == HI_KERNELS || strlen(name) >= HI_NAME)
        return NULL;
    struct hi_kernel *k = &c->kernel[c->kernels++];
    snprintf(k->name, sizeof k->name, "%s", name);
    return k;
}

/* Adds up the launches; a kernel's limiter is that of its longest launch. */
static void read_kernels(struct hi_change *c, int side)
{
    struct tsv t;
    double longest[HI_KERNELS] = {0};
    const bool there = read_table(&c->version[side], "analysis.tsv", &t);
    for (size_t row = 0; there && row < t.rows; row++) {
        if (number(&t, row, "images") != c->images)
            continue;
        struct hi_kernel *k = kernel_made(c, tsv_text(&t, row, "kernel"), side);
        const double ns = number(&t, row, "total_ns");
        if (!k)
            continue;
        k->ns[side] += ns;
        if (ns > longest[k - c->kernel]) {
            longest[k - c->kernel] = ns;
            snprintf(k->limit[side], sizeof k->limit[side], "%s", tsv_text(&t, row, "title"));
        }
    }
    tsv_free(&t);
}

/* The only kernel of a side that has no counterpart of the same name; NULL: none, or several. */
static struct hi_kernel *only_one(struct hi_change *c, int side)
{
    struct hi_kernel *found = NULL;
    for (size_t i = 0; i < c->kernels; i++)
        if (c->kernel[i].ns[side] > 0 && !(c->kernel[i].ns[1 - side] > 0)) {
            if (found)
                return NULL;
            found = &c->kernel[i];
        }
    return found;
}

/* If one kernel disappeared and one appeared, treats them as one kernel that was renamed. */
static void pair_renamed(struct hi_change *c)
{
    struct hi_kernel *gone = only_one(c, HI_BEFORE), *came = only_one(c, HI_AFTER);
    if (!gone || !came)
        return;
    snprintf(came->earlier, sizeof came->earlier, "%s", gone->name);
    came->ns[HI_BEFORE] = gone->ns[HI_BEFORE];
    snprintf(came->limit[HI_BEFORE], sizeof came->limit[HI_BEFORE], "%s", gone->limit[HI_BEFORE]);
    memmove(gone, gone + 1, (size_t)(&c->kernel[--c->kernels] - gone) * sizeof *gone);
    memset(&c->kernel[c->kernels], 0, sizeof *c->kernel);
}

/* ---- lines ------------------------------------------------------------------------------------ */

static bool is_source(const struct hi_change *c, int side, const char *file)
{
    return strcmp(path_base(file), path_base(c->result[side]->source)) == 0;
}

/* The segment of a kernel's line, added if needed; NULL if the line is not in the source. */
static struct hi_line *line_of(const struct hi_change *c, struct hi_kernel *k, int side,
                               const struct tsv *t, size_t row)
{
    const int place = is_source(c, side, tsv_text(t, row, "file"))
                          ? line_match_place(&c->match, side, (int)number(t, row, "line"))
                          : -1;
    if (place < 0)
        return NULL;
    const struct hi_place *p = &c->match.place[place];
    for (size_t i = 0; i < k->n; i++)
        if (memcmp(&k->line[i].place, p, sizeof *p) == 0)
            return &k->line[i];
    if (!ARRAY_ROOM(k->line, k->n))
        return NULL;
    k->line[k->n] = (struct hi_line){.place = *p};
    return &k->line[k->n++];
}

static void add_counts(double to[HI_COUNTS], const struct tsv *t, size_t row)
{
    static const char *const columns[HI_COUNTS][3] = {
#define COUNT(name, words, ...) {__VA_ARGS__},
#include "grader/history/counts.def"
#undef COUNT
    };
    for (int i = 0; i < HI_COUNTS; i++)
        for (int k = 0; k < 3 && columns[i][k]; k++)
            to[i] += number(t, row, columns[i][k]);
}

static void read_counters(struct hi_change *c, int side)
{
    char name[64], kernel[HI_NAME];
    struct tsv t;
    snprintf(name, sizeof name, "counters-%ld.tsv", c->images);
    if (!read_table(&c->version[side], name, &t))
        add_missing(c, "%.8s has no counters by source line; only the virtual GPU writes them",
                    c->version[side].hash);
    for (size_t row = 0; row < t.rows; row++) {
        const char *symbol = tsv_text(&t, row, "symbol");
        if (!demangle(symbol, kernel, sizeof kernel))
            snprintf(kernel, sizeof kernel, "%s", symbol);
        struct hi_kernel *k = kernel_of(c, kernel, side);
        const bool whole = !tsv_text(&t, row, "file")[0];
        struct hi_line *l = !k ? NULL : whole ? &k->total : line_of(c, k, side, &t, row);
        if (l)
            add_counts(l->count[side], &t, row);
    }
    tsv_free(&t);
}

static void read_shares(struct hi_change *c, int side)
{
    struct tsv t;
    const bool there = read_table(&c->version[side], "lines.tsv", &t);
    for (size_t row = 0; there && row < t.rows; row++) {
        if (number(&t, row, "images") != c->images)
            continue;
        struct hi_kernel *k = kernel_of(c, tsv_text(&t, row, "kernel"), side);
        struct hi_line *l = k ? line_of(c, k, side, &t, row) : NULL;
        if (l)
            l->ns[side] += number(&t, row, "share") * k->ns[side];
    }
    tsv_free(&t);
}

static int by_difference(const void *a, const void *b)
{
    const struct hi_line *x = a, *y = b;
    const double p = fabs(x->ns[1] - x->ns[0]), q = fabs(y->ns[1] - y->ns[0]);
    return p != q ? (p < q ? 1 : -1) : x->place.after - y->place.after;
}

/* Whether most of a kernel is in rewritten segments, whose lines then prove nothing. */
static bool is_rewritten(const struct hi_kernel *k)
{
    double rewritten[2] = {0};
    for (size_t i = 0; i < k->n; i++) {
        const struct hi_place *p = &k->line[i].place;
        for (int side = 0; side < 2; side++)
            if (p->before_last - p->before != p->after_last - p->after)
                rewritten[side] += k->line[i].count[side][HI_INSTRUCTIONS];
    }
    return rewritten[0] > k->total.count[0][HI_INSTRUCTIONS] / 2 &&
           rewritten[1] > k->total.count[1][HI_INSTRUCTIONS] / 2;
}

/* Keeps only the lines that differ; for a rewritten kernel, a single segment with the whole
 * kernel. */
static void rank_lines(struct hi_kernel *k)
{
    enum hi_count ignored[HI_COUNTS];
    size_t n = 0;
    if (is_rewritten(k))
        k->line[0] = k->total, k->n = 1;
    for (size_t i = 0; i < k->n; i++)
        if (hi_line_counts(k, &k->line[i], ignored))
            k->line[n++] = k->line[i];
    k->n = n;
    if (n)
        qsort(k->line, n, sizeof *k->line, by_difference);
}

static int by_time(const void *a, const void *b)
{
    const struct hi_kernel *x = a, *y = b;
    const double p = fmax(x->ns[0], x->ns[1]), q = fmax(y->ns[0], y->ns[1]);
    return p != q ? (p < q ? 1 : -1) : strcmp(x->name, y->name);
}

/* ---- both versions -------------------------------------------------------------------------- */

static char *source_of(const struct hi_change *c, int side)
{
    const char *const ends[] = {"cu", "c"};
    char path[PATH_MAX], *text = NULL;
    size_t bytes;
    for (size_t i = 0; exercise_at(i / 2) && !text; i++)
        if (path_format(path, sizeof path, "%s/%s.%s", c->version[side].folder,
                        exercise_at(i / 2)->file, ends[i % 2]))
            file_read(path, MOST_SOURCE_BYTES, &text, &bytes, NULL);
    return text;
}

static enum st_code match_sources(struct hi_change *c, struct st_error *err)
{
    char *before = source_of(c, HI_BEFORE), *after = source_of(c, HI_AFTER);
    bool good = true;
    if (before && after)
        good = line_match_make(&c->match, before, after);
    else
        add_missing(c, "the source of a library is not known");
    free(before);
    free(after);
    return good ? ST_OK : st_fail(err, ST_NO_MEMORY, "out of memory for two sources");
}

enum st_code hi_change_find(struct hi_change *c, struct st_error *err)
{
    enum st_code code = match_sources(c, err);
    if (code)
        return code;
    if (!hi_is_comparable(c->result[0], c->result[1])) {
        add_missing(
            c, "times are not compared: the two versions ran on different devices or networks");
        return ST_OK;
    }
    choose_size(c);
    for (int side = 0; side < 2 && c->images; side++)
        read_kernels(c, side);
    pair_renamed(c);
    for (int side = 0; side < 2 && c->images; side++) {
        read_counters(c, side);
        read_shares(c, side);
    }
    for (size_t i = 0; i < c->kernels; i++)
        rank_lines(&c->kernel[i]);
    qsort(c->kernel, c->kernels, sizeof *c->kernel, by_time);
    return ST_OK;
}
