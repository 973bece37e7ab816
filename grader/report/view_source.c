/* The graded file in order, each line with its cost: a colour and a number in the margin, for a
 * measure that the reader chooses; a line with a cost unfolds to show its figures.
 *
 *     rows of lines.tsv ──measures of a line, summed over kernels──▶ cost[line] ──▶ HTML
 *
 * A student wrote the text and an instructor reads the page, so each line is written with
 * gr_put_html(). */
#include "grader/report/view.h"

#include "grader/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 8192, HOTTEST = 5, TAB = 4 };

/* The quantity by which lines are compared. */
enum measure { TIME, INSTRUCTIONS, SECTORS, WAVEFRONTS, CONFLICTS, MEASURES };

static const struct {
    const char *title, *hint;
} measures[MEASURES] = {
    [TIME] = {"time", "modelled time of the kernels, attributed to lines by each kernel's limiter"},
    [INSTRUCTIONS] = {"issue slots", "instructions issued by warps"},
    [SECTORS] = {"sectors", "32-byte sectors of global and local memory"},
    [WAVEFRONTS] = {"wavefronts", "passes over the banks of shared memory"},
    [CONFLICTS] = {"conflicts", "additional passes because of bank conflicts"}};

struct cost {
    double of[MEASURES];
};

struct page {
    FILE *out;
    const struct gr_view *v;
    size_t lines;
    struct cost *cost;     /* [lines + 1], by line number */
    struct cost sum, most; /* sum over all files; maximum of a line */
};

/* ---- the cost of lines ----------------------------------------------------------------------- */

/* Whether a row belongs to the graded file: its lines have a text. */
static bool is_graded(const struct gr_view *v, size_t row)
{
    const char *file = tsv_text(&v->lines, row, "file");
    for (size_t i = 0; i < v->lines.rows; i++)
        if (tsv_text(&v->lines, i, "source")[0] &&
            strcmp(tsv_text(&v->lines, i, "file"), file) == 0)
            return true;
    return false;
}

/* Nanoseconds of a kernel, over all launches. */
static double time_of(const struct gr_view *v, const char *kernel)
{
    for (size_t row = 0; row < v->kernels.rows; row++)
        if ((long)gr_view_number(&v->kernels, row, "images") == v->images &&
            strcmp(tsv_text(&v->kernels, row, "kernel"), kernel) == 0)
            return gr_view_number(&v->kernels, row, "total_ns");
    return 0;
}

static struct cost cost_of(const struct gr_view *v, size_t row)
{
    const struct tsv *t = &v->lines;
    return (struct cost){
        {[TIME] = gr_view_number(t, row, "share") * time_of(v, tsv_text(t, row, "kernel")),
         [INSTRUCTIONS] = gr_view_number(t, row, "warp_instructions"),
         [SECTORS] = gr_view_number(t, row, "sectors"),
         [WAVEFRONTS] = gr_view_number(t, row, "wavefronts"),
         [CONFLICTS] = gr_view_number(t, row, "wasted_wavefronts")}};
}

static bool is_shown(const struct gr_view *v, size_t row)
{
    return (long)gr_view_number(&v->lines, row, "images") == v->images;
}

static long line_of(const struct gr_view *v, size_t row)
{
    return strtol(tsv_text(&v->lines, row, "line"), NULL, 10);
}

static void add(struct cost *to, const struct cost *from)
{
    for (int m = 0; m < MEASURES; m++)
        to->of[m] += isfinite(from->of[m]) ? fmax(0, from->of[m]) : 0;
}

static void add_all(struct page *p)
{
    for (size_t row = 0; row < p->v->lines.rows; row++) {
        if (!is_shown(p->v, row))
            continue;
        const struct cost cost = cost_of(p->v, row);
        const long line = line_of(p->v, row);
        add(&p->sum, &cost);
        if (line > 0 && (size_t)line <= p->lines && is_graded(p->v, row))
            add(&p->cost[line], &cost);
    }
    for (size_t i = 1; i <= p->lines; i++)
        for (int m = 0; m < MEASURES; m++)
            p->most.of[m] = fmax(p->most.of[m], p->cost[i].of[m]);
}

static double share(const struct page *p, size_t line, int m)
{
    return p->sum.of[m] > 0 ? p->cost[line].of[m] / p->sum.of[m] : 0;
}

/* ---- the figures of a line ------------------------------------------------------------------- */

static void put_figure(FILE *out, const char *title, const char *format, double value)
{
    fprintf(out, "<dt>%s</dt><dd>", title);
    fprintf(out, format, value);
    fputs("</dd>", out);
}

/* Writes a figure that some lines lack. */
static void put_ratio(const struct page *p, size_t row, const char *column, const char *title,
                      const char *hint)
{
    const double value = gr_view_number(&p->v->lines, row, column);
    if (value > 0)
        fprintf(p->out, "<dt>%s</dt><dd>%.2f%s</dd>", title, value, hint);
}

static void put_row(const struct page *p, size_t row)
{
    const struct tsv *t = &p->v->lines;
    const double wasted = gr_view_number(t, row, "wasted_sectors"),
                 conflicts = gr_view_number(t, row, "wasted_wavefronts");
    fputs("<p><code>", p->out);
    gr_put_html(p->out, tsv_text(t, row, "kernel"));
    fprintf(p->out, "</code>: %.2f%% of its time, most of it in ",
            100 * gr_view_number(t, row, "share"));
    gr_put_html(p->out, tsv_text(t, row, "resource"));
    fputs(".</p>\n<dl>", p->out);
    put_figure(p->out, "warp instructions", "%.0f", gr_view_number(t, row, "warp_instructions"));
    put_figure(p->out, "active lanes", "%.0f%%", 100 * gr_view_number(t, row, "active_lanes"));
    put_ratio(p, row, "load_sectors_per_request", "sectors per load", " (32 adjacent floats: 4)");
    put_ratio(p, row, "store_sectors_per_request", "sectors per store", " (32 adjacent floats: 4)");
    if (wasted > 0)
        put_figure(p->out, "wasted sectors", "%.0f", wasted);
    put_ratio(p, row, "wavefronts_per_request", "wavefronts per shared access", " (floats: 1)");
    if (conflicts > 0)
        put_figure(p->out, "wavefronts from bank conflicts", "%.0f", conflicts);
    put_ratio(p, row, "divergence", "divergent branches", " of 1");
    fputs("</dl>\n", p->out);
}

static void put_rows(const struct page *p, size_t line)
{
    fputs("<div class=\"line-figures\">\n", p->out);
    for (size_t row = 0; row < p->v->lines.rows; row++)
        if (is_shown(p->v, row) && line_of(p->v, row) == (long)line && is_graded(p->v, row))
            put_row(p, row);
    fputs("</div>", p->out);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Writes one line of the file, with tabs expanded to blanks. @return the position after the line */
static const char *put_text(FILE *out, const char *text)
{
    const size_t bytes = strcspn(text, "\n");
    char *line = strndup(text, bytes);
    int column = 0;
    for (const char *at = line; at && *at;) {
        const char *from = at;
        const unsigned point = gr_next_visible(&at);
        const int width = point == '\t' ? TAB - column % TAB : 1;
        char one[8] = "";
        memcpy(one, from, (size_t)(at - from));
        if (point == '\t')
            fprintf(out, "%*s", width, "");
        else if (point != 0xfffd || strcmp(one, "\r") != 0) /* line ends of other systems */
            gr_put_html(out, one);
        column += width;
    }
    free(line);
    return text[bytes] ? text + bytes + 1 : text + bytes;
}

/* Writes "48.3%" for each measure; the style sheet shows the chosen measure. The colours follow the
 * square root, so that a line of 1% stays visible beside a line of 50%. */
static void put_margin(const struct page *p, size_t line)
{
    fprintf(p->out, "<span class=\"n\">%zu</span><span class=\"v\">", line);
    for (int m = 0; m < MEASURES; m++)
        if (share(p, line, m) >= 0.0005)
            fprintf(p->out, "<b class=\"m%d\">%.1f%%</b>", m, 100 * share(p, line, m));
    fputs("</span><code>", p->out);
}

static void put_heat(const struct page *p, size_t line)
{
    fputs(" style=\"", p->out);
    for (int m = 0; m < MEASURES; m++)
        if (p->most.of[m] > 0 && p->cost[line].of[m] > 0)
            fprintf(p->out, "--m%d:%.0f%%;", m, 100 * sqrt(p->cost[line].of[m] / p->most.of[m]));
    fputs("\"", p->out);
}

static const char *put_line(const struct page *p, size_t line, const char *text)
{
    bool costs = false;
    for (int m = 0; m < MEASURES; m++)
        costs = costs || p->cost[line].of[m] > 0;
    fprintf(p->out, costs ? "<details class=\"l\" id=\"L%zu\"" : "<div class=\"l\" id=\"L%zu\"",
            line);
    if (costs)
        put_heat(p, line);
    fputs(costs ? "><summary>" : ">", p->out);
    put_margin(p, line);
    text = put_text(p->out, text);
    fputs(costs ? "</code></summary>\n" : "</code>", p->out);
    if (costs)
        put_rows(p, line);
    fputs(costs ? "</details>\n" : "</div>\n", p->out);
    return text;
}

/* ---- the view -------------------------------------------------------------------------------- */

static void put_hottest(const struct page *p)
{
    double before = INFINITY;
    size_t last = 0;
    fprintf(p->out, "<p>%ld images. Most of the time goes to", p->v->images);
    for (int n = 0; n < HOTTEST; n++) {
        size_t best = 0;
        for (size_t i = 1; i <= p->lines; i++) {
            const double cost = p->cost[i].of[TIME];
            const bool next = cost < before || (cost == before && i > last);
            if (next && cost > 0 && (!best || cost > p->cost[best].of[TIME]))
                best = i;
        }
        if (!best || share(p, best, TIME) < 0.01)
            break;
        fprintf(p->out, "%s <a href=\"#L%zu\">line %zu</a> (%.1f%%)", n ? "," : "", best, best,
                100 * share(p, best, TIME));
        before = p->cost[best].of[TIME];
        last = best;
    }
    fputs(". Choose a line to see its figures.</p>\n", p->out);
}

static void put_choice(const struct page *p)
{
    for (int m = 0; m < MEASURES; m++)
        if (p->sum.of[m] > 0)
            fprintf(p->out,
                    "<input type=\"radio\" name=\"measure\" id=\"measure%d\"%s>"
                    "<label for=\"measure%d\" title=\"%s\">%s</label>\n",
                    m, m == TIME ? " checked" : "", m, measures[m].hint, measures[m].title);
}

bool gr_view_source(FILE *out, const struct gr_view *v)
{
    struct page p = {.out = out, .v = v};
    for (const char *at = v->source; at && *at; p.lines++)
        at += strcspn(at, "\n"), at += *at == '\n';
    if (!p.lines || p.lines > MAX_LINES || !(p.cost = calloc(p.lines + 1, sizeof *p.cost)))
        return false;
    add_all(&p);
    const bool any = p.most.of[TIME] > 0;
    const char *at = v->source;
    if (any) {
        put_hottest(&p);
        fputs("<div class=\"annotated\">\n", out);
        put_choice(&p);
        fputs("<div class=\"source\" tabindex=\"0\" role=\"region\" aria-label=\"Source\">\n", out);
        for (size_t line = 1; line <= p.lines; line++)
            at = put_line(&p, line, at);
        fputs("</div>\n</div>\n", out);
    }
    free(p.cost);
    return any;
}
