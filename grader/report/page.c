/* grading.md: the page of a grading. GitHub-flavoured Markdown, readable as text; its template is
 * grading.md beside this file, which the build embeds. A block that has nothing to show is omitted,
 * together with its heading. */
#include "grader/report/block.h"
#include "grader/report/report_parts.h"
#include "grader/report/template.h"

#include <stdlib.h>
#include <string.h>

extern const char grading_md[]; /* the text of grading.md */

struct page {
    struct gr_grading grading;
    struct gr_block block; /* only its member piece changes */
    int tables, figures;
    bool left_out; /* the last block was omitted */
};

static enum st_code put_piece(FILE *out, struct page *p, const struct gr_piece *piece,
                              struct st_error *err)
{
    if (piece->kind == GR_TEXT) { /* also omits the blank lines after an omitted block */
        const size_t blank = p->left_out ? strspn(piece->text, "\n") : 0;
        fwrite(piece->text + blank, 1, piece->bytes - blank, out);
        return ST_OK;
    }
    p->block.piece = piece;
    char *text = gr_block_fill(&p->block, NULL);
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the page");
    size_t bytes = strlen(text);
    while (bytes > 1 && text[bytes - 1] == '\n' && text[bytes - 2] == '\n')
        bytes--; /* blank lines come from the template */
    fwrite(text, 1, bytes, out);
    p->left_out = !bytes;
    free(text);
    return ST_OK;
}

enum st_code gr_page_write(FILE *out, const struct gr_result *result, const struct gr_plots *plots,
                           const char *kept, const char *folder, struct st_error *err)
{
    struct page *p = calloc(1, sizeof *p);
    struct gr_template *t = calloc(1, sizeof *t);
    char *text = strdup(grading_md);
    enum st_code code = ST_OK;
    if (p && t && text)
        code = gr_template_parse(text, "grader/report/grading.md", t, err);
    else
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the page"), free(text);
    if (kept && !code)
        fprintf(
            out,
            "> **Note.** The earlier page had been changed by hand. It is kept as `%s`. Write your own words in your report, which `./grader report` makes.\n\n",
            kept);
    if (!code) {
        p->grading.result = (struct gr_result *)(uintptr_t)result; /* blocks only read it */
        snprintf(p->grading.folder, sizeof p->grading.folder, "%s", folder);
        p->block = (struct gr_block){.section = result->milestone,
                                     .grading = &p->grading,
                                     .plots = plots,
                                     .tables = &p->tables,
                                     .figures = &p->figures};
    }
    for (size_t i = 0; !code && i < t->pieces; i++)
        code = put_piece(out, p, &t->piece[i], err);
    fputc('\n', out);
    if (t)
        gr_template_free(t);
    free(t);
    free(p);
    return code;
}
