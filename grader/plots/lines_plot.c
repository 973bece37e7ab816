/* source-lines: how well the costliest source lines use memory, a panel each for global memory
 * (sectors per request) and for shared memory (passes per request).
 *
 *     panel   what (0 load, 1 store, 2 shared)   value   label   top   bottom   line of source
 *
 * Along y everything is in pixels from the panel's top: a line of text, then its bars. */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 6, PANELS = 2, BAR = 18, TEXT = 24, HEAD = 30, AXIS = 62 };

struct line {
    char text[80];
    double share, value[2]; /* of load and store, or of shared memory */
};

struct panel {
    size_t n;
    struct line line[MAX_LINES];
    double most;
};

/* How long a source line is without the comment at its end. */
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

/* Rows come with the costliest line first, size by size; the largest size is shown. */
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

static int line_height(const struct line *l)
{
    return TEXT + BAR * (isfinite(l->value[0]) + isfinite(l->value[1]));
}

static int panel_height(const struct panel *p)
{
    int height = 6;
    for (size_t i = 0; i < p->n; i++)
        height += line_height(&p->line[i]);
    return height;
}

static enum st_code put_table(struct plot_stage *stage, struct plot_job *job,
                              const struct panel panel[PANELS], struct st_error *err)
{
    FILE *out = plot_file(stage, job, "tsv", err);
    if (!out)
        return err->code;
    fputs("panel\twhat\tper_request\tlabel\ttop\tbottom\tline\n", out);
    for (size_t p = 0; p < PANELS; p++)
        for (int top = 0, i = 0; i < (int)panel[p].n; i++) {
            const struct line *l = &panel[p].line[i];
            top += TEXT;
            for (int what = 0; what < 2; what++) {
                char label[NUMBER_CHARS];
                if (!isfinite(l->value[what]))
                    continue;
                plot_row(out, "zdgsdds", p, p ? 2 : what, l->value[what],
                         number_short(label, l->value[what], 3), top + 2, top + BAR - 2, l->text);
                top += BAR;
            }
        }
    return fclose(out) ? st_fail(err, ST_IO, "cannot write a plot's data") : ST_OK;
}

static void put_bars(FILE *out, const char *name, size_t panel, int what, const char *title,
                     const char *more)
{
    static const size_t fill[] = {0, 1, 4};
    fprintf(out,
            "'%s.tsv' skip 1 using ($1==%zu&&$2==%d?$3:NaN):5:(0):3:5:6 with boxxyerror %s title "
            "'%s', \\\n"
            "     '' skip 1 using ($1==%zu&&$2==%d?$3:NaN):(($5+$6)/2):4 with labels left offset "
            "0.5,0 font ',14' notitle%s",
            name, panel, what, plot_fill(fill[what]), title, panel, what, more);
}

static void put_panel(struct plot_job *job, const struct panel *p, size_t number, int top)
{
    static const char *const heading[] = {"Global memory", "Shared memory"};
    static const char *const axis[] = {"Sectors of 32 bytes per request (4: 32 floats in a row)",
                                       "Passes per request (1: no bank conflict)"};
    FILE *out = job->script;
    int height = panel_height(p), at = 0;
    double ideal = number ? 1 : 4;
    plot_panel(job, 20, PLOT_WIDTH - 64, top, top + height);
    fprintf(
        out,
        "set label 3 '%s' at screen %.4f,screen %.4f left\n"
        "unset ytics\nset xtics %.9g\nset xrange [0:%.9g]\nset yrange [%d:0]\nset xlabel '%s'\n",
        heading[number], 12.0 / PLOT_WIDTH, 1 - (top - 12.0) / job->height, plot_step(p->most),
        p->most * 1.05, height, axis[number]);
    for (size_t i = 0; i < p->n; i++) {
        fprintf(out, "set label %zu '%s' at graph 0,first %d left offset 0.3,0 front\n", 10 + i,
                p->line[i].text, at + TEXT / 2 + 2);
        at += line_height(&p->line[i]);
    }
    if (ideal < p->most)
        fprintf(out,
                "set arrow 1 from first %g,graph 0 to first %g,graph 1 nohead lw 1.2 dt (4,3) lc "
                "rgb '#737373' back\n",
                ideal, ideal);
    fputs("plot ", out);
    if (number == 0) {
        put_bars(out, job->told->name, number, 0, "loads", ", \\\n     ");
        put_bars(out, job->told->name, number, 1, "stores", "\n");
    } else {
        put_bars(out, job->told->name, number, 2, "", "\n");
    }
    for (size_t i = 0; i < p->n; i++)
        fprintf(out, "unset label %zu\n", 10 + i);
    fputs("unset arrow\nunset label 1\nunset label 2\n", out);
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job,
                         const struct panel panel[PANELS], double images, const char *origin,
                         struct st_error *err)
{
    char title[96];
    int height = PLOT_TOP, top = PLOT_TOP + HEAD;
    for (size_t p = 0; p < PANELS; p++)
        if (panel[p].n)
            height += HEAD + panel_height(&panel[p]) + AXIS;
    height += panel[0].n ? plot_key_height(1) : 0;
    if (images > 0)
        snprintf(title, sizeof title, "Memory accesses by source line, %.0f images", images);
    else
        snprintf(title, sizeof title, "Memory accesses by source line");
    enum st_code code = put_table(stage, job, panel, err);
    if (!code)
        code = plot_begin(stage, job, height, title, origin, err);
    if (code)
        return code;
    fputs("set border 3\nunset grid\nset key maxrows 1 maxcols 8\nset multiplot\n", job->script);
    for (size_t p = 0; p < PANELS; p++) {
        if (!panel[p].n)
            continue;
        put_panel(job, &panel[p], p, top);
        top += panel_height(&panel[p]) + AXIS + HEAD;
    }
    fputs("unset multiplot\n", job->script);
    plot_caption(job,
                 "The source lines that cost most, among those that access global memory%s. A "
                 "request is that of a warp; %s.",
                 panel[1].n ? " and among those that access shared memory" : "", origin);
    return plot_end(job, err);
}

enum st_code plot_lines(struct plot_stage *stage, struct st_error *err)
{
    struct plot_job *job = plot_add(stage, "source-lines");
    struct tsv t;
    struct panel panel[PANELS];
    char folder[PATH_MAX], why[256], origin[160], device[96];
    double images;
    enum st_code code = ST_OK;
    path_format(folder, sizeof folder, "%s/profile", stage->folder);
    if (!plot_table(&t, folder, "lines.tsv", why, sizeof why)) {
        plot_skip(job,
                  "Plot of the source lines skipped: no counters by source line (%s; the "
                  "virtual GPU has them).",
                  why);
        return ST_OK;
    }
    plot_device(stage, origin, device);
    collect(panel, &t, &images);
    if (panel[0].n || panel[1].n)
        code = draw(stage, job, panel, images, origin, err);
    else
        plot_skip(job,
                  "Plot of the source lines skipped: no line accesses global or shared memory.");
    tsv_free(&t);
    return code;
}
