/* The plots: what they show (data and scripts) is here, how gnuplot is run in gnuplot.c.
 *
 * A script is the style that all plots share, then a terminal, then the plot with its data inside.
 * What varies in it are numbers and names reduced to letters, digits, '.', '-' and '_'. */
#include "grader/plots/report_plots.h"

#include "base/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINES = 8, MAX_GROUPS = 8 };

/* Lines differ in dash and point as well as in colour, and the colours in lightness. */
static const char plot_style[] =
    "set encoding utf8\n"
    "set linetype 1 lc rgb '#08306b' lw 2.2 pt 7 ps 0.9 dt 1\n"
    "set linetype 2 lc rgb '#d95f02' lw 2.2 pt 5 ps 0.9 dt (12,5)\n"
    "set linetype 3 lc rgb '#238b45' lw 2.2 pt 9 ps 1.1 dt (3,4)\n"
    "set linetype 4 lc rgb '#7a0177' lw 2.2 pt 11 ps 1.1 dt (12,4,3,4)\n"
    "set linetype 5 lc rgb '#252525' lw 2.2 pt 6 ps 0.9 dt 1\n"
    "set linetype 6 lc rgb '#737373' lw 2.2 pt 4 ps 0.9 dt (12,5)\n"
    "set linetype 7 lc rgb '#2b8cbe' lw 2.2 pt 8 ps 1.1 dt (3,4)\n"
    "set linetype 8 lc rgb '#a6611a' lw 2.2 pt 10 ps 1.1 dt (12,4,3,4)\n"
    "set border 3 lw 1.2 lc rgb '#1b1f24'\n"
    "set tics nomirror out scale 0.8,0.4 textcolor rgb '#1b1f24'\n"
    "set grid ytics lt 1 lw 0.8 lc rgb '#c4cad0' dt 1\n"
    "set key outside bottom center horizontal noenhanced reverse Left samplen 4 spacing 1.2\n"
    "set title noenhanced offset 0,-0.2\n"
    "set lmargin 9\n"
    "set rmargin 3\n";

/* Starts a script. @param key_rows lines of the key, for which the picture grows. */
static void put_style(FILE *out, int format, size_t key_rows)
{
    size_t height = 390 + 24 * key_rows;
    if (format == GR_PLOT_SVG)
        fprintf(out,
                "set terminal svg noenhanced size 640,%zu font 'sans-serif,15' "
                "background rgb 'white'\n",
                height);
    else /* 6 inches at 300 dots each; the cairo terminal draws better, but is not built everywhere
          */
        fprintf(out,
                "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {\n"
                "    set terminal pngcairo noenhanced size 1800,%zu font 'Sans,15' fontscale 2.1 "
                "linewidth 2.8 pointscale 2.8\n"
                "} else {\n"
                "    set terminal png noenhanced size 900,%zu medium\n"
                "}\n",
                height * 1800 / 640, height * 900 / 640);
    fputs(plot_style, out);
}

const char *gr_plot_name(int plot)
{
    static const char *const name[GR_PLOTS] = {
        [GR_PLOT_OP_TIMES] = "op-times", [GR_PLOT_SPEED_UP] = "speed-up"};
    return name[plot];
}

/* A name as gnuplot can read it anywhere: in quotes, in data, in a key. */
static const char *plain_name(char to[64], const char *name)
{
    size_t n = 0;
    for (const char *p = name; *p && n < 40; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr(".-_", *p);
        to[n++] = plain ? *p : '_';
    }
    to[n] = '\0';
    return to;
}

/* ---- op-times ------------------------------------------------------------------------------- */

static bool is_plotted(const struct gr_op_row *row)
{
    return row->passed && isfinite(row->op_time_s) && row->images > 0;
}

static bool same_line(const struct gr_op_row *a, const struct gr_op_row *b)
{
    return a->layer == b->layer && strcmp(a->model, b->model) == 0;
}

/* The rows that begin a line. @return how many, at most MAX_LINES. */
static size_t find_lines(const struct gr_summary *s, const struct gr_op_row *first[MAX_LINES])
{
    size_t lines = 0;
    for (size_t i = 0; i < s->op_rows; i++) {
        bool known = !is_plotted(&s->op[i]);
        for (size_t l = 0; l < lines; l++)
            known = known || same_line(first[l], &s->op[i]);
        if (!known && lines < MAX_LINES)
            first[lines++] = &s->op[i];
    }
    return lines;
}

/* Labels go above the slowest and below the fastest of the points at one size; those between get
 * none, they are in the table. @return 1, -1 or 0. */
static int label_side(const struct gr_summary *s, const struct gr_op_row *row)
{
    bool slowest = true, fastest = true;
    for (size_t i = 0; i < s->op_rows; i++) {
        const struct gr_op_row *other = &s->op[i];
        if (other == row || !is_plotted(other) || other->images != row->images)
            continue;
        slowest = slowest && row->op_time_s >= other->op_time_s;
        fastest = fastest && row->op_time_s < other->op_time_s;
    }
    return slowest ? 1 : fastest ? -1 : 0;
}

/* $line0, $line1, ...: images, milliseconds, label above, label below. */
static void put_lines(FILE *out, const struct gr_summary *s,
                      const struct gr_op_row *const first[MAX_LINES], size_t lines)
{
    for (size_t l = 0; l < lines; l++) {
        fprintf(out, "$line%zu << END\n", l);
        for (size_t i = 0; i < s->op_rows; i++) {
            const struct gr_op_row *row = &s->op[i];
            if (!is_plotted(row) || !same_line(row, first[l]))
                continue;
            char label[GR_NUMBER_CHARS];
            gr_number_short(label, row->op_time_s * 1e3, 3);
            int side = label_side(s, row);
            fprintf(out, "%zu %.9g \"%s\" \"%s\"\n", row->images, row->op_time_s * 1e3,
                    side > 0 ? label : "", side < 0 ? label : "");
        }
        fputs("END\n", out);
    }
}

/* Ranges and tics: along x the sizes that were run, along y powers of ten. */
static void put_axes(FILE *out, const struct gr_summary *s)
{
    double min_ms = INFINITY, max_ms = 0, max_images = 0, min_images = INFINITY, last_tic = 0;
    fputs("set xtics (", out);
    for (double above = 0, next; above < INFINITY; above = next) {
        next = INFINITY;
        for (size_t i = 0; i < s->op_rows; i++) {
            double images = (double)s->op[i].images, ms = s->op[i].op_time_s * 1e3;
            if (!is_plotted(&s->op[i]))
                continue;
            min_ms = fmin(min_ms, ms), max_ms = fmax(max_ms, ms);
            min_images = fmin(min_images, images), max_images = fmax(max_images, images);
            if (images > above)
                next = fmin(next, images);
        }
        if (next < INFINITY && next >= 1.5 * last_tic) { /* closer ones would overlap */
            fprintf(out, "%s'%.0f' %.0f", last_tic > 0 ? ", " : "", next, next);
            last_tic = next;
        }
    }
    fprintf(out, ")\nset xrange [%.9g:%.9g]\n", min_images / 1.7, max_images * 1.7);
    /* Room for the labels, and at least two of the powers of ten that are marked. */
    double room = 1.8 * pow(max_ms / min_ms, 0.15), low = min_ms / room, high = max_ms * room;
    if (floor(log10(high)) - ceil(log10(low)) < 1)
        low = pow(10, floor(log10(low)));
    if (floor(log10(high)) - ceil(log10(low)) < 1)
        high = pow(10, ceil(log10(high)));
    fprintf(out, "set yrange [%.9g:%.9g]\n", low, high);
}

static void op_times_script(FILE *out, int format, const struct gr_result *result,
                            const struct gr_summary *s)
{
    const struct gr_op_row *first[MAX_LINES];
    size_t lines = find_lines(s, first);
    char name[64];
    put_style(out, format, lines);
    put_lines(out, s, first, lines);
    put_axes(out, s);
    fprintf(out, "set title '%s: Op Time by data-set size'\n", plain_name(name, result->milestone));
    fputs("set logscale xy\n"
          "set format y '%g'\n"
          "set xlabel 'Images' offset 0,0.2\n"
          "set ylabel 'Op Time (ms)' offset 0.5,0\n"
          "set mytics 10\n",
          out);
    fprintf(out, "set bmargin %.1f\nplot ", 3.9 + 1.3 * (double)lines);
    for (size_t l = 0; l < lines; l++) {
        char shape[64];
        gr_shape_text(shape, &first[l]->shape, "x");
        fprintf(out, "$line%zu using 1:2 with linespoints lt %zu title '%s%slayer %d%s%s%s', ", l,
                l + 1, s->one_model ? "" : plain_name(name, first[l]->model),
                s->one_model ? "" : " ", first[l]->layer, shape[0] == '-' ? "" : " (",
                shape[0] == '-' ? "" : shape, shape[0] == '-' ? "" : ")");
    }
    for (size_t l = 0; l < lines; l++)
        fprintf(out,
                "$line%zu using 1:2:3 with labels noenhanced offset 0,0.9 notitle, "
                "$line%zu using 1:2:4 with labels noenhanced offset 0,-1 notitle%s",
                l, l, l + 1 < lines ? ", " : "\n");
}

/* ---- speed-up ------------------------------------------------------------------------------- */

/* The groups of bars: rows with a time of the plain loops, of the largest such size per line.
 * @return how many, at most MAX_GROUPS. */
static size_t find_groups(const struct gr_summary *s, const struct gr_speed_row *group[MAX_GROUPS])
{
    size_t groups = 0;
    for (size_t i = 0; i < s->speed_rows; i++) {
        const struct gr_speed_row *row = &s->speed[i];
        size_t at = 0;
        while (at < groups &&
               (group[at]->layer != row->layer || strcmp(group[at]->model, row->model)))
            at++;
        if (!isfinite(row->plain_s) || at == MAX_GROUPS)
            continue;
        group[at] = row; /* rows come in ascending size */
        groups = at == groups ? groups + 1 : groups;
    }
    return groups;
}

/* A bar's height and label; no bar and no label for what was not timed. */
static void put_bar(FILE *out, double height)
{
    char label[GR_NUMBER_CHARS];
    if (isfinite(height))
        fprintf(out, " %.9g \"%s\"", height, gr_number_short(label, height, 3));
    else
        fputs(" NaN \"\"", out);
}

/* $bars: position of the group, then height and label for each bar. @return the number of bars in a
 * group: 3, or 2 if no reference was timed. */
static int put_bars(FILE *out, const struct gr_speed_row *const group[MAX_GROUPS], size_t groups,
                    double *highest)
{
    int bars = 2;
    *highest = 1;
    fputs("$bars << END\n", out);
    for (size_t g = 0; g < groups; g++) {
        double graded = group[g]->plain_s / group[g]->graded_s;
        double reference = group[g]->plain_s / group[g]->reference_s;
        fprintf(out, "%zu 1 \"1\"", g);
        put_bar(out, graded);
        put_bar(out, reference);
        fputs("\n", out);
        bars = isfinite(reference) ? 3 : bars;
        *highest = fmax(*highest, fmax(graded, reference)); /* of a number and NaN the number */
    }
    fputs("END\n", out);
    return bars;
}

static void speed_up_script(FILE *out, int format, const struct gr_result *result,
                            const struct gr_summary *s)
{
    const struct gr_speed_row *group[MAX_GROUPS];
    size_t groups = find_groups(s, group);
    double highest;
    char name[64], shape[64];
    put_style(out, format, 1);
    int bars = put_bars(out, group, groups, &highest);
    fputs("set xtics scale 0 offset 0,0.2 (", out);
    for (size_t g = 0; g < groups; g++)
        fprintf(out, "%s\"layer %d\\n%s\" %zu", g ? ", " : "", group[g]->layer,
                s->one_model ? gr_shape_text(shape, &group[g]->shape, "x")
                             : plain_name(name, group[g]->model),
                g);
    double width = 0.8 / bars;
    fprintf(out,
            ")\nset title '%s: speed-up over plain loops, %zu images'\n"
            "set ylabel 'Speed-up (times as fast)' offset 0.5,0\n"
            "set bmargin 5\n"
            "set boxwidth %.3g\n"
            "set style fill solid 1 border rgb '#1b1f24'\n"
            "set for [i=1:8] linetype i lw 1 dt 1\n"
            "set xrange [-0.6:%.2f]\nset yrange [0:%.9g]\n"
            "set key samplen 2\n"
            "plot ",
            plain_name(name, result->milestone), group[0]->images, width * 0.92,
            (double)groups - 0.4, highest * 1.12);
    const char *const titles[] = {"plain loops", s->graded_name, "reference"};
    static const char *const fills[] = {"fc rgb '#e3e6e9'", "fc rgb '#08519c'",
                                        "fs pattern 4 fc rgb '#d95f02'"};
    for (int bar = 0; bar < bars; bar++) {
        double shift = width * (bar - (bars - 1) / 2.0);
        fprintf(out,
                "$bars using ($1+(%.3g)):%d with boxes lt 1 %s title '%s', "
                "$bars using ($1+(%.3g)):%d:%d with labels offset 0,0.6 notitle%s",
                shift, 2 + 2 * bar, fills[bar], titles[bar], shift, 2 + 2 * bar, 3 + 2 * bar,
                bar + 1 < bars ? ", " : "\n");
    }
}

/* ---- both ----------------------------------------------------------------------------------- */

/* @return why there is nothing to plot, or NULL. */
static const char *why_no_data(const struct gr_summary *s, int plot)
{
    if (plot == GR_PLOT_OP_TIMES) {
        const struct gr_op_row *first[MAX_LINES];
        return find_lines(s, first)
                   ? NULL
                   : "Plot of Op Times skipped: no inference with right outputs was timed.";
    }
    const struct gr_speed_row *group[MAX_GROUPS];
    return find_groups(s, group)
               ? NULL
               : "Plot of speed-up skipped: the plain loops were not timed beside a right "
                 "inference.";
}

static enum st_code write_format(const struct gr_result *result, const struct gr_summary *s,
                                 int plot, int format, const char *path, const char **skipped,
                                 struct st_error *err)
{
    char *script;
    size_t bytes;
    FILE *text = open_memstream(&script, &bytes);
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "cannot hold a plot's script in memory");
    (plot == GR_PLOT_OP_TIMES ? op_times_script : speed_up_script)(text, format, result, s);
    if (fclose(text)) {
        free(script);
        return st_fail(err, ST_NO_MEMORY, "cannot hold a plot's script in memory");
    }
    enum st_code code = gr_gnuplot_run(script, bytes, path, err);
    free(script);
    if (code == ST_MISSING_TOOL)
        *skipped = "Plots skipped: gnuplot is not installed.";
    else if (code)
        *skipped = "Plots skipped: gnuplot could not draw them.";
    return code == ST_MISSING_TOOL || code == ST_CHILD ? ST_OK : code;
}

/* Writes both formats of a plot, or removes both if it is skipped for a reason of its own. */
static enum st_code write_plot(const struct gr_result *result, const struct gr_summary *s, int plot,
                               const char *folder, const char **skipped, struct st_error *err)
{
    static const char *const suffix[GR_PLOT_FORMATS] = {
        [GR_PLOT_SVG] = "svg", [GR_PLOT_PNG] = "png"};
    char path[GR_PLOT_FORMATS][PATH_MAX];
    *skipped = why_no_data(s, plot);
    for (int format = 0; format < GR_PLOT_FORMATS; format++) {
        if (!path_format(path[format], PATH_MAX, "%s/%s.%s", folder, gr_plot_name(plot),
                         suffix[format])) {
            st_fail(err, ST_TOO_LARGE, "path is too long");
            return st_detail(err, ST_WHERE, "%.80s...", folder), ST_TOO_LARGE;
        }
    }
    for (int format = 0; !*skipped && format < GR_PLOT_FORMATS; format++) {
        enum st_code code = write_format(result, s, plot, format, path[format], skipped, err);
        if (code) {
            *skipped = "Plots skipped: their files could not be written.";
            return code;
        }
    }
    for (int format = 0; *skipped && format < GR_PLOT_FORMATS; format++)
        unlink(path[format]);
    return ST_OK;
}

enum st_code gr_plots_write(const struct gr_result *result, const struct gr_summary *summary,
                            const char *folder, struct gr_plots *plots, struct st_error *err)
{
    enum st_code first_error = ST_OK;
    for (int plot = 0; plot < GR_PLOTS; plot++) {
        enum st_code code = write_plot(result, summary, plot, folder, &plots->skipped[plot],
                                       first_error ? NULL : err);
        first_error = first_error ? first_error : code;
    }
    return first_error;
}
