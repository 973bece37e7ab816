/* Writes the rows of a sweep in three forms: for programs (TSV), for a page (Markdown) and for the
 * terminal. */
#include "grader/sweep/sweep.h"

#include "base/median.h"
#include "base/numbers.h"
#include "base/tsv.h"

#include <math.h>
#include <string.h>

static const char *status_text(enum sweep_status status)
{
    static const char *const text[] = {[SWEEP_OK] = "ok",
                                       [SWEEP_NOT_COMPILED] = "does not compile",
                                       [SWEEP_WRONG] = "wrong",
                                       [SWEEP_FAILED] = "failed"};
    return text[status];
}

/* ---- figures -------------------------------------------------------------------------------- */

/* Whether a point has times at a size: a point that failed at one size has no times at this size
 * and at larger sizes. */
static bool is_right(const struct sweep *s, const struct sweep_point *p, size_t size)
{
    return p->status == SWEEP_OK ||
           (p->failed_images && s->options.images[size] < p->failed_images);
}

static double layer_median_s(const struct sweep_time *t)
{
    double sorted[SWEEP_MAX_REPEATS];
    memcpy(sorted, t->op_time_s, sizeof sorted);
    return t->repeats ? median_of(sorted, t->repeats).median : NAN;
}

double sweep_median_s(const struct sweep *s, const struct sweep_point *p, size_t size, int layer)
{
    double sum = 0;
    if (!is_right(s, p, size))
        return NAN;
    for (int l = 0; l < s->layers; l++)
        if (layer < 0 || layer == l)
            sum += layer_median_s(&p->time[size][l]);
    return sum;
}

/* The shortest and the longest time of a layer, or of the sum over all layers. */
static void extremes(const struct sweep *s, const struct sweep_point *p, size_t size, int layer,
                     double *low, double *high)
{
    *low = *high = 0;
    for (int l = 0; l < s->layers; l++) {
        const struct sweep_time *t = &p->time[size][l];
        if (layer >= 0 && layer != l)
            continue;
        double least = INFINITY, most = 0;
        for (size_t i = 0; i < t->repeats; i++)
            least = fmin(least, t->op_time_s[i]), most = fmax(most, t->op_time_s[i]);
        *low += least, *high += most;
    }
}

const struct sweep_point *sweep_best(const struct sweep *s, size_t size)
{
    const struct sweep_point *best = NULL;
    for (size_t i = 0; i < s->points; i++) {
        double sum = sweep_median_s(s, &s->point[i], size, -1);
        if (isfinite(sum) && (!best || sum < sweep_median_s(s, best, size, -1)))
            best = &s->point[i];
    }
    return best;
}

/* Finds the slowest layer, which determines a point's limiter. */
static const struct sweep_time *longest_layer(const struct sweep *s, const struct sweep_point *p,
                                              size_t size)
{
    int longest = 0;
    for (int l = 1; l < s->layers; l++)
        if (sweep_median_s(s, p, size, l) > sweep_median_s(s, p, size, longest))
            longest = l;
    return &p->time[size][longest];
}

/* ---- TSV ------------------------------------------------------------------------------------ */

static void add_exact(struct tsv_row *row, double value)
{
    char number[NUMBER_CHARS];
    tsv_row_add_if(row, isfinite(value), "%s", number_exact(number, value));
}

/* Adds the properties of a layer's kernel on the virtual GPU. @param t  NULL: the layer was not
 * right */
static void add_launch(struct tsv_row *row, const struct sweep_time *t)
{
    const bool known = t && t->limiter[0];
    tsv_row_add_text(row, known ? t->limiter : "");
    add_exact(row, known ? t->occupancy : NAN);
    tsv_row_add_if(row, known, "%d", known ? t->registers : 0);
    tsv_row_add_if(row, known, "%zu", known ? t->shared_bytes : 0);
    tsv_row_add_text(row, known ? t->block : "");
}

static void put_row(FILE *out, const struct sweep *s, const struct sweep_point *p, size_t size,
                    int layer)
{
    struct tsv_row row;
    char names[160], values[160];
    const struct sweep_point *fastest = sweep_best(s, size);
    const struct sweep_time *t = NULL;
    double median = sweep_median_s(s, p, size, layer), low = NAN, high = NAN;
    double best = fastest ? sweep_median_s(s, fastest, size, layer) : NAN;
    if (isfinite(median)) {
        t = layer < 0 ? longest_layer(s, p, size) : &p->time[size][layer];
        extremes(s, p, size, layer, &low, &high);
    }
    tsv_row_start(&row, 0);
    tsv_row_add_text(&row, s->result.milestone);
    tsv_row_add_text(&row, s->result.subject);
    tsv_row_add_text(&row, s->origin);
    tsv_row_add_text(&row, s->model);
    tsv_row_add_text(&row, sweep_names(names, s, ", "));
    tsv_row_add_text(&row, sweep_values(values, s, p));
    for (size_t i = 0; i < s->parameters; i++)
        tsv_row_add_text(&row, s->parameter[i].value[p->value[i]]);
    tsv_row_add(&row, "%zu", s->options.images[size]);
    tsv_row_add(&row, layer < 0 ? "all" : "%d", layer + 1);
    tsv_row_add_text(&row, status_text(is_right(s, p, size) ? SWEEP_OK : p->status));
    add_exact(&row, median);
    add_exact(&row, low);
    add_exact(&row, high);
    tsv_row_add_if(&row, t != NULL, "%zu", t ? t->repeats : 0);
    add_exact(&row, median / best);
    add_launch(&row, t);
    tsv_row_add_text(&row, is_right(s, p, size) ? "" : p->note);
    tsv_row_write(&row, out);
}

void sweep_tsv(FILE *out, const struct sweep *s)
{
    fputs("milestone\tsubject\torigin\tmodel\tparameters\tvalues", out);
    for (size_t i = 0; i < s->parameters; i++)
        fprintf(out, "\t%s", s->parameter[i].name);
    fputs(
        "\timages\tlayer\tstatus\top_time_s\tlow_s\thigh_s\trepeats\tto_best\tlimiter\toccupancy\tregisters\tshared_bytes\tblock\tnote\n",
        out);
    for (size_t size = 0; size < s->options.sizes; size++)
        for (size_t i = 0; i < s->points; i++) {
            bool right = is_right(s, &s->point[i], size);
            for (int layer = 0; right && layer < s->layers; layer++)
                put_row(out, s, &s->point[i], size, layer);
            put_row(out, s, &s->point[i], size, -1);
        }
}

/* ---- for people ----------------------------------------------------------------------------- */

static const char *milliseconds(char to[NUMBER_CHARS], double seconds)
{
    return number_short(to, seconds * 1e3, 4);
}

static bool has_limiters(const struct sweep *s)
{
    return s->grading.host.device == RUNNER_ON_VIRTUAL_GPU;
}

/* Writes text of a compiler or a program into a table. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]&#", *text))
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void put_markdown_row(FILE *out, const struct sweep *s, const struct sweep_point *p,
                             size_t size)
{
    char number[NUMBER_CHARS];
    bool best = sweep_best(s, size) == p, right = is_right(s, p, size);
    fputs("|", out);
    for (size_t i = 0; i < s->parameters; i++) {
        fputs(best ? " **" : " ", out);
        put_cell(out, s->parameter[i].value[p->value[i]]);
        fputs(best ? "** |" : " |", out);
    }
    for (int layer = 0; layer < s->layers; layer++)
        fprintf(out, " %s |", milliseconds(number, sweep_median_s(s, p, size, layer)));
    double sum = sweep_median_s(s, p, size, -1);
    fprintf(out, best ? " **%s** |" : " %s |", milliseconds(number, sum));
    if (right)
        fprintf(out, " %.2f |", sum / sweep_median_s(s, sweep_best(s, size), size, -1));
    else
        fputs(" |", out);
    if (has_limiters(s) && right) {
        const struct sweep_time *t = longest_layer(s, p, size);
        fprintf(out, " %s | %.0f%% | %d | %.1f |", t->limiter, 100 * t->occupancy, t->registers,
                (double)t->shared_bytes / 1024);
    } else if (has_limiters(s)) {
        fputs(" | | | |", out);
    }
    fputs(" ", out);
    if (!right) {
        fprintf(out, "%s: ", status_text(p->status));
        put_cell(out, p->note);
    } else if (best) {
        fputs("best", out);
    }
    fputs(" |\n", out);
}

void sweep_markdown(FILE *out, const struct sweep *s)
{
    char names[160], name[160];
    const struct gr_result *r = &s->result;
    fprintf(out, "# %s: sweep of ", r->milestone);
    put_cell(out, sweep_names(names, s, ", "));
    fprintf(
        out,
        "\n\nThe %s, compiled with each value; network `%s`; times %s. Every output of every run was compared with the oracle's. Op Times in milliseconds%s; *all* is the sum, and the smallest is marked.\n",
        r->subject, s->model, s->origin,
        s->grading.host.device == RUNNER_ON_VIRTUAL_GPU
            ? ""
            : ", medians of runs that alternated between all values");
    for (size_t size = 0; size < s->options.sizes; size++) {
        size_t images = s->options.images[size];
        fprintf(out, "\n## %zu image%s\n\n|", images, images == 1 ? "" : "s");
        for (size_t i = 0; i < s->parameters; i++) {
            fputs(" ", out);
            put_cell(out, s->parameter[i].name);
            fputs(" |", out);
        }
        for (int layer = 0; layer < s->layers; layer++)
            fprintf(out, " layer %d |", layer + 1);
        fputs(" all | to best |", out);
        fputs(has_limiters(s) ? " limiter | occupancy | registers | shared, KB | |\n|" : " |\n|",
              out);
        for (size_t i = 0; i < s->parameters; i++)
            fputs("---:|", out);
        for (int layer = 0; layer < s->layers; layer++)
            fputs("---:|", out);
        fputs("---:|---:|", out);
        fputs(has_limiters(s) ? "---|---:|---:|---:|---|\n" : "---|\n", out);
        for (size_t i = 0; i < s->points; i++)
            put_markdown_row(out, s, &s->point[i], size);
    }
    fprintf(out, "\n![Op Time with each value](plots/sweep-%s.svg)\n", sweep_names(name, s, "-"));
}

static void print_row(FILE *out, const struct sweep *s, const struct sweep_point *p, size_t size)
{
    char number[NUMBER_CHARS], values[160];
    fprintf(out, "  %-16s", sweep_values(values, s, p));
    if (!is_right(s, p, size)) {
        fprintf(out, "  %s: %s\n", status_text(p->status), p->note);
        return;
    }
    for (int layer = 0; layer < s->layers; layer++)
        fprintf(out, " %10s", milliseconds(number, sweep_median_s(s, p, size, layer)));
    fprintf(out, " %10s", milliseconds(number, sweep_median_s(s, p, size, -1)));
    if (has_limiters(s)) {
        const struct sweep_time *t = longest_layer(s, p, size);
        fprintf(out, "  %-10s %8.0f%%", t->limiter, 100 * t->occupancy);
    }
    fputs(sweep_best(s, size) == p ? "  best\n" : "\n", out);
}

void sweep_print(FILE *out, const struct sweep *s)
{
    char names[160];
    sweep_names(names, s, ", ");
    for (size_t size = 0; size < s->options.sizes; size++) {
        size_t images = s->options.images[size];
        fprintf(out, "%s%zu image%s, Op Times in ms, %s\n  %-16s", size ? "\n" : "", images,
                images == 1 ? "" : "s", s->origin, names);
        for (int layer = 0; layer < s->layers; layer++)
            fprintf(out, "    layer %d", layer + 1);
        fputs("        all", out);
        fputs(has_limiters(s) ? "  limiter    occupancy\n" : "\n", out);
        for (size_t i = 0; i < s->points; i++)
            print_row(out, s, &s->point[i], size);
    }
}
