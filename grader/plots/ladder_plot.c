/* ladder: Op Times of all milestones on one device, with a panel per layer, and cuDNN and the floor
 * as lines. The times come from the gradings next to this one, or from one run of the benchmark
 * (bench.tsv).
 *
 *     panel   row   milestone   ms   label   cudnn_ms   floor_ms
 *
 * Times of different devices are never shown together. */
#include "grader/course/floor.h"
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <string.h>

enum { MAX_PANELS = 5, MAX_BARS = 24 };

struct panel {
    char model[64], title[128];
    int layer;
    double cudnn_ms, floor_ms;
    size_t bars;
    struct bar {
        char name[24]; /* "m3 yours" */
        double ms;
    } bar[MAX_BARS];
};

struct ladder {
    char origin[160], model[64];
    long images;
    size_t panels;
    struct panel panel[MAX_PANELS];
};

static struct panel *panel_of(struct ladder *l, const char *model, int layer)
{
    for (size_t i = 0; i < l->panels; i++)
        if (l->panel[i].layer == layer && strcmp(l->panel[i].model, model) == 0)
            return &l->panel[i];
    if (l->panels == MAX_PANELS)
        return NULL;
    struct panel *p = &l->panel[l->panels++];
    *p = (struct panel){.layer = layer, .cudnn_ms = NAN, .floor_ms = NAN};
    plot_text(p->model, sizeof p->model, model, 40);
    snprintf(p->title, sizeof p->title, "%.60s, layer %d", model, layer);
    return p;
}

static void add_bar(struct panel *p, const char *name, double ms)
{
    if (!p || p->bars == MAX_BARS || !isfinite(ms))
        return;
    size_t at = p->bars++; /* sorted by number: m2 before m10 */
    for (; at && strverscmp(p->bar[at - 1].name, name) > 0; at--)
        p->bar[at] = p->bar[at - 1];
    plot_text(p->bar[at].name, sizeof p->bar[at].name, name, 20);
    p->bar[at].ms = ms;
}

/* ---- from one run of the benchmark ---------------------------------------------------------- */

static void collect_bench(struct ladder *l, const struct tsv *t)
{
    for (size_t row = 0; row < t->rows; row++)
        l->images = (long)fmax((double)l->images, plot_number(t, row, "images"));
    for (size_t row = 0; row < t->rows; row++) {
        const char *subject = plot_cell(t, row, "subject");
        double layer = plot_number(t, row, "layer");
        if ((long)plot_number(t, row, "images") != l->images || !(layer >= 1 && layer < 100) ||
            strcmp(plot_cell(t, row, "status"), "ok") != 0)
            continue;
        char device[64];
        snprintf(l->origin, sizeof l->origin, "measured on %s in one run",
                 plot_text(device, sizeof device, plot_cell(t, row, "device"), 40));
        struct panel *p = panel_of(l, plot_cell(t, row, "model"), (int)layer);
        if (!p)
            continue;
        p->floor_ms = plot_number(t, row, "floor_ms");
        if (strcmp(subject, "cudnn") == 0)
            p->cudnn_ms = plot_number(t, row, "median_ms");
        else if (strncmp(subject, "cudnn", 5) != 0)
            add_bar(p, subject, plot_number(t, row, "median_ms"));
    }
}

/* ---- from gradings -------------------------------------------------------------------------- */

/* The number of gradings that ran on @p like's device and have right outputs of a model at a
 * size. */
static size_t gradings_with(const struct gradings *g, const struct plot_result *like,
                            const struct plot_time *t)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += plot_same_device(g->of[i], like) && plot_right_time(g->of[i], t->model, t->images, 0);
    return n;
}

/* Chooses the device, model and size that most gradings have; of several sizes, the largest.
 * @param own  if not NULL, its device is used. @return a grading on this device. */
static const struct plot_result *choose(const struct gradings *g, const struct plot_result *own,
                                        struct ladder *l, size_t *most)
{
    const struct plot_result *chosen = NULL;
    *most = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct plot_result *r = g->of[i];
        for (size_t k = 0; k < r->n && (!own || plot_same_device(r, own)); k++) {
            const struct plot_time *t = &r->time[k];
            size_t n = t->subject[0] ? 0 : gradings_with(g, r, t);
            if (n < *most || n == 0 || (n == *most && t->images <= l->images))
                continue;
            *most = n;
            chosen = r;
            l->images = t->images;
            snprintf(l->model, sizeof l->model, "%s", t->model);
        }
    }
    return chosen;
}

/* Finds cuDNN's times: m0 measures them on a real GPU, as model "NAME (cuDNN ...)". */
static void find_cudnn(const struct gradings *g, struct ladder *l)
{
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s (cuDNN", l->model);
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->of[i]->n; k++) {
            const struct plot_time *t = &g->of[i]->time[k];
            for (size_t p = 0; p < l->panels; p++)
                if (!t->subject[0] && t->right && t->images == l->images &&
                    t->layer == l->panel[p].layer && strncmp(t->model, prefix, strlen(prefix)) == 0)
                    l->panel[p].cudnn_ms = t->ms;
        }
}

/* Adds a milestone's time, with the owner of the code: "m3 yours". */
static void add_rung(struct panel *p, const struct plot_result *r, const char *whose, double ms)
{
    char name[40];
    snprintf(name, sizeof name, "%.12s %s", r->milestone, whose);
    add_bar(p, name, ms);
}

static void collect_gradings(struct ladder *l, const struct gradings *g,
                             const struct plot_result *chosen)
{
    struct vg_profile profile;
    bool known = plot_profile(&profile, chosen->profile);
    plot_origin(l->origin, sizeof l->origin, chosen);
    for (size_t i = 0; i < g->n; i++) {
        const struct plot_result *r = g->of[i];
        for (size_t k = 0; k < r->n && plot_same_device(r, chosen); k++) {
            const struct plot_time *t = &r->time[k];
            if (t->images != l->images || strcmp(t->model, l->model) != 0 || !t->right)
                continue;
            struct panel *p = panel_of(l, t->model, t->layer);
            if (p && !t->subject[0])
                add_rung(p, r, plot_whose(r), t->ms);
            if (p && strcmp(t->subject, "reference") == 0 && strcmp(plot_whose(r), "yours") == 0)
                add_rung(p, r, "reference", t->ms);
            if (p && t->subject[0] && known) {
                p->floor_ms = 1e3 * gr_floor_direct_s(gr_floor_on(&profile, &t->conv));
                snprintf(p->title, sizeof p->title, "%s, layer %d (%s)", t->model, t->layer,
                         t->shape);
            }
        }
    }
    if (strcmp(chosen->device, "gpu") == 0)
        find_cudnn(g, l);
}

/* Names the gradings that are not in the picture. */
static void report_left_out(struct plot_job *job, const struct gradings *g,
                            const struct plot_result *chosen, const struct ladder *l)
{
    char others[128] = "";
    for (size_t i = 0; i < g->n; i++) {
        size_t used = strlen(others);
        if (strcmp(g->of[i]->milestone, "m0") != 0 && used + 20 < sizeof others &&
            (!plot_same_device(g->of[i], chosen) ||
             !plot_right_time(g->of[i], l->model, l->images, 0)))
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "",
                     g->of[i]->milestone);
    }
    if (others[0])
        plot_caption(
            job,
            "Left out, because they ran on another device or at other sizes, or were wrong: %s.",
            others);
}

/* ---- drawing -------------------------------------------------------------------------------- */

static void put_table(FILE *out, const struct ladder *l)
{
    fputs("panel\trow\tmilestone\tms\tlabel\tcudnn_ms\tfloor_ms\n", out);
    for (size_t i = 0; i < l->panels; i++)
        for (size_t b = 0; b < l->panel[i].bars; b++) {
            const struct panel *p = &l->panel[i];
            char label[NUMBER_CHARS];
            plot_row(out, "zzsgsgg", i, p->bars - 1 - b, p->bar[b].name, p->bar[b].ms,
                     number_short(label, p->bar[b].ms, 3), p->cudnn_ms, p->floor_ms);
        }
}

static void put_values(const struct plot_job *job, const struct ladder *l)
{
    FILE *out = job->values;
    bool cudnn = false, floor = false;
    double least = INFINITY, most = 0;
    fprintf(out, "panels = %zu\n", l->panels);
    plot_list(job, "panel_title", l->panels);
    plot_list(job, "first", l->panels);
    plot_list(job, "bars", l->panels);
    for (size_t i = 0, first = 0; i < l->panels; i++) {
        const struct panel *p = &l->panel[i];
        fprintf(out, "panel_title[%zu] = '%s'; first[%zu] = %zu; bars[%zu] = %zu\n", i + 1,
                p->title, i + 1, first, i + 1, p->bars);
        first += p->bars;
        cudnn |= isfinite(p->cudnn_ms), floor |= isfinite(p->floor_ms);
        least = fmin(least, fmin(p->floor_ms, p->cudnn_ms)); /* fmin() ignores NaN */
        for (size_t b = 0; b < p->bars; b++)
            least = fmin(least, p->bar[b].ms), most = fmax(most, p->bar[b].ms);
    }
    fprintf(out, "with_cudnn = %d\nwith_floor = %d\nleast = %.9g\nmost = %.9g\n", cudnn, floor,
            least, most);
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct ladder *l,
                         struct st_error *err)
{
    char title[96];
    snprintf(title, sizeof title, "Op Time of each milestone, %ld images", l->images);
    if (plot_begin(stage, job, title, l->origin, err))
        return err->code;
    put_table(job->table, l);
    put_values(job, l);
    plot_caption(
        job,
        "Op Time of each layer at %ld images, on a logarithmic axis, of your code and of the references; %s. The floor of the direct algorithm is the shortest time in which the GPU can move x, k and y once, or make all multiply-adds; an algorithm with fewer multiply-adds can be faster.",
        l->images, l->origin);
    return plot_end(job, ladder_gp, err);
}

/* Collects the gradings next to DIR, or in DIR. */
static enum st_code from_gradings(struct plot_stage *stage, struct plot_job *job, struct ladder *l,
                                  struct st_error *err)
{
    struct gradings g;
    enum st_code code = ST_OK;
    plot_gradings_read(&g, stage);
    size_t most;
    const struct plot_result *chosen = choose(&g, stage->graded ? &stage->result : NULL, l, &most);
    if (!chosen || most < 2) {
        plot_skip(
            job,
            "Ladder of milestones skipped: fewer than two milestones were graded with right outputs on the same device.");
    } else {
        collect_gradings(l, &g, chosen);
        code = draw(stage, job, l, err);
        report_left_out(job, &g, chosen, l);
        if (!code && strcmp(chosen->device, "gpu") != 0)
            plot_caption(job, "cuDNN has no time, since it needs a real GPU.");
        else if (!code)
            plot_caption(job, isfinite(l->panel[0].cudnn_ms)
                                  ? "cuDNN's times come from m0."
                                  : "cuDNN has no time, since m0 was not graded at this size.");
    }
    plot_gradings_free(&g);
    return code;
}

enum st_code plot_ladder(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "ladder");
    struct tsv bench;
    char why[256];
    struct ladder l = {0};
    enum st_code code = ST_OK;
    if (!plot_table(&bench, stage->folder, "bench.tsv", why, sizeof why))
        return from_gradings(stage, job, &l, err);
    collect_bench(&l, &bench);
    if (l.panels)
        code = draw(stage, job, &l, err);
    else
        plot_skip(job, "Ladder of milestones skipped: no milestone in bench.tsv was right.");
    tsv_free(&bench);
    return code;
}
