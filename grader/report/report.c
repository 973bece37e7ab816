/* Writes the report of a grading: each stage of report_parts.h makes a text in memory. Each text is
 * written to a file, either completely or not at all. An error in one file does not stop the
 * others.
 */
#include "grader/report/report.h"

#include "base/files.h"
#include "grader/record/result_json.h"
#include "grader/report/report_parts.h"
#include "grader/report/timeline_page.h"
#include "grader/report/text_out.h"

#include <stdlib.h>

/* Keeps the first of several errors. */
static void note(enum st_code *first, enum st_code code, struct st_error *err,
                 const struct st_error *failure)
{
    if (!code || *first)
        return;
    *first = code;
    if (err)
        *err = *failure;
}

/* More than any page needs; a larger file is rejected, not cut. */
enum { MAX_PAGE_BYTES = 16 << 20 };

/* ---- tables, JSON, LaTeX -------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*put)(FILE *out, const struct gr_result *result);
} data_files[] = {
    {"results.tsv", gr_results_tsv},   {"checks.tsv", gr_checks_tsv},
    {"result.json", gr_result_write},  {"op-times.tex", gr_op_times_tex},
    {"speed-up.tex", gr_speed_up_tex}, {"checks.tex", gr_checks_tex},
    {"evidence.tsv", gr_evidence_tsv},
};

static enum st_code write_data(const struct gr_result *result, const char *folder,
                               struct st_error *err)
{
    enum st_code first = ST_OK;
    for (size_t i = 0; i < sizeof data_files / sizeof *data_files; i++) {
        struct st_error failure;
        struct text_out t;
        if (text_out_open(&t))
            data_files[i].put(t.out, result);
        if (text_out_close(&t) && !t.bytes) /* the JSON library ran out of memory */
            text_out_free(&t);
        note(&first, text_out_write(&t, folder, data_files[i].name, &failure), err, &failure);
        text_out_free(&t);
    }
    return first;
}

/* ---- the page ------------------------------------------------------------------------------- */

/* Saves an earlier page that was edited by hand, under an unused name.
 * @param kept  set to the copy's name in the folder, or "". */
static enum st_code keep_earlier_page(const char *folder, char kept[64], struct st_error *err)
{
    char path[PATH_MAX], *page;
    size_t bytes;
    kept[0] = '\0';
    if (path_make(path, sizeof path, err, "%s/grading.md", folder))
        return err->code;
    if (!file_exists(path))
        return ST_OK;
    enum st_code code = file_read(path, MAX_PAGE_BYTES, &page, &bytes, err);
    if (code)
        return code;
    bool done = gr_seal_holds(page, bytes);
    for (int n = 1; n < 1000 && !done; n++) {
        snprintf(kept, 64, n == 1 ? "grading.md.bak" : "grading.md.bak%d", n);
        done = path_format(path, sizeof path, "%s/%s", folder, kept) && !file_exists(path);
        if (done)
            code = file_write(path, page, bytes, err);
    }
    free(page);
    if (done)
        return code;
    st_fail(err, ST_IO, "the earlier grading.md cannot be kept: a thousand copies exist");
    st_detail(err, ST_HINT, "delete the files grading.md.bak* that you do not need");
    return st_detail(err, ST_WHERE, "%s", folder), ST_IO;
}

static enum st_code write_pages(const struct gr_result *result, const struct gr_plots *plots,
                                const char *folder, const char *kept, struct st_error *err)
{
    struct st_error failure;
    enum st_code first = ST_OK;
    struct text_out page, html;
    if (!text_out_open(&page))
        return st_fail(err, ST_NO_MEMORY, "out of memory for grading.md");
    note(&first, gr_page_write(page.out, result, plots, kept[0] ? kept : NULL, folder, &failure),
         err, &failure);
    fflush(page.out);
    if (page.text)
        gr_seal_put(page.out, page.text, page.bytes);
    note(&first, text_out_write(&page, folder, "grading.md", &failure), err, &failure);
    if (page.text && text_out_open(&html)) {
        char title[256];
        snprintf(title, sizeof title, "Milestone %s%s%s", result->milestone,
                 result->title[0] ? ": " : "", result->title);
        gr_html_write(html.out, title, page.text, page.bytes, folder);
        note(&first, text_out_write(&html, folder, "report.html", &failure), err, &failure);
        text_out_free(&html);
    }
    text_out_free(&page);
    return first;
}

/* Writes the page. It replaces an earlier page only if no text written by a person is lost. */
static enum st_code write_page(const struct gr_result *result, const struct gr_plots *plots,
                               const char *folder, struct st_error *err)
{
    char kept[64];
    enum st_code code = keep_earlier_page(folder, kept, err);
    return code ? code : write_pages(result, plots, folder, kept, err);
}

enum st_code gr_report_write(const struct gr_result *result, const char *folder,
                             struct st_error *err)
{
    struct st_error failure;
    enum st_code first = dir_make(folder, err);
    if (first) {
        st_detail(err, ST_HINT, "name another folder with --report DIR");
        return first;
    }
    static struct gr_plots plots;
    note(&first, write_data(result, folder, &failure), err, &failure);
    note(&first, gr_plots_draw(folder, &plots, &failure), err, &failure);
    note(&first, gr_timeline_page_write(folder, &failure), err, &failure);
    note(&first, write_page(result, &plots, folder, &failure), err, &failure);
    return first;
}
