/* sweep-P: the times for each value of a sweep's parameters, with a panel per data-set size. A bar
 * is made of the layers' times, one after another, and the best sum is marked. For values with
 * wrong outputs, the reason is shown.
 *
 *     panel   row   value   layer   begin_ms   end_ms   label   (layer 0: the label after the bar) */
#include "grader/plots/plot_parts.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 64, MAX_SIZES = 8, MAX_LAYERS = PLOT_STYLES, MAX_ROWS = 40 };

struct sweep {
    const struct tsv *table;
    const char *value[MAX_VALUES];
    double images[MAX_SIZES];
    size_t values, sizes;
    int layers;
};

static size_t value_of(struct sweep *s, const char *value)
{
    for (size_t i = 0; i < s->values; i++)
        if (strcmp(s->value[i], value) == 0)
            return i;
    if (s->values == MAX_VALUES)
        return MAX_VALUES;
    s->value[s->values] = value;
    return s->values++;
}

static void collect(struct sweep *s, const struct tsv *t)
{
    memset(s, 0, sizeof *s);
    s->table = t;
    for (size_t row = 0; row < t->rows; row++) {
        double images = plot_number(t, row, "images"), layer = plot_number(t, row, "layer");
        size_t at = 0;
        while (at < s->sizes && s->images[at] != images)
            at++;
        if (value_of(s, plot_cell(t, row, "values")) == MAX_VALUES || at == MAX_SIZES)
            continue;
        if (at == s->sizes && images > 0)
            s->images[s->sizes++] = images;
        if (layer > s->layers && layer <= MAX_LAYERS)
            s->layers = (int)layer;
    }
    /* Too many rows for one picture: show only the largest size. */
    if (s->values * s->sizes > MAX_ROWS && s->sizes) {
        for (size_t i = 1; i < s->sizes; i++)
            s->images[0] = fmax(s->images[0], s->images[i]);
        s->sizes = 1;
    }
}

/* The row of a value at a size, for one layer or for "all". @return -1 if there is none. */
static long find(const struct sweep *s, const char *value, double images, const char *layer)
{
    const struct tsv *t = s->table;
    for (size_t row = 0; row < t->rows; row++)
        if (plot_number(t, row, "images") == images &&
            strcmp(plot_cell(t, row, "values"), value) == 0 &&
            strcmp(plot_cell(t, row, "layer"), layer) == 0)
            return (long)row;
    return -1;
}

static double all_ms(const struct sweep *s, const char *value, double images)
{
    long row = find(s, value, images, "all");
    if (row < 0 || strcmp(plot_cell(s->table, (size_t)row, "status"), "ok") != 0)
        return NAN;
    return plot_number(s->table, (size_t)row, "op_time_s") * 1e3;
}

static void put_value(FILE *out, const struct sweep *s, size_t panel, size_t value, double best)
{
    double begin = 0, sum = all_ms(s, s->value[value], s->images[panel]);
    size_t at = s->values - 1 - value;
    char label[96], number[NUMBER_CHARS], name[8], text[32];
    plot_text(text, sizeof text, s->value[value], 10);
    if (isfinite(sum)) {
        for (int layer = 1; layer <= s->layers; layer++) {
            snprintf(name, sizeof name, "%d", layer);
            long row = find(s, s->value[value], s->images[panel], name);
            double ms = row < 0 ? NAN : plot_number(s->table, (size_t)row, "op_time_s") * 1e3;
            if (!isfinite(ms))
                continue;
            plot_row(out, "zzsdggs", panel, at, text, layer, begin, begin + ms, "");
            begin += ms;
        }
        snprintf(label, sizeof label, "%s%s", number_short(number, sum, 3),
                 sum == best ? "  best" : "");
    } else {
        long row = find(s, s->value[value], s->images[panel], "all");
        plot_text(label, sizeof label,
                  row < 0 ? "not run" : plot_cell(s->table, (size_t)row, "status"), 30);
    }
    plot_row(out, "zzsdggs", panel, at, text, 0, begin, begin, label);
}

static double best_of(const struct sweep *s, size_t panel, double *most)
{
    double best = NAN;
    *most = 0;
    for (size_t v = 0; v < s->values; v++) {
        double ms = all_ms(s, s->value[v], s->images[panel]);
        best = fmin(best, ms), *most = fmax(*most, ms);
    }
    return best;
}

static void put_panel(const struct plot_job *job, const struct sweep *s, size_t panel)
{
    double most, best = best_of(s, panel, &most);
    for (size_t v = 0; v < s->values; v++)
        put_value(job->table, s, panel, v, best);
    fprintf(job->values, "panel_title[%zu] = '%.0f image%s'; most[%zu] = %.9g\n", panel + 1,
            s->images[panel], s->images[panel] == 1 ? "" : "s", panel + 1, most);
}

static enum st_code draw(struct plot_stage *stage, struct plot_job *job, const struct sweep *s,
                         struct st_error *err)
{
    char title[96], origin[160];
    const struct tsv *t = s->table;
    snprintf(title, sizeof title, "%s: Op Time by %s", plot_cell(t, 0, "milestone"),
             plot_cell(t, 0, "parameters"));
    snprintf(origin, sizeof origin, "%.150s", plot_cell(t, 0, "origin"));
    if (plot_begin(stage, job, title, origin, err))
        return err->code;
    fputs("panel\trow\tvalue\tlayer\tbegin_ms\tend_ms\tlabel\n", job->table);
    fprintf(job->values, "values = %zu\nlayers = %d\npanels = %zu\n", s->values, s->layers,
            s->sizes);
    plot_list(job, "panel_title", s->sizes);
    plot_list(job, "most", s->sizes);
    for (size_t p = 0; p < s->sizes; p++)
        put_panel(job, s, p);
    plot_caption(job, "Op Time, layer by layer, with each value of %s; %s.",
                 plot_cell(t, 0, "parameters"), origin);
    return plot_end(job, sweep_gp, err);
}

static enum st_code plot_sweep(struct plot_stage *stage, const char *file, struct st_error *err)
{
    char name[96], why[256];
    struct tsv t;
    struct sweep s;
    enum st_code code = ST_OK;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(".tsv")), file);
    struct plot_job *job = plot_add(stage, name);
    if (!job)
        return ST_OK;
    if (!plot_table(&t, stage->folder, file, why, sizeof why)) {
        plot_skip(job, "Plot of a sweep skipped: %s.", why);
        return ST_OK;
    }
    collect(&s, &t);
    if (s.sizes)
        code = draw(stage, job, &s, err);
    else
        plot_skip(job, "Plot of a sweep skipped: %s has no rows.", file);
    tsv_free(&t);
    return code;
}

/* Whether a file is named like "sweep-BLK_H.tsv", which is how the grader names all sweeps. */
static int is_sweep(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t length = strlen(name);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return strncmp(name, "sweep-", 6) == 0 && length > 10 && length < 96 &&
           strcmp(name + length - 4, ".tsv") == 0 && strspn(name, plain) == length - 4;
}

enum st_code plot_sweeps(struct plot_stage *stage, struct st_error *err)
{
    struct dirent **entries;
    int n = scandir(stage->folder, &entries, is_sweep, alphasort);
    enum st_code first = ST_OK;
    for (int i = 0; i < n; i++) {
        struct st_error failure;
        enum st_code code = plot_sweep(stage, entries[i]->d_name, &failure);
        if (code && !first) {
            first = code;
            if (err)
                *err = failure;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return first;
}
