/* Writing a grading down: each stage of report_parts.h makes one text in memory, and each text
 * becomes a file that is there whole or not at all. An error in one file does not stop the others.
 */
#include "grader/report/report.h"

#include "base/files.h"
#include "grader/record/result_json.h"
#include "grader/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the first error of several. */
static void note(enum st_code *first, enum st_code code, struct st_error *err,
                 const struct st_error *failure)
{
    if (!code || *first)
        return;
    *first = code;
    if (err)
        *err = *failure;
}

static enum st_code write_file(const char *folder, const char *name, const char *text, size_t bytes,
                               struct st_error *err)
{
    char path[PATH_MAX];
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "cannot hold %s in memory", name);
    if (!path_format(path, sizeof path, "%s/%s", folder, name)) {
        st_fail(err, ST_TOO_LARGE, "path is too long");
        return st_detail(err, ST_WHERE, "%.80s...", folder), ST_TOO_LARGE;
    }
    return file_write(path, text, bytes, err);
}

/* A text made in memory. */
struct text {
    FILE *out;
    char *text;
    size_t bytes;
};

static bool text_open(struct text *t)
{
    memset(t, 0, sizeof *t);
    t->out = open_memstream(&t->text, &t->bytes);
    return t->out;
}

/* Ends the writing; without memory the text is NULL. */
static void text_close(struct text *t)
{
    if (t->out && fclose(t->out)) {
        free(t->text);
        t->text = NULL;
    }
    t->out = NULL;
}

/* More than any page has; a larger file is refused, not cut. */
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
        struct text t;
        if (text_open(&t)) {
            data_files[i].put(t.out, result);
            text_close(&t);
        }
        if (t.text && t.bytes == 0) { /* JSON's library was out of memory */
            free(t.text);
            t.text = NULL;
        }
        note(&first, write_file(folder, data_files[i].name, t.text, t.bytes, &failure), err,
             &failure);
        free(t.text);
    }
    return first;
}

/* ---- the page ------------------------------------------------------------------------------- */

/* Copies an earlier page that was changed by hand to a free name.
 * @param kept  set to the copy's name in the folder, or "". */
static enum st_code keep_earlier_page(const char *folder, char kept[64], struct st_error *err)
{
    char path[PATH_MAX], *page;
    size_t bytes;
    kept[0] = '\0';
    if (!path_format(path, sizeof path, "%s/grading.md", folder)) {
        st_fail(err, ST_TOO_LARGE, "path is too long");
        return st_detail(err, ST_WHERE, "%.80s...", folder), ST_TOO_LARGE;
    }
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
            code = write_file(folder, kept, page, bytes, err);
    }
    free(page);
    if (done)
        return code;
    st_fail(err, ST_IO, "the earlier grading.md cannot be kept: a thousand copies are there");
    st_detail(err, ST_HINT, "delete the files grading.md.bak* that are not needed");
    return st_detail(err, ST_WHERE, "%s", folder), ST_IO;
}

static enum st_code write_pages(const struct gr_result *result, const struct gr_plots *plots,
                                const char *folder, const char *kept, struct st_error *err)
{
    struct st_error failure;
    enum st_code first = ST_OK;
    struct text page, html;
    if (!text_open(&page))
        return st_fail(err, ST_NO_MEMORY, "cannot hold grading.md in memory");
    note(&first, gr_page_write(page.out, result, plots, kept[0] ? kept : NULL, folder, &failure),
         err, &failure);
    fflush(page.out);
    if (page.text)
        gr_seal_put(page.out, page.text, page.bytes);
    text_close(&page);
    note(&first, write_file(folder, "grading.md", page.text, page.bytes, &failure), err, &failure);
    if (page.text && text_open(&html)) {
        char title[256];
        snprintf(title, sizeof title, "Milestone %s%s%s", result->milestone,
                 result->title[0] ? ": " : "", result->title);
        gr_html_write(html.out, title, page.text, page.bytes, folder);
        text_close(&html);
        note(&first, write_file(folder, "report.html", html.text, html.bytes, &failure), err,
             &failure);
        free(html.text);
    }
    free(page.text);
    return first;
}

/* The page replaces an earlier one only if nobody's words are lost. */
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
    note(&first, write_page(result, &plots, folder, &failure), err, &failure);
    return first;
}
