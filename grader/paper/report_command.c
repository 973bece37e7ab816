/* `grader report`: the report that a student edits and hands in. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/option_table.h"
#include "grader/paper/assemble.h"
#include "grader/paper/render.h"
#include "grader/paper/sources.h"
#include "grader/report/text_out.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MD = 1, HTML = 2, LATEX = 4, PDF = 8, ALL = MD | HTML | LATEX | PDF };
enum { EXIT_DONE = 0, EXIT_FAILED = 2 };

struct arguments {
    struct pp_request request;
    const char *out, *team;
    unsigned formats;
    bool no_plots;
};

static void take_formats(void *to, char *list, const struct option_row *row,
                         struct argp_state *state)
{
    (void)row;
    static const char *const name[] = {"md", "html", "latex", "pdf"};
    unsigned formats = MD;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        unsigned one = 0;
        for (unsigned i = 0; i < 4; i++)
            if (strlen(name[i]) == length && strncmp(at, name[i], length) == 0)
                one = 1u << i;
        if (!one)
            argp_error(state, "unknown format '%.*s' (expected md, html, latex, pdf)", (int)length,
                       at);
        formats |= one;
        at += length;
        if (!*at)
            break;
    }
    *(unsigned *)to = formats;
}

static void take_author(void *arguments, char *name, const struct option_row *row,
                        struct argp_state *state)
{
    struct gr_sources *src = ((struct arguments *)arguments)->request.src;
    (void)row;
    if (src->authors == GR_AUTHORS)
        argp_error(state, "more than %d authors", GR_AUTHORS);
    src->author[src->authors++] = name;
}

static void take_section(void *arguments, char *name, const struct option_row *row,
                         struct argp_state *state)
{
    struct pp_request *request = &((struct arguments *)arguments)->request;
    (void)row;
    if (!gr_is_name(name, strlen(name)) || strcmp(name, "front") == 0)
        argp_error(state, "'%s' is not a section of a report (expected a milestone or final)",
                   name);
    if (request->sections == PP_SECTIONS)
        argp_error(state, "too many sections");
    request->section[request->sections++] = name;
}

static const struct option_row rows[] = {
    {"out", 0, "DIR", "the report's folder (default: labs/report)",
     OPTION_TEXT(struct arguments, out)},
    {"format", 0, "LIST",
     "md, html, latex, pdf, or several with commas (default: all; report.md is always made)",
     OPTION_TAKE(struct arguments, formats, take_formats)},
    {"team", 0, "NAME", "name of the team", OPTION_TEXT(struct arguments, team)},
    {"author", 0, "NAME (ID)", "a member; again for each one", OPTION_TAKE_ALL(take_author)},
    {"no-plots", 0, NULL, "take the plots as they are, without drawing them again",
     OPTION_FLAG(struct arguments, no_plots)},
    {OPTION_OPERANDS(take_section)},
    {0}};

/* A first report without names: what was graded. */
static void take_graded(struct pp_request *request)
{
    for (size_t i = 0; i < request->src->n; i++)
        if (request->src->grading[i]->result && request->sections < PP_SECTIONS)
            request->section[request->sections++] = request->src->grading[i]->id;
}

/* ---- files ---------------------------------------------------------------------------------- */

static enum st_code write_file(const char *folder, const char *name, const char *text, size_t bytes,
                               struct st_error *err)
{
    char path[PATH_MAX];
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "cannot hold %s in memory", name);
    if (!path_format(path, sizeof path, "%s/%s", folder, name))
        return st_fail(err, ST_TOO_LARGE, "path is too long");
    return file_write(path, text, bytes, err);
}

/* The report as text, from the old one. @param text  malloc'd */
static enum st_code make_text(const struct pp_request *request, const struct pp_document *old,
                              char **text, size_t *bytes, struct st_error *err)
{
    *text = NULL;
    FILE *out = open_memstream(text, bytes);
    if (!out)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the report in memory");
    enum st_code code = pp_assemble(request, old, out, stdout, err);
    if (fclose(out) && !code)
        code = st_fail(err, ST_NO_MEMORY, "cannot hold the report in memory");
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
            "report.tex: %zu character%s that LaTeX's standard fonts do not have became '?' (report.html has them)\n",
            lost, lost == 1 ? "" : "s");
    return code;
}

static void say_written(const char *folder, const char *name, const char *more)
{
    char here[PATH_MAX];
    printf("Report: %s/%s%s\n", checkout_from_here(folder, here), name, more);
}

/* A missing PDF is one line, not an error: the other formats exist. */
static void write_pdf(const char *folder, unsigned formats)
{
    const char *how;
    char more[64];
    struct st_error failure = {0};
    enum st_code code = pp_pdf_write(folder, formats & LATEX, formats & HTML, &how, &failure);
    if (code) {
        printf("skipped: report.pdf: %s%s%s%s%s\n", failure.what, failure.got[0] ? ": " : "",
               failure.got, failure.hint[0] ? "; " : "", failure.hint);
        return;
    }
    snprintf(more, sizeof more, " (by %s)", how);
    say_written(folder, "report.pdf", more);
}

static enum st_code write_all(struct arguments *a, const struct pp_document *old,
                              struct st_error *err)
{
    const struct gr_sources *src = a->request.src;
    char *text;
    size_t bytes;
    enum st_code code = make_text(&a->request, old, &text, &bytes, err);
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
    /* A PDF needs its source, also if only that is asked for. */
    const unsigned formats = a->formats & PDF ? a->formats | HTML | LATEX : a->formats;
    struct pp_document document;
    code = pp_document_parse(text, bytes, "report.md", &document, err);
    if (!code && formats & HTML)
        code = write_rendering(&document, src->out, true, err);
    if (!code && formats & HTML)
        say_written(src->out, "report.html", "");
    if (!code && formats & LATEX)
        code = write_rendering(&document, src->out, false, err);
    if (!code && formats & LATEX)
        say_written(src->out, "report.tex", "");
    if (!code && formats & PDF)
        write_pdf(src->out, formats);
    pp_document_free(&document);
    return code;
}

static enum st_code make_report(struct arguments *a, struct st_error *err)
{
    struct gr_sources *src = a->request.src;
    char templates[PATH_MAX], path[PATH_MAX];
    const char *build = checkout_build(err);
    src->root = checkout_root(err);
    if (!src->root || !build)
        return err->code;
    bool fits = path_format(src->gradings, PATH_MAX, "%s/report", build) &&
                path_format(templates, PATH_MAX, "%s/report-templates", src->root);
    fits = fits && (a->out ? path_format(src->out, PATH_MAX, "%s", a->out)
                           : path_format(src->out, PATH_MAX, "%s/labs/report", src->root));
    if (!fits || !path_format(path, sizeof path, "%s/report.md", src->out))
        return st_fail(err, ST_TOO_LARGE, "path is too long");
    a->request.templates = templates;
    struct pp_document old;
    enum st_code code = pp_document_read(path, &old, err);
    if (code)
        return code;
    if (old.bytes && !pp_document_find(&old, "report", "pieces") && old.segments == 1 &&
        !old.segment[0].section[0]) {
        st_fail(err, ST_USAGE, "this report.md was not made by this command");
        st_detail(err, ST_WHERE, "%s", path);
        code = st_detail(err, ST_HINT, "name another folder with --out DIR, or move the file away");
    }
    if (!code)
        code = pp_sources_read(src, err);
    if (!code && !a->request.sections && !old.bytes)
        take_graded(&a->request);
    if (!code && !a->request.sections && !old.bytes) {
        st_fail(err, ST_USAGE, "no milestone was graded yet");
        code = st_detail(err, ST_HINT,
                         "grade one (make m1 && ./grader m1), or name the milestones "
                         "of the report: ./grader report m1 m2");
    }
    if (!code)
        code = write_all(a, &old, err);
    pp_document_free(&old);
    pp_sources_free(src);
    return code;
}

int gr_command_report(int argc, char **argv);

int gr_command_report(int argc, char **argv)
{
    static const struct option_table table = {
        .rows = rows,
        .operands = "[m1 m2 ... final]",
        .about =
            "Makes the report that you complete and hand in, from the gradings in build/report: "
            "report.md, which you edit, and from that report.html, report.tex and report.pdf.\v"
            "Run again, it renews tables and figures and keeps every word that you wrote; the version "
            "before is report.md~. A first report without names has the milestones that were graded, a "
            "later one those that it had; what is named is added. 'final' compares all of them."};
    struct gr_sources *src = calloc(1, sizeof *src);
    struct st_error err = {0};
    enum st_code code = ST_OK;
    if (src) {
        struct arguments a = {.request = {.src = src}, .formats = ALL};
        options_parse(&table, argc, argv, &a);
        a.request.draw = !a.no_plots;
        src->team = a.team;
        code = make_report(&a, &err);
    } else {
        code = st_fail(&err, ST_NO_MEMORY, "cannot hold a report in memory");
    }
    fflush(stdout);
    if (code)
        st_print(stderr, argv[0], &err);
    free(src);
    return code ? EXIT_FAILED : EXIT_DONE;
}
