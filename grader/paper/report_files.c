/* The files of a report: report.md, and the files made from it. */
#include "grader/paper/report_files.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "grader/paper/render.h"
#include "grader/report/text_out.h"

#include <stdlib.h>
#include <string.h>

enum st_code pp_report_read(const char *folder, struct pp_document *old, struct st_error *err)
{
    char path[PATH_MAX];
    *old = (struct pp_document){0};
    if (path_make(path, sizeof path, err, "%s/report.md", folder))
        return err->code;
    enum st_code code = pp_document_read(path, old, err);
    if (code || !old->bytes || pp_document_find(old, "report", "pieces") || old->segments != 1 ||
        old->segment[0].section[0])
        return code;
    pp_document_free(old);
    st_fail(err, ST_USAGE, "this report.md was not made by this command");
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "name another folder with --out DIR, or move the file away");
}

static enum st_code write_file(const char *folder, const char *name, const char *text, size_t bytes,
                               struct st_error *err)
{
    char path[PATH_MAX];
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "out of memory for %s", name);
    if (path_make(path, sizeof path, err, "%s/%s", folder, name))
        return err->code;
    return file_write(path, text, bytes, err);
}

/* Makes the text of a report from the old report. @param text  malloc'd */
static enum st_code make_text(const struct pp_request *request, const struct pp_document *old,
                              char **text, size_t *bytes, struct st_error *err)
{
    *text = NULL;
    FILE *out = open_memstream(text, bytes);
    if (!out)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the report");
    enum st_code code = pp_assemble(request, old, out, stdout, err);
    if (fclose(out) && !code)
        code = st_fail(err, ST_NO_MEMORY, "out of memory for the report");
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

static enum st_code write_rendering(const struct pp_document *document, const char *folder,
                                    bool html, struct st_error *err)
{
    struct text_out t;
    size_t lost = 0;
    if (text_out_open(&t) && html)
        pp_html_write(t.out, document, folder);
    else if (t.out)
        lost = pp_latex_write(t.out, document, folder);
    enum st_code code = text_out_write(&t, folder, html ? "report.html" : "report.tex", err);
    text_out_free(&t);
    if (lost)
        printf(
            "report.tex: %zu character%s missing in LaTeX's standard fonts became '?' (report.html has them)\n",
            lost, lost == 1 ? "" : "s");
    return code;
}

static void say_written(const char *folder, const char *name, const char *more)
{
    char here[PATH_MAX];
    printf("Report: %s/%s%s\n", checkout_from_here(folder, here), name, more);
}

/* Writes the PDF. A missing PDF causes one line, not an error, because the other formats exist. */
static void write_pdf(const char *folder, unsigned formats)
{
    const char *how;
    char more[64];
    struct st_error failure = {0};
    progress_begin("making report.pdf");
    enum st_code code = pp_pdf_write(folder, formats & PP_LATEX, formats & PP_HTML, &how, &failure);
    progress_clear();
    if (code) {
        printf("skipped: report.pdf: %s%s%s%s%s\n", failure.what, failure.got[0] ? ": " : "",
               failure.got, failure.hint[0] ? "; " : "", failure.hint);
        return;
    }
    snprintf(more, sizeof more, " (by %s)", how);
    say_written(folder, "report.pdf", more);
}

enum st_code pp_report_write(const struct pp_request *request, const struct pp_document *old,
                             unsigned formats, struct st_error *err)
{
    const struct gr_sources *src = request->src;
    char *text;
    size_t bytes;
    enum st_code code = make_text(request, old, &text, &bytes, err);
    if (code)
        return code;
    const bool same = old->bytes == bytes && (!bytes || memcmp(old->text, text, bytes) == 0);
    code = dir_make(src->out, err);
    if (!code && old->bytes && !same)
        code = write_file(src->out, "report.md~", old->text, old->bytes, err);
    if (!code && !same)
        code = write_file(src->out, "report.md", text, bytes, err);
    if (code) {
        free(text);
        return code;
    }
    say_written(src->out, "report.md", same ? " (nothing has changed)" : "");
    /* A PDF needs the LaTeX source, even if only the PDF is requested. */
    if (formats & PP_PDF)
        formats |= PP_HTML | PP_LATEX;
    struct pp_document document;
    code = pp_document_parse(text, bytes, "report.md", &document, err);
    if (!code && formats & PP_HTML)
        code = write_rendering(&document, src->out, true, err);
    if (!code && formats & PP_HTML)
        say_written(src->out, "report.html", "");
    if (!code && formats & PP_LATEX)
        code = write_rendering(&document, src->out, false, err);
    if (!code && formats & PP_LATEX)
        say_written(src->out, "report.tex", "");
    if (!code && formats & PP_PDF)
        write_pdf(src->out, formats);
    pp_document_free(&document);
    return code;
}
