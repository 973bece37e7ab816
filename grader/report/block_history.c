/* Changes from one graded version to another: Op Times before and after, and the kernels in words.
 * from="1f09a2b4" and to="..." name the versions; by default, the newest version is compared with
 * the previous version on the same device. */
#include "grader/history/compare_versions.h"
#include "grader/report/block.h"
#include "grader/report/report_cells.h"
#include "grader/report/report_parts.h"
#include "grader/report/text_out.h"

#include <math.h>
#include <stdlib.h>

static void put_version(FILE *out, const struct gr_result *r)
{
    char hash[GR_SHORT_HASH + 1];
    gr_put_markdown_code(out, gr_short_hash(hash, r));
    fputs(" (", out);
    gr_put_markdown(out, r->date);
    fputc(')', out);
}

/* @return whether one of both versions has a time */
static bool put_time_row(struct gr_cells *t, const struct hi_change *c, size_t images, int layer)
{
    char words[HI_WORDS];
    double noise[2], seconds[2];
    for (int side = 0; side < 2; side++)
        seconds[side] = hi_op_time(c->result[side], images, layer, &noise[side]);
    if (!isfinite(seconds[HI_BEFORE]) || !isfinite(seconds[HI_AFTER]))
        return false;
    if (!t->columns) {
        gr_column(t, 'r', "Images");
        gr_column(t, 'r', "Layer");
        gr_column(t, 'r', "Before (ms)");
        gr_column(t, 'r', "After (ms)");
        gr_column(t, 'l', "Change");
        gr_columns_end(t);
    }
    gr_cell_print(t, "%zu", images);
    gr_cell_print(t, "%d", layer);
    gr_cell_number(t, seconds[HI_BEFORE] * 1e3, 4);
    gr_cell_number(t, seconds[HI_AFTER] * 1e3, 4);
    gr_cell(t, hi_time_words(words, seconds[0], seconds[1], hypot(noise[0], noise[1])));
    gr_row_end(t);
    return true;
}

/* Writes the times at the sizes that both versions have. */
static bool put_times(const struct gr_block *b, const struct hi_change *c)
{
    const struct gr_result *r = c->result[HI_AFTER];
    struct gr_cells t = {.out = b->out};
    bool any = false;
    if (!hi_is_comparable(c->result[HI_BEFORE], r))
        return false;
    for (size_t i = 0; i < r->inferences; i++)
        for (int layer = 1; layer <= r->inference[i].convs; layer++)
            any = put_time_row(&t, c, r->inference[i].images, layer) || any;
    return any;
}

static void put_kernels(const struct gr_block *b, const struct hi_change *c)
{
    struct text_out sentence;
    for (size_t i = 0; i < c->kernels; i++) {
        if (text_out_open(&sentence))
            hi_kernel_sentence(sentence.out, &c->kernel[i]);
        if (text_out_close(&sentence)) {
            fprintf(b->out, "%s- ", i ? "" : "\n");
            gr_put_markdown(b->out, sentence.text);
            fputs(".\n", b->out);
        }
        text_out_free(&sentence);
    }
    if (!c->missing[0])
        return;
    fputs("\nNot compared: ", b->out);
    gr_put_markdown(b->out, c->missing);
    fputs(".\n", b->out);
}

static void put_change(const struct gr_block *b, const struct hi_change *c)
{
    struct text_out times;
    struct gr_block in_times = *b;
    bool any = text_out_open(&times);
    in_times.out = times.out;
    any = any && put_times(&in_times, c);
    any = text_out_close(&times) && any;
    if (any || c->kernels) /* otherwise there is no table */
        gr_put_caption(b, NULL);
    fputs("Version ", b->out);
    put_version(b->out, c->result[HI_BEFORE]);
    fputs(" before, ", b->out);
    put_version(b->out, c->result[HI_AFTER]);
    fprintf(b->out, " after: %zu line%s added, %zu removed.\n\n", c->match.added,
            c->match.added == 1 ? "" : "s", c->match.removed);
    fputs(any ? times.text : "", b->out);
    text_out_free(&times);
    put_kernels(b, c);
}

bool gr_block_history(const struct gr_block *b)
{
    struct st_error err;
    struct hi_list list = {0};
    struct hi_change *c = calloc(1, sizeof *c);
    const char *from = gr_attribute(b->piece, "from", NULL);
    const char *to = gr_attribute(b->piece, "to", NULL);
    bool shown = c && b->grading && !hi_list_read(&list, b->grading->folder, &err) && list.n &&
                 !hi_versions_choose(&list, from, to, c, &err) && !hi_change_find(c, &err);
    if (shown)
        put_change(b, c);
    else if (from || to)
        gr_put_nothing(b, "The versions that the template names were not graded here.");
    else
        gr_put_nothing(b, "Only one version was graded on this device.");
    hi_list_free(&list);
    if (c)
        hi_change_free(c);
    free(c);
    return shown;
}
