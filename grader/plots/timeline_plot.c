/* timeline: what the host asked for, what was copied and which kernels ran, from a trace. Copies
 * take most of a run and kernels little of it, so there is an overview of the whole, and below it a
 * closer look at each stretch in which kernels ran.
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

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_WINDOWS = 3,
    MAX_NAMES = 8,
    LANES = 3, /* from below: kernels, copies, API */
    LANE = 26,
    INSET = 84,
    WIDE = PLOT_WIDTH - INSET - 16,
    MARKS = 18, /* above the overview: the names of the windows */
    CHAR = 9    /* pixels of a letter in a box */
};

/* How each kind of row is drawn, in the order of the key. */
static const struct kind {
    enum tr_kind kind;
    int lane;
    size_t fill;
    const char *name;
} kinds[] = {
    {TR_API, 2, 5, "API calls"},
    {TR_COPY_HTOD, 1, 1, "copies to the GPU"},
    {TR_COPY_DTOH, 1, 2, "copies from the GPU"},
    {TR_COPY_DTOD, 1, 6, "copies on the GPU"},
    {TR_MEMSET, 1, 3, "fills"},
    {TR_KERNEL, 0, 7, "kernels"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Times are in ns since the first thing in the trace. */
struct window {
    double begin, end, kernel_ns;
};

struct timeline {
    const struct tr_row **row; /* by their begin */
    size_t n;
    double first, whole;
    size_t windows;
    struct window window[MAX_WINDOWS];
    size_t stretches; /* of kernels: the windows show the longest of them */
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

/* The number of a kernel's name, from 1; 0 if there are too many. */
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

/* Kernels with less between them than they take themselves are one stretch. The calls that launched
 * them are shown, too, if they were not long before. */
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
        t->windows = 0; /* the overview shows as much */
}

/* ---- data ----------------------------------------------------------------------------------- */

/* Boxes closer than can be told apart become one. */
struct box {
    double begin, end;
    size_t count;
    const char *name;
    size_t number;
};

static void put_box(FILE *out, int panel, const struct window *w, double unit, size_t kind,
                    const struct box *b)
{
    double least = 0.003 * (w->end - w->begin); /* a pixel and a half */
    double begin = fmax(b->begin, w->begin), end = fmin(b->end, w->end);
    if (!b->count || begin > w->end || end < w->begin)
        return;
    end = fmax(end, begin + least);
    char label[64] = "";
    double pixels = (end - begin) / (w->end - w->begin) * WIDE;
    if (panel && b->number && pixels >= CHAR)
        snprintf(label, sizeof label, "%zu", b->number);
    else if (panel && b->name && kinds[kind].kind == TR_API &&
             pixels >= CHAR * (double)strlen(b->name))
        plot_text(label, sizeof label, b->name, 40);
    plot_row(out, "ddzggs", panel, kinds[kind].lane, kind, (begin - w->begin) / unit,
             (end - w->begin) / unit, label);
}

/* Whether what comes right behind a box is seen as part of it. */
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
                continue; /* called by the one before */
            size_t number = panel && row->kind == TR_KERNEL ? number_of(t, row) : 0;
            if (box.count && begin - box.end <= close && melts(&box, end - begin, number, close)) {
                box.end = fmax(box.end, end);
                box.count++;
                box.name = NULL;
                box.number = number == box.number ? number : 0;
                continue;
            }
            put_box(out, panel, w, unit, kind, &box);
            box = (struct box){begin, end, 1, row->name, number};
        }
        put_box(out, panel, w, unit, kind, &box);
    }
}

/* A unit in which @p ns is at least 2. */
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

static enum st_code put_table(struct plot_stage *stage, struct plot_job *job, struct timeline *t,
                              struct st_error *err)
{
    const char *ignored;
    const struct window whole = {0, t->whole, 0};
    FILE *out = plot_file(stage, job, "tsv", err);
    if (!out)
        return err->code;
    fputs("panel\tlane\tkind\tbegin\tend\tlabel\n", out);
    put_panel(out, t, 0, &whole, unit_of(t->whole, &ignored));
    for (size_t i = 0; i < t->windows; i++) {
        const struct window *w = &t->window[i];
        put_panel(out, t, (int)i + 1, w, unit_of(w->end - w->begin, &ignored));
    }
    return fclose(out) ? st_fail(err, ST_IO, "cannot write a plot's data") : ST_OK;
}

/* ---- script --------------------------------------------------------------------------------- */

static void put_lanes(struct plot_job *job, const struct timeline *t, int panel, int top,
                      const char *heading, const struct window *w, bool with_key)
{
    FILE *out = job->script;
    const char *unit;
    double scale = unit_of(w->end - w->begin, &unit);
    plot_panel(job, INSET, PLOT_WIDTH - 16, top, top + LANES * LANE);
    fprintf(out,
            "set label 3 '%s' at screen %.4f,screen %.4f left\n"
            "set ytics scale 0 ('API' 2, 'copies' 1, 'kernels' 0)\n"
            "set xtics %.9g\nset xrange [0:%.9g]\nset yrange [-0.5:2.5]\nset xlabel '%s'\n",
            heading, 12.0 / PLOT_WIDTH, 1 - (top - (panel ? 12.0 : 12.0 + MARKS)) / job->height,
            plot_step((w->end - w->begin) / scale), (w->end - w->begin) / scale, unit);
    fputs("plot ", out);
    for (size_t k = 0; k < KINDS; k++)
        if (t->has[k])
            fprintf(out,
                    "'%s.tsv' skip 1 using ($1==%d&&$3==%zu?$4:NaN):2:4:5:($2-0.38):($2+0.38) with "
                    "boxxyerror %s title '%s', \\\n     ",
                    job->told->name, panel, k, plot_fill(kinds[k].fill),
                    with_key ? kinds[k].name : "");
    fprintf(out,
            "'%s.tsv' skip 1 using ($1==%d?($4+$5)/2:NaN):2:6 with labels font ',%d' notitle\n",
            job->told->name, panel, 14);
}

/* Shades the windows in the overview, and names them. */
static void mark_windows(FILE *out, const struct timeline *t)
{
    const char *ignored;
    double unit = unit_of(t->whole, &ignored), least = 0.006 * t->whole, after = 0;
    for (size_t i = 0; i < t->windows; i++) {
        const struct window *w = &t->window[i];
        double at = fmax((w->begin + w->end) / 2, after);
        fprintf(out,
                "set object %zu rectangle from first %.9g,graph 0 to first %.9g,graph 1 behind fs "
                "solid border rgb '#1b1f24' fc rgb '#ffe08a'\n"
                "set label %zu '%c' at first %.9g,graph 1 center offset 0,0.55\n",
                i + 1, w->begin / unit, fmax(w->end, w->begin + least) / unit, i + 10,
                (int)('A' + i), at / unit);
        after = at + 14 * t->whole / WIDE;
    }
}

static void unmark_windows(FILE *out, const struct timeline *t)
{
    for (size_t i = 0; i < t->windows; i++)
        fprintf(out, "unset object %zu\nunset label %zu\n", i + 1, i + 10);
    for (size_t i = 0; i < t->names; i++)
        fprintf(out, "unset label %zu\n", i + 20);
    fputs("unset label 1\nunset label 2\nunset key\n", out);
}

static void put_names(struct plot_job *job, const struct timeline *t, int top)
{
    for (size_t i = 0; i < t->names; i++) {
        char name[96];
        fprintf(job->script, "set label %zu '%zu  %s' at screen %.4f,screen %.4f left\n", i + 20,
                i + 1, plot_kernel(name, sizeof name, t->name[i], 44), 12.0 / PLOT_WIDTH,
                1 - (top + PLOT_ROW * (double)i) / job->height);
    }
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, struct timeline *t,
                         unsigned long images, const char *device, struct st_error *err)
{
    enum { PANEL = LANES * LANE, AXIS = 46, HEAD = 28 };
    char title[96], origin[160], ignored[96], heading[96];
    snprintf(title, sizeof title, "Timeline, %lu image%s", images, images == 1 ? "" : "s");
    plot_device(stage, origin, ignored);
    if (!ignored[0] && device[0])
        snprintf(origin, sizeof origin, "of %.100s", device);
    enum st_code code = put_table(stage, job, t, err);
    if (code)
        return code;
    size_t keys = 0;
    for (size_t k = 0; k < KINDS; k++)
        keys += t->has[k];
    int panels = 1 + (int)t->windows, names = PLOT_ROW * (int)t->names,
        top = PLOT_TOP + HEAD + MARKS,
        height = PLOT_TOP + MARKS + panels * (PANEL + AXIS + HEAD) + names +
                 plot_key_height((keys + 1) / 2);
    code = plot_begin(stage, job, height, title, origin, err);
    if (code)
        return code;
    FILE *out = job->script;
    const struct window whole = {0, t->whole, 0};
    fputs("set border 1\nunset grid\nset key maxrows 3 maxcols 2 width -2\nset multiplot\n", out);
    mark_windows(out, t);
    put_names(job, t, height - names - plot_key_height((keys + 1) / 2) + 4);
    put_lanes(job, t, 0, top, t->windows ? "The whole run" : "", &whole, true);
    unmark_windows(out, t);
    for (size_t i = 0; i < t->windows; i++) {
        const char *unit;
        const struct window *w = &t->window[i];
        top += PANEL + AXIS + HEAD;
        double scale = unit_of(t->whole, &unit);
        snprintf(heading, sizeof heading, "%c, from %.4g %s on", (int)('A' + i), w->begin / scale,
                 unit);
        put_lanes(job, t, (int)i + 1, top, heading, w, false);
    }
    fputs("unset multiplot\n", out);
    plot_caption(
        job, "Calls of the API on the host, and copies and kernels on the GPU, over time%s; %s.",
        t->windows ? "; the marked stretches, in which kernels ran, are drawn again below, "
                     "wider"
                   : "",
        origin);
    if (t->stretches > MAX_WINDOWS)
        plot_caption(job, "Kernels ran in %zu stretches; the %d with most of their time are shown.",
                     t->stretches, MAX_WINDOWS);
    return plot_end(job, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The largest N of trace-N.tsv; 0 if there is none. */
static unsigned long largest_trace(const char *folder)
{
    unsigned long most = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        unsigned long n;
        int length = 0;
        if (sscanf(entry->d_name, "trace-%lu.tsv%n", &n, &length) == 1 && length &&
            !entry->d_name[length] && n > most)
            most = n;
    }
    if (dir)
        closedir(dir);
    return most;
}

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
    unsigned long images = largest_trace(folder);
    path_format(path, sizeof path, "%s/trace-%lu.tsv", folder, images);
    if (!images) {
        plot_skip(job, "Timeline skipped: no profile (there is no trace).");
        return ST_OK;
    }
    if (tr_read(path, &trace, &why)) {
        plot_skip(job, "Timeline skipped: trace-%lu.tsv cannot be read: %.120s.", images, why.what);
        return ST_OK;
    }
    if (!arrange(&t, &trace)) {
        code = st_fail(err, ST_NO_MEMORY, "cannot hold a timeline in memory");
    } else if (!(t.whole > 0)) {
        plot_skip(job, "Timeline skipped: nothing happened in trace-%lu.tsv.", images);
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
