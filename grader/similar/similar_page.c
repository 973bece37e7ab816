/* Writes the pairs as a page: in each source, the lines that the other source also has are
 * marked. */
#include "base/files.h"
#include "base/page_template.h"
#include "grader/report/report_parts.h"
#include "grader/similar/resemble.h"

#include <stdlib.h>
#include <string.h>

extern const char similar_html[], similar_css[];

enum { MOST_PAIRS = 200, RARE = 3 };

/* How much of a line the other source also has. */
struct line {
    double shared, own, best; /* weights of its marks: common marks, all marks, the heaviest common
                                 mark */
    int other;                /* the corresponding line of the other source, or 0 */
    bool rare;
};

static void put_text(FILE *out, const char *text, size_t bytes)
{
    char *part = strndup(text, bytes && text[bytes - 1] == '\r' ? bytes - 1 : bytes);
    if (part)
        gr_put_html(out, part);
    free(part);
}

static int by_hash(const void *a, const void *b)
{
    const struct si_mark *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1)
                              : (x->line > y->line) - (x->line < y->line);
}

static int line_count(const char *source)
{
    int n = 1;
    for (; *source; source++)
        n += *source == '\n';
    return n;
}

/* Records a mark of one source on its lines. @param in_other  the same mark in the other source, or
 * NULL */
static void note_mark(struct line *line, int lines, const struct si_mark *mark,
                      const struct si_mark *in_other, double weight, bool rare)
{
    for (int i = mark->line; i >= 1 && i <= mark->last && i <= lines; i++) {
        line[i].own += weight;
        if (!in_other)
            continue;
        line[i].shared += weight;
        line[i].rare |= rare;
        if (weight > line[i].best) {
            const int there = in_other->line + (i - mark->line);
            line[i].best = weight;
            line[i].other = there < in_other->last ? there : in_other->last;
        }
    }
}

/* @return the lines of work @p a compared with @p b, from 1; NULL: out of memory */
static struct line *compare_lines(const struct si_work *a, const struct si_work *b, enum si_how how)
{
    const struct si_marks *of = si_marks_of(a, how), *others = si_marks_of(b, how);
    const int lines = line_count(a->source);
    struct line *line = calloc((size_t)lines + 1, sizeof *line);
    struct si_mark *sorted = calloc(others->n + 1, sizeof *sorted);
    if (!line || !sorted) {
        free(line);
        free(sorted);
        return NULL;
    }
    if (others->n)
        memcpy(sorted, others->mark, others->n * sizeof *sorted);
    qsort(sorted, others->n, sizeof *sorted, by_hash);
    for (size_t i = 0; i < of->n; i++) {
        unsigned have;
        const double weight = si_weight(si_set_of(a, how), of->mark[i].hash, &have);
        size_t low = 0, high = others->n;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (sorted[middle].hash < of->mark[i].hash)
                low = middle + 1;
            else
                high = middle;
        }
        const bool both = low < others->n && sorted[low].hash == of->mark[i].hash;
        note_mark(line, lines, &of->mark[i], both ? &sorted[low] : NULL, weight, have <= RARE);
    }
    free(sorted);
    return line;
}

static void put_source(FILE *out, const struct si_work *work, const struct si_work *other,
                       enum si_how how)
{
    struct line *line = compare_lines(work, other, how);
    fputs("<section><h2>", out);
    put_text(out, work->name, strlen(work->name));
    fputs("</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"source of ", out);
    put_text(out, work->name, strlen(work->name));
    fputs("\"><table>\n", out);
    const char *at = work->source;
    for (int i = 1; *at; i++) {
        const size_t length = strcspn(at, "\n");
        const bool both = line && 2 * line[i].shared >= line[i].own && line[i].shared > 0;
        fprintf(out, "<tr%s><td>%d</td><td>",
                !both          ? ""
                : line[i].rare ? " class=\"rare\""
                               : " class=\"both\"",
                i);
        if (both && line[i].other)
            fprintf(out, "%d", line[i].other);
        fputs("</td><td>", out);
        put_text(out, at, length);
        fputs("</td></tr>\n", out);
        at += length + (at[length] == '\n');
    }
    fputs("</table></div></section>\n", out);
    free(line);
}

static void put_pair(FILE *out, const struct si_class *class, const struct si_pair *pair, bool open)
{
    const struct si_work *a = &class->work[pair->a], *b = &class->work[pair->b];
    fprintf(out, "<details%s><summary><strong>", open ? " open" : "");
    if (a->milestone[0]) {
        put_text(out, a->milestone, strlen(a->milestone));
        fputs(": ", out);
    }
    put_text(out, a->name, strlen(a->name));
    fputs(" and ", out);
    put_text(out, b->name, strlen(b->name));
    fprintf(out, "</strong>: alike %s", si_how_text(pair->how));
    if (pair->how > SI_RENAMED)
        fprintf(out, ", %.0f&nbsp;%%; %zu marks that few others have", 100 * pair->score,
                pair->rare);
    fputs(si_weak_text(pair), out);
    fputs("</summary>\n<div class=\"pair\">\n", out);
    put_source(out, a, b, pair->how);
    put_source(out, b, a, pair->how);
    fputs("</div></details>\n", out);
}

static void put_counts(FILE *out, const struct si_class *class)
{
    fprintf(out, "%zu pair%s of %zu sources.", class->pairs, class->pairs == 1 ? "" : "s",
            class->n);
    if (class->pairs > MOST_PAIRS)
        fprintf(out, " The first %d are shown; --table lists all.", MOST_PAIRS);
    if (class->without_kernels)
        fprintf(out, " CUDA sources compared only as text, because their PTX was not kept: %zu.",
                class->without_kernels);
    if (class->without_code)
        fprintf(out, " Sources without kernels compared only as text: %zu.", class->without_code);
}

enum st_code si_page_write(const char *path, const struct si_class *class, struct st_error *err)
{
    struct file_out page;
    char room[PAGE_NAME_CHARS];
    enum st_code code = file_out_open(&page, path, err);
    if (code)
        return code;
    for (const char *at = similar_html, *name; (name = page_template_next(page.f, &at, room));)
        if (strcmp(name, "style") == 0)
            fputs(similar_css, page.f);
        else if (strcmp(name, "counts") == 0)
            put_counts(page.f, class);
        else
            for (size_t i = 0; i < class->pairs && i < MOST_PAIRS; i++)
                put_pair(page.f, class, &class->pair[i], i == 0);
    return file_out_commit(&page, err);
}

enum st_code si_table_write(const char *path, const struct si_class *class, struct st_error *err)
{
    struct file_out table;
    enum st_code code = file_out_open(&table, path, err);
    if (code)
        return code;
    fputs("milestone\tfirst\tsecond\t"
          "how\tscore\trare\tevidence\n",
          table.f);
    for (size_t i = 0; i < class->pairs; i++) {
        const struct si_pair *p = &class->pair[i];
        const struct si_work *a = &class->work[p->a], *b = &class->work[p->b];
        fprintf(table.f, "%s\t%s\t%s\t%s\t%.3f\t%zu\t%s\n", a->milestone, a->name, b->name,
                si_how_text(p->how), p->score, p->rare, p->weak ? "weak" : "strong");
    }
    return file_out_commit(&table, err);
}
