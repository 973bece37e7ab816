/* How all plots look, and the text that they may hold.
 *
 * Series differ in dash, point or hatching as well as in colour, and the colours in lightness: a
 * grey print and an eye that confuses colours see as much. */
#include "grader/plots/plot_parts.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char style[] =
    "set encoding utf8\n"
    "set datafile separator \"\\t\"\n"
    "set linetype 1 lc rgb '#08306b' lw 2.2 pt 7 ps 0.9 dt 1\n"
    "set linetype 2 lc rgb '#d55e00' lw 2.2 pt 5 ps 0.9 dt (12,5)\n"
    "set linetype 3 lc rgb '#238b45' lw 2.2 pt 9 ps 1.1 dt (3,4)\n"
    "set linetype 4 lc rgb '#7a0177' lw 2.2 pt 11 ps 1.1 dt (12,4,3,4)\n"
    "set linetype 5 lc rgb '#252525' lw 2.2 pt 6 ps 0.9 dt 1\n"
    "set linetype 6 lc rgb '#737373' lw 2.2 pt 4 ps 0.9 dt (12,5)\n"
    "set linetype 7 lc rgb '#2b8cbe' lw 2.2 pt 8 ps 1.1 dt (3,4)\n"
    "set linetype 8 lc rgb '#a6611a' lw 2.2 pt 10 ps 1.1 dt (12,4,3,4)\n"
    "set border 3 lw 1.2 lc rgb '#1b1f24'\n"
    "set tics nomirror out scale 0.8,0.4 textcolor rgb '#1b1f24'\n"
    "set xtics offset 0,0.35\n"
    "set xlabel offset 0,0.7\n"
    "set grid lt 1 lw 0.8 lc rgb '#c4cad0' dt 1\n"
    "set style textbox opaque noborder fillcolor rgb 'white' margins 0.5,0.3\n"
    "set key at screen 0.02,screen 0.01 bottom left vertical maxrows 16 maxcols 1 noenhanced "
    "reverse Left samplen 3 spacing 1.15 width 1\n";

enum { FONT_SMALL = 14, FONT_TITLE = 17 };

const char *plot_fill(size_t i)
{
    static const char *const fills[PLOT_STYLES] = {
        "lt 1 lw 1 fs solid 1 border rgb '#08306b' fc rgb '#08306b'",
        "lt 1 lw 1 fs pattern 4 border rgb '#a34700' fc rgb '#d55e00'",
        "lt 1 lw 1 fs solid 1 border rgb '#3f6f8f' fc rgb '#b7d7ea'",
        "lt 1 lw 1 fs pattern 1 border rgb '#252525' fc rgb '#444444'",
        "lt 1 lw 1 fs pattern 5 border rgb '#7a0177' fc rgb '#ae017e'",
        "lt 1 lw 1 fs solid 1 border rgb '#737373' fc rgb '#ffffff'",
        "lt 1 lw 1 fs pattern 2 border rgb '#00684c' fc rgb '#009e73'",
        "lt 1 lw 1 fs solid 1 border rgb '#525252' fc rgb '#969696'",
    };
    return fills[i % PLOT_STYLES];
}

int plot_key_height(size_t rows)
{
    return 8 + PLOT_ROW * (int)rows;
}

void plot_key(const struct plot_job *job, size_t row, size_t rows, const char *mark,
              const char *text)
{
    enum { LEFT = 12, WIDE = 44, HALF = 7 };
    const bool point = strncmp(mark, "point", 5) == 0;
    double y = 8 + PLOT_ROW * ((double)(rows - row) - 0.5), height = job->height;
    if (!point)
        fprintf(job->script,
                "set object %zu rectangle from screen %.4f,screen %.4f to screen %.4f,screen %.4f "
                "%s\n",
                100 + row, (double)LEFT / PLOT_WIDTH, (y - HALF) / height,
                (double)(LEFT + WIDE) / PLOT_WIDTH, (y + HALF) / height, strstr(mark, "fs "));
    else
        fprintf(job->script, "set label %zu '' at screen %.4f,screen %.4f %s\n", 200 + row,
                (LEFT + WIDE / 2.0) / PLOT_WIDTH, y / height, mark);
    fprintf(job->script, "set label %zu '%s' at screen %.4f,screen %.4f left noenhanced\n",
            100 + row, text, (LEFT + WIDE + 10.0) / PLOT_WIDTH, y / height);
}

/* The three formats, in the same proportions: pixels, three pixels for each of these, and inches at
 * 100 of them. */
static void put_terminals(FILE *out, int height)
{
    fprintf(
        out,
        "if (picture eq 'svg') {\n"
        "    set terminal svg noenhanced size %d,%d font 'sans-serif,%d' background rgb 'white'\n"
        "}\n"
        "if (picture eq 'png') {\n"
        "    if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {\n"
        "        set terminal pngcairo noenhanced size %d,%d font 'Sans,%d' fontscale 2.4 "
        "linewidth 3 pointscale 4\n"
        "    } else {\n"
        "        set terminal png noenhanced size %d,%d medium\n"
        "    }\n"
        "}\n"
        "if (picture eq 'pdf') {\n"
        "    if (!strstrt(GPVAL_TERMINALS, 'pdfcairo')) { continue }\n"
        "    set terminal pdfcairo noenhanced size %.2fin,%.2fin font 'Sans,%d' fontscale 0.53 "
        "linewidth 1 pointscale 1 background rgb 'white'\n"
        "}\n",
        PLOT_WIDTH, height, PLOT_FONT, 3 * PLOT_WIDTH, 3 * height, PLOT_FONT, PLOT_WIDTH, height,
        PLOT_WIDTH / 100.0, height / 100.0, PLOT_FONT);
}

enum st_code plot_begin(struct plot_stage *stage, struct plot_job *job, int height,
                        const char *title, const char *origin, struct st_error *err)
{
    const char *name = job->told->name;
    char text[128];
    FILE *out = job->script = plot_file(stage, job, "gp", err);
    if (!out)
        return err->code;
    job->begun = true;
    job->height = height;
    snprintf(job->told->title, sizeof job->told->title, "%s",
             plot_text(text, sizeof text, title, 58));
    fprintf(
        out,
        "# Draws %s.svg, %s.png and %s.pdf from %s.tsv: gnuplot %s.gp\n"
        "# Change it as you like, under another name: the next grading writes this file again.\n"
        "reset session\n",
        name, name, name, name, name);
    fputs(style, out);
    fprintf(out, "\ndo for [picture in 'svg png pdf'] {\n");
    put_terminals(out, height);
    fprintf(out,
            "set output '%s.'.picture\n"
            "set label 1 '%s' at screen %.4f,screen %.4f left font ',%d' noenhanced\n",
            name, job->told->title, 12.0 / PLOT_WIDTH, 1 - 18.0 / height, FONT_TITLE);
    fprintf(out,
            "set label 2 '%s' at screen %.4f,screen %.4f left font ',%d' noenhanced "
            "textcolor rgb '#57606a'\n\n",
            plot_text(text, sizeof text, origin, 64), 12.0 / PLOT_WIDTH, 1 - 40.0 / height,
            FONT_SMALL);
    return ST_OK;
}

enum st_code plot_end(struct plot_job *job, struct st_error *err)
{
    fputs("\nunset output\n}\n", job->script);
    bool failed = ferror(job->script) != 0;
    if (fclose(job->script) || failed) {
        job->begun = false;
        return st_fail(err, ST_IO, "cannot write the script of plot %s", job->told->name);
    }
    return ST_OK;
}

void plot_ylabel(const struct plot_job *job, const char *text, int top, int bottom)
{
    fprintf(job->script,
            "set label 5 '%s' at screen %.4f,screen %.4f rotate by 90 center noenhanced\n", text,
            14.0 / PLOT_WIDTH, 1 - (top + bottom) / 2.0 / job->height);
}

double plot_step(double most)
{
    if (!(most > 0))
        return 1;
    double step = pow(10, floor(log10(most)) - 1);
    static const double factor[] = {1, 2, 5, 10, 20, 50};
    size_t i = 0;
    while (i < 5 && most / (step * factor[i]) > 6)
        i++;
    return step * factor[i];
}

void plot_panel(const struct plot_job *job, int left, int right, int top, int bottom)
{
    fprintf(job->script,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
            "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
            (double)left / PLOT_WIDTH, (double)right / PLOT_WIDTH, 1 - (double)top / job->height,
            1 - (double)bottom / job->height);
}

/* ---- text ----------------------------------------------------------------------------------- */

const char *plot_text(char *to, size_t room, const char *text, size_t chars)
{
    size_t length = strlen(text), n = 0;
    chars = chars < room - 1 ? chars : room - 1;
    size_t head = (chars - 2) * 3 / 5, tail = chars - 2 - head;
    for (size_t i = 0; i < length; i++) {
        if (length > chars && i == head) {
            to[n++] = '.', to[n++] = '.';
            i = length - tail;
        }
        unsigned char c = (unsigned char)text[i];
        static const char apostrophe[] = "\u2019"; /* which ends no string of gnuplot's */
        if (c == '\'' && room - n > sizeof apostrophe + length - i) {
            memcpy(to + n, apostrophe, sizeof apostrophe - 1);
            n += sizeof apostrophe - 1;
            continue;
        }
        to[n++] = c < ' ' || c == 127                 ? ' '
                  : c > 127                           ? '?'
                  : c == '"' || c == '`' || c == '\'' ? '|'
                  : c == '\\'                         ? '/'
                                                      : (char)c;
    }
    to[n] = '\0';
    return to;
}

const char *plot_kernel(char *to, size_t room, const char *name, size_t chars)
{
    char plain[512];
    static const char unnamed[] = "(anonymous namespace)::";
    size_t n = 0;
    int depth = 0; /* of template brackets */
    if (strncmp(name, "void ", 5) == 0)
        name += 5;
    for (const char *p = name; *p && n + 1 < sizeof plain; p++) {
        depth += (*p == '<') - (*p == '>');
        if (strncmp(p, unnamed, sizeof unnamed - 1) == 0)
            p += sizeof unnamed - 2;
        else if (*p == '(' && depth > 0 && strchr(p, ')')) /* the type of a number: (int)5 */
            p = strchr(p, ')');
        else if (*p == '(' && n) /* the parameters */
            break;
        else
            plain[n++] = *p;
    }
    plain[n] = '\0';
    char *arguments = strchr(plain, '<');
    if (n > chars && arguments && arguments > plain)
        *arguments = '\0';
    return plot_text(to, room, plain, chars);
}

void plot_put_number(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, "%.9g", value);
    else
        fputs("NaN", out);
}

void plot_row(FILE *out, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    for (const char *type = types; *type; type++) {
        if (type > types)
            fputc('\t', out);
        if (*type == 's') {
            const char *text = va_arg(args, const char *);
            fputs(text, out); /* of plot_text(): nothing in it needs an escape */
        } else if (*type == 'd') {
            fprintf(out, "%d", va_arg(args, int));
        } else if (*type == 'z') {
            fprintf(out, "%zu", va_arg(args, size_t));
        } else {
            plot_put_number(out, va_arg(args, double));
        }
    }
    va_end(args);
    fputc('\n', out);
}
