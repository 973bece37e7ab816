/* timeline: the host's requests, the copies and the kernels of a trace. Copies take most of a run
 * and kernels little, so the plot has an overview of the whole run and, below it, an enlarged view
 * of each period in which kernels ran.
 *
 *     overview  API     ###  ##  ###########  #
 *               copies  ==========   |======A|=========
 *               kernels              |   #   |
 *     A         API     | launch | sync     |
 *               copies  ====
 *               kernels      [ 1           ]
 *
 *     panel   lane   kind   begin   end   label       (panel 0: the overview) */
#include "grader/plots/plot_parts.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_WINDOWS = 3,
    MAX_NAMES = 8,
    WIDE = 420, /* width of a panel in pixels, as in timeline.gp */
    CHAR = 9    /* width of a letter in a box, in pixels */
};

/* The kinds of rows, in the order of the key. From bottom to top, the lanes are kernels, copies and
 * API. */
static const struct {
    enum tr_kind kind;
    int lane;
} kinds[] = {{TR_API, 2},       {TR_COPY_HTOD, 1}, {TR_COPY_DTOH, 1},
             {TR_COPY_DTOD, 1}, {TR_MEMSET, 1},    {TR_KERNEL, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Times are in ns since the first event of the trace. */
struct window {
    double begin, end, kernel_ns;
};

struct timeline {
    const struct tr_row **row; /* sorted by begin */
    size_t n;
    double first, whole;
    size_t windows;
    struct window window[MAX_WINDOWS];
    size_t stretches; /* number of periods with kernels; the windows show the longest */
    const char *name[MAX_NAMES];
    size_t names;
    bool has[KINDS];
};

static int by_begin(const void *a, const void *b)
{
    const struct tr_row *x = *(const struct tr_row *const *)a,
                        *y = *(const struct tr_row *const *)b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static double begin_of(const struct timeline *t, const struct tr_row *row)
{
    return (double)row->start_ns - t->first;
}

static double end_of(const struct timeline *t, const struct tr_row *row)
{
    return (double)(row->end_ns > row->start_ns ? row->end_ns : row->start_ns) - t->first;
}

static size_t kind_of(const struct tr_row *row)
{
    size_t i = 0;
    while (i < KINDS && kinds[i].kind != row->kind)
        i++;
    return i;
}

/* The number of a kernel's name, from 1; 0 if there are too many names. */
static size_t number_of(struct timeline *t, const struct tr_row *row)
{
    for (size_t i = 0; i < t->names; i++)
        if (strcmp(t->name[i], row->name) == 0)
            return i + 1;
    if (t->names == MAX_NAMES)
        return 0;
    t->name[t->names++] = row->name;
    return t->names;
}

/* ---- windows -------------------------------------------------------------------------------- */

static void keep_window(struct timeline *t, const struct window *w)
{
    t->stretches++;
    if (t->windows < MAX_WINDOWS) {
        t->window[t->windows++] = *w;
        return;
    }
    size_t least = 0;
    for (size_t i = 1; i < MAX_WINDOWS; i++)
        if (t->window[i].kernel_ns < t->window[least].kernel_ns)
            least = i;
    if (w->kernel_ns <= t->window[least].kernel_ns)
        return;
    memmove(&t->window[least], &t->window[least + 1], (MAX_WINDOWS - 1 - least) * sizeof *w);
    t->window[MAX_WINDOWS - 1] = *w;
}

/* Finds the windows. Kernels with gaps shorter than their own times form one period. The calls that
 * launched them are also shown, unless they were made much earlier. */
static void find_windows(struct timeline *t)
{
    struct window now = {0};
    bool open = false;
    for (size_t i = 0; i < t->n; i++) {
        if (t->row[i]->kind != TR_KERNEL)
            continue;
        double begin = begin_of(t, t->row[i]), end = end_of(t, t->row[i]);
        if (open && begin - now.end <= fmax(now.end - now.begin, end - begin)) {
            now.end = fmax(now.end, end);
            now.kernel_ns += end - begin;
            continue;
        }
        if (open)
            keep_window(t, &now);
        now = (struct window){begin, end, end - begin};
        open = true;
    }
    if (open)
        keep_window(t, &now);
    for (size_t i = 0; i < t->windows; i++) {
        struct window *w = &t->window[i];
        double margin = fmax(0.2 * (w->end - w->begin), 2000);
        for (size_t k = 0; k < t->n; k++)
            if (t->row[k]->kind == TR_API && begin_of(t, t->row[k]) < w->begin &&
                end_of(t, t->row[k]) > w->begin - margin)
                margin = fmin(fmax(margin, w->begin - begin_of(t, t->row[k])),
                              0.6 * (w->end - w->begin) + 2000);
        w->begin = fmax(0, w->begin - margin);
        w->end = fmin(t->whole, w->end + margin);
    }
    if (t->windows == 1 && t->window[0].end - t->window[0].begin > 0.6 * t->whole)
        t->windows = 0; /* the overview already shows everything */
}

/* ---- data ----------------------------------------------------------------------------------- */

/* A box. Boxes that are too close to be distinguished become one. */
struct box {
    double begin, end;
    size_t count;
    const char *name; /* of its longest part, */
    double named;     /* and the length of this part */
    size_t number;
};

static void put_box(FILE *out, int panel, const struct window *w, double unit, size_t kind,
                    const struct box *b)
{
    double least = 0.003 * (w->end - w->begin); /* 1.5 pixels */
    double begin = fmax(b->begin, w->begin), end = fmin(b->end, w->end);
    if (!b->count || begin > w->end || end < w->begin)
        return;
    end = fmax(end, begin + least);
    char label[64] = "";
    double pixels = (end - begin) / (w->end - w->begin) * WIDE;
    if (panel && b->number && pixels >= CHAR)
        snprintf(label, sizeof label, "%zu", b->number);
    else if (panel && b->named > 0.9 * (b->end - b->begin) && kinds[kind].kind == TR_API &&
             pixels >= CHAR * (double)strlen(b->name))
        plot_text(label, sizeof label, b->name, 40);
    plot_row(out, "ddzggs", panel, kinds[kind].lane, kind, (begin - w->begin) / unit,
             (end - w->begin) / unit, label);
}

/* Whether a box that follows closely is drawn as part of this box. */
static bool melts(const struct box *box, double length, size_t number, double close)
{
    bool tiny = length < 4 * close, box_tiny = box->end - box->begin < 4 * close;
    return number == box->number ? tiny || box_tiny
                                 : tiny && (box_tiny || (box->count > 1 && !box->number));
}

static void put_panel(FILE *out, struct timeline *t, int panel, const struct window *w, double unit)
{
    double close = 0.0015 * (w->end - w->begin);
    for (size_t kind = 0; kind < KINDS; kind++) {
        struct box box = {0};
        for (size_t i = 0; i < t->n; i++) {
            const struct tr_row *row = t->row[i];
            double begin = begin_of(t, row), end = end_of(t, row);
            if (row->kind != kinds[kind].kind || end < w->begin || begin > w->end)
                continue;
            t->has[kind] = true;
            if (row->kind == TR_API && box.count && end <= box.end)
                continue; /* called by the previous call */
            size_t number = panel && row->kind == TR_KERNEL ? number_of(t, row) : 0;
            if (box.count && begin - box.end <= close && melts(&box, end - begin, number, close)) {
                box.end = fmax(box.end, end);
                box.count++;
                if (end - begin > box.named)
                    box.name = row->name, box.named = end - begin;
                box.number = number == box.number ? number : 0;
                continue;
            }
            put_box(out, panel, w, unit, kind, &box);
            box = (struct box){begin, end, 1, row->name, end - begin, number};
        }
        put_box(out, panel, w, unit, kind, &box);
    }
}

/* Chooses a unit in which @p ns is at least 2. */
static double unit_of(double ns, const char **name)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && ns < 2 * units[i].ns)
        i++;
    *name = units[i].name;
    return units[i].ns;
}

/* Writes the values of a panel: panel 0 is the overview, the others are the windows. */
static void put_panel_values(const struct plot_job *job, struct timeline *t, size_t panel)
{
    const struct window whole = {0, t->whole, 0}, *w = panel ? &t->window[panel - 1] : &whole;
    const char *unit, *whole_unit;
    const double scale = unit_of(w->end - w->begin, &unit);
    const double whole_scale = unit_of(t->whole, &whole_unit);
    FILE *out = job->values;
    put_panel(job->table, t, (int)panel, w, scale);
    fprintf(out, "span[%zu] = %.9g; unit[%zu] = '%s'\n", panel + 1, (w->end - w->begin) / scale,
            panel + 1, unit);
    if (panel)
        fprintf(
            out,
            "panel_title[%zu] = '%c, from %.4g %s on'; window_begin[%zu] = %.9g; window_end[%zu] = %.9g\n",
            panel + 1, (int)('@' + panel), w->begin / whole_scale, whole_unit, panel,
            w->begin / whole_scale, panel, w->end / whole_scale);
    else
        fprintf(out, "panel_title[1] = '%s'\n", t->windows ? "The whole run" : "");
}

static void put_values(const struct plot_job *job, struct timeline *t)
{
    static const char *const lists[] = {"span", "unit", "panel_title", "window_begin",
                                        "window_end"};
    FILE *out = job->values;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        plot_list(job, lists[i], t->windows + 1);
    fprintf(out, "windows = %zu\n", t->windows);
    for (size_t i = 0; i <= t->windows; i++)
        put_panel_values(job, t, i);
    fputs("kinds = '", out);
    for (size_t k = 0, n = 0; k < KINDS; k++)
        if (t->has[k])
            fprintf(out, "%s%zu", n++ ? " " : "", k + 1);
    fprintf(out, "'\nnames = %zu\n", t->names);
    plot_list(job, "name", t->names);
    for (size_t i = 0; i < t->names; i++) {
        char name[96];
        fprintf(out, "name[%zu] = '%s'\n", i + 1, plot_kernel(name, sizeof name, t->name[i], 44));
    }
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, struct timeline *t,
                         long images, const char *device, struct st_error *err)
{
    char title[96], other[160];
    const char *origin = stage->origin;
    snprintf(title, sizeof title, "Timeline, %ld image%s", images, images == 1 ? "" : "s");
    if (!stage->result.profile[0] && device[0]) {
        snprintf(other, sizeof other, "of %.100s", device);
        origin = other;
    }
    if (plot_begin(stage, job, title, origin, err))
        return err->code;
    fputs("panel\tlane\tkind\tbegin\tend\tlabel\n", job->table);
    put_values(job, t);
    plot_caption(
        job, "Calls of the API on the host, and copies and kernels on the GPU, over time%s; %s.",
        t->windows ? "; the marked periods, in which kernels ran, are enlarged below" : "", origin);
    if (t->stretches > MAX_WINDOWS)
        plot_caption(job, "Kernels ran in %zu periods; the %d with the most kernel time are shown.",
                     t->stretches, MAX_WINDOWS);
    return plot_end(job, timeline_gp, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool arrange(struct timeline *t, const struct tr_trace *trace)
{
    double last = 0;
    t->row = calloc(trace->n + 1, sizeof *t->row);
    if (!t->row)
        return false;
    for (size_t i = 0; i < trace->n; i++)
        if (kind_of(&trace->rows[i]) < KINDS)
            t->row[t->n++] = &trace->rows[i];
    qsort(t->row, t->n, sizeof *t->row, by_begin);
    t->first = t->n ? (double)t->row[0]->start_ns : 0;
    for (size_t i = 0; i < t->n; i++)
        last = fmax(last, end_of(t, t->row[i]));
    t->whole = last;
    return true;
}

enum st_code plot_timeline(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "timeline");
    struct timeline t = {0};
    struct tr_trace trace;
    struct st_error why;
    char folder[PATH_MAX], path[PATH_MAX];
    enum st_code code = ST_OK;
    path_format(folder, sizeof folder, "%s/profile", stage->folder);
    long images = 0;
    folder_numbers(folder, "trace-", ".tsv", &images, 1);
    path_format(path, sizeof path, "%s/trace-%ld.tsv", folder, images);
    if (!images) {
        plot_skip(job, "Timeline skipped: no profile (no trace).");
        return ST_OK;
    }
    if (tr_read(path, &trace, &why)) {
        plot_skip(job, "Timeline skipped: trace-%ld.tsv cannot be read: %.120s.", images, why.what);
        return ST_OK;
    }
    if (!arrange(&t, &trace)) {
        code = st_fail(err, ST_NO_MEMORY, "out of memory for a timeline");
    } else if (!(t.whole > 0)) {
        plot_skip(job, "Timeline skipped: trace-%ld.tsv has no events.", images);
    } else {
        find_windows(&t);
        code = draw(stage, job, &t, images, trace.device, err);
        if (!code && trace.truncated[0])
            plot_caption(job, "The trace is not complete: %.150s.", trace.truncated);
    }
    free(t.row);
    tr_free(&trace);
    return code;
}
