/* The text of a profile besides its tables: the origin of the times, missing parts, and advice on
 * each kernel. */
#include "base/files.h"
#include "grader/report/block.h"
#include "grader/report/report_parts.h"
#include "grader/report/view.h"

#include <stdlib.h>
#include <string.h>

static bool same(const struct tsv *t, size_t a, size_t b, const char *column)
{
    return strcmp(tsv_text(t, a, column), tsv_text(t, b, column)) == 0;
}

/* ---- notes ------------------------------------------------------------------------------------ */

/* Writes the missing parts, once per reason. */
static void put_absent(FILE *out, const struct tsv *parts, size_t row)
{
    const char *why = tsv_text(parts, row, "reason");
    for (size_t k = 0; k < row; k++)
        if (same(parts, k, row, "reason") && same(parts, k, row, "device"))
            return;
    if (!why[0])
        return;
    fputs("Not in this profile (", out);
    gr_put_markdown(out, tsv_text(parts, row, "device"));
    fputs(", ", out);
    gr_put_markdown(out, tsv_text(parts, row, "images"));
    fputs(" images): ", out);
    gr_put_markdown(out, why);
    fputs(".\n\n", out);
}

static void put_damage(const struct gr_block *b, const char *file)
{
    char path[PATH_MAX];
    struct tsv table;
    struct st_error failure;
    if (!gr_block_path(b, path, file) || !file_exists(path))
        return;
    if (!tsv_read(path, &table, &failure)) {
        tsv_free(&table);
        return;
    }
    fputs("Part of the profile cannot be read: ", b->out);
    gr_put_markdown(b->out, failure.what);
    fputs(" (", b->out);
    gr_put_markdown(b->out, failure.where);
    fputs("). Profile again.\n\n", b->out);
}

static bool put_notes(const struct gr_block *b, const struct tsv *parts)
{
    static const char *const tables[] = {"profile/kernels.tsv", "profile/calls.tsv",
                                         "profile/analysis.tsv", "profile/lines.tsv",
                                         "profile/layers.tsv"};
    bool modelled = false;
    for (size_t row = 0; row < parts->rows; row++)
        modelled |= strcmp(tsv_text(parts, row, "device"), "virtual") == 0;
    if (modelled)
        fputs("Times on the GPU are modelled: they come from the virtual GPU's clock.\n\n", b->out);
    else
        fputs("Times are measured.\n\n", b->out);
    for (size_t row = 0; row < parts->rows; row++)
        put_absent(b->out, parts, row);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        put_damage(b, tables[i]);
    return true;
}

/* ---- advice ----------------------------------------------------------------------------------- */

static bool same_advice(const struct tsv *t, size_t a, size_t b)
{
    return same(t, a, b, "images") && same(t, a, b, "kernel") && same(t, a, b, "advice") &&
           same(t, a, b, "line");
}

static void put_place(FILE *out, const struct tsv *t, size_t row)
{
    char place[GR_PLACE_CHARS];
    if (!tsv_text(t, row, "file")[0])
        return;
    fputs(", ", out);
    gr_put_markdown_code(out,
                         gr_place_text(place, tsv_text(t, row, "file"), tsv_text(t, row, "line")));
    if (tsv_text(t, row, "source")[0]) {
        fputc(' ', out);
        gr_put_markdown_code(out, tsv_text(t, row, "source"));
    }
}

/* Writes one item for all grids of a kernel with the same advice. */
static void put_item(FILE *out, const struct tsv *t, size_t row)
{
    double saved = 0;
    fputs("- ", out);
    gr_put_markdown_code(out, tsv_text(t, row, "kernel"));
    for (size_t i = row; i < t->rows; i++)
        if (same_advice(t, i, row)) {
            fputs(i == row ? ", grid " : " and ", out);
            gr_put_markdown(out, tsv_text(t, i, "grid"));
            const double part = strtod(tsv_text(t, i, "saved"), NULL);
            saved = part > saved ? part : saved;
        }
    put_place(out, t, row);
    fputs(": ", out);
    gr_put_markdown(out, tsv_text(t, row, "advice"));
    if (saved > 0)
        fprintf(out, " Without it the kernel would take up to %.0f%% less time.", 100 * saved);
    fputc('\n', out);
}

/* Writes the advice of the largest size. */
static bool put_advice(const struct gr_block *b, const struct tsv *t)
{
    long most = 0;
    for (size_t row = 0; row < t->rows; row++)
        most = atol(tsv_text(t, row, "images")) > most ? atol(tsv_text(t, row, "images")) : most;
    for (size_t row = 0; row < t->rows; row++) {
        size_t first = 0;
        while (!same_advice(t, first, row))
            first++;
        if (first == row && atol(tsv_text(t, row, "images")) == most)
            put_item(b->out, t, row);
    }
    return true;
}

bool gr_block_profile(const struct gr_block *b)
{
    char path[PATH_MAX];
    struct tsv table;
    const bool advice = strcmp(gr_attribute(b->piece, "part", b->piece->name), "advice") == 0;
    const char *file = advice ? "profile/analysis.tsv" : "profile/parts.tsv";
    if (!gr_block_path(b, path, file) || !file_exists(path))
        return gr_put_no_file(b);
    if (tsv_read(path, &table, NULL)) {
        put_damage(b, file);
        return true;
    }
    const bool shown = table.rows && (advice ? put_advice : put_notes)(b, &table);
    tsv_free(&table);
    return shown || gr_put_no_file(b);
}

/* Only for the page of a grading: report_html.c replaces this comment by the view. */
bool gr_block_view(const struct gr_block *b)
{
    if (b->src || !gr_view_exists(b->piece->name, b->grading->folder))
        return false;
    fprintf(b->out, GR_VIEW_MARK "%s -->\n", b->piece->name);
    return true;
}
