/* source-lines: how efficiently the most expensive source lines use memory, with a panel for global
 * memory (sectors per request) and a panel for shared memory (passes per request).
 *
 *     panel   what (0 load, 1 store, 2 shared)   value   label   top   bottom   line of source
 *
 * All y coordinates are in pixels from the panel's top: a line of text, then its bars. */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <string.h>

enum { MAX_LINES = 6, PANELS = 2, BAR = 18, TEXT = 24 };

struct line {
    char text[80];
    double share, value[2]; /* values of loads and stores, or of shared memory */
};

struct panel {
    size_t n;
    struct line line[MAX_LINES];
    double most;
};

/* The length of a source line without its trailing comment. */
static int code_length(const char *text)
{
    size_t length = strlen(text);
    for (const char *p = text; *p; p++)
        if (p > text && p[0] == '/' && (p[1] == '/' || p[1] == '*')) {
            length = (size_t)(p - text);
            break;
        }
    while (length && text[length - 1] == ' ')
        length--;
    return (int)(length < 180 ? length : 180);
}

/* Adds a line. Rows are sorted by cost, size by size; the largest size is shown. */
static void add_line(struct panel *p, const struct tsv *t, size_t row, double first, double second)
{
    char source[200];
    if (p->n == MAX_LINES || (!isfinite(first) && !isfinite(second)))
        return;
    struct line *l = &p->line[p->n++];
    const char *text = plot_cell(t, row, "source");
    text += strspn(text, " \t");
    snprintf(source, sizeof source, "%.0f: %.*s", plot_number(t, row, "line"), code_length(text),
             text);
    plot_text(l->text, sizeof l->text, source, 50);
    l->share = plot_number(t, row, "share");
    l->value[0] = first, l->value[1] = second;
    p->most = fmax(p->most, fmax(first, second));
}

static void collect(struct panel panel[PANELS], const struct tsv *t, double *images)
{
    *images = 0;
    memset(panel, 0, PANELS * sizeof *panel);
    for (size_t row = 0; row < t->rows; row++)
        *images = fmax(*images, plot_number(t, row, "images"));
    for (size_t row = 0; row < t->rows; row++) {
        double size = plot_number(t, row, "images");
        if (isfinite(size) && size != *images)
            continue;
        add_line(&panel[0], t, row, plot_number(t, row, "load_sectors_per_request"),
                 plot_number(t, row, "store_sectors_per_request"));
        add_line(&panel[1], t, row, plot_number(t, row, "wavefronts_per_request"), NAN);
    }
}

/* @return the height of the panel in pixels. */
static int put_panel(FILE *out, const struct panel *panel, int number)
{
    int top = 0;
    for (size_t i = 0; i < panel->n; i++) {
        const struct line *l = &panel->line[i];
        top += TEXT;
        for (int what = 0; what < 2; what++) {
            char label[NUMBER_CHARS];
            if (!isfinite(l->value[what]))
                continue;
            plot_row(out, "ddgsdds", number, number ? 2 : what, l->value[what],
                     number_short(label, l->value[what], 3), top + 2, top + BAR - 2, l->text);
            top += BAR;
        }
    }
    return panel->n ? top + 6 : 0;
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job,
                         const struct panel panel[PANELS], double images, struct st_error *err)
{
    char title[96];
    if (images > 0)
        snprintf(title, sizeof title, "Memory accesses by source line, %.0f images", images);
    else
        snprintf(title, sizeof title, "Memory accesses by source line");
    if (plot_begin(stage, job, title, stage->origin, err))
        return err->code;
    fputs("panel\twhat\tper_request\tlabel\ttop\tbottom\tline\n", job->table);
    plot_list(job, "depth", PANELS);
    plot_list(job, "most", PANELS);
    for (int p = 0; p < PANELS; p++)
        fprintf(job->values, "depth[%d] = %d; most[%d] = %.9g\n", p + 1,
                put_panel(job->table, &panel[p], p), p + 1, panel[p].most);
    plot_caption(
        job,
        "The source lines that cost most, among those that access global memory%s. Each request comes from one warp; %s.",
        panel[1].n ? " and among those that access shared memory" : "", stage->origin);
    return plot_end(job, source_lines_gp, err);
}

enum st_code plot_lines(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "source-lines");
    struct tsv t;
    struct panel panel[PANELS];
    char folder[PATH_MAX], why[256];
    double images;
    enum st_code code = ST_OK;
    path_format(folder, sizeof folder, "%s/profile", stage->folder);
    if (!plot_table(&t, folder, "lines.tsv", why, sizeof why)) {
        plot_skip(
            job,
            "Plot of the source lines skipped: no counters by source line (%s; the virtual GPU has them).",
            why);
        return ST_OK;
    }
    collect(panel, &t, &images);
    if (panel[0].n || panel[1].n)
        code = draw(stage, job, panel, images, err);
    else
        plot_skip(job,
                  "Plot of the source lines skipped: no line accesses global or shared memory.");
    tsv_free(&t);
    return code;
}
