/* `grader report`: makes the report that a student edits and hands in. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/option_table.h"
#include "grader/paper/report_files.h"
#include "grader/paper/sources.h"
#include "grader/paper/technique_folders.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 2, ALL = PP_MD | PP_HTML | PP_LATEX | PP_PDF };

struct arguments {
    struct pp_request request;
    const char *out, *team;
    unsigned formats; /* 0: not chosen */
    bool no_plots, techniques;
};

static void take_formats(void *to, char *list, const struct option_row *row,
                         struct argp_state *state)
{
    (void)row;
    static const char *const name[] = {"md", "html", "latex", "pdf"};
    unsigned formats = PP_MD;
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
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] || !name[0] ||
        strlen(name) >= GR_NAME || strcmp(name, "front") == 0)
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
     "md, html, latex, pdf, or several, separated by commas (default: all; report.md is always made)",
     OPTION_TAKE(struct arguments, formats, take_formats)},
    {"team", 0, "NAME", "name of the team", OPTION_TEXT(struct arguments, team)},
    {"author", 0, "NAME (ID)", "a member of the team; repeat the option for each",
     OPTION_TAKE_ALL(take_author)},
    {"techniques", 0, NULL,
     "make a folder for each technique, with a page of questions, the graded source and its profile",
     OPTION_FLAG(struct arguments, techniques)},
    {"no-plots", 0, NULL, "use the existing plots, without drawing them again",
     OPTION_FLAG(struct arguments, no_plots)},
    {OPTION_OPERANDS(take_section)},
    {0}};

/* For a first report, if no milestones are named: requests the graded milestones. */
static void take_graded(struct pp_request *request)
{
    for (size_t i = 0; i < request->src->n; i++)
        if (request->src->grading[i]->result && request->sections < PP_SECTIONS)
            request->section[request->sections++] = request->src->grading[i]->id;
}

/* Makes one report for several milestones. */
static enum st_code make_one(struct arguments *a, struct st_error *err)
{
    struct pp_document old;
    enum st_code code = pp_report_read(a->request.src->out, &old, err);
    if (code)
        return code;
    if (!a->request.sections && !old.bytes)
        take_graded(&a->request);
    if (!a->request.sections && !old.bytes) {
        st_fail(err, ST_USAGE, "no milestone has been graded yet");
        code = st_detail(err, ST_HINT,
                         "grade one (make m1 && ./grader m1), or name the milestones "
                         "of the report: ./grader report m1 m2");
    }
    if (!code)
        code = pp_report_write(&a->request, &old, a->formats ? a->formats : ALL, err);
    pp_document_free(&old);
    return code;
}

static enum st_code make_report(struct arguments *a, struct st_error *err)
{
    struct gr_sources *src = a->request.src;
    char templates[PATH_MAX];
    const char *build = checkout_build(err);
    src->root = checkout_root(err);
    if (!src->root || !build)
        return err->code;
    enum st_code code = path_make(src->gradings, PATH_MAX, err, "%s/report", build);
    if (!code)
        code = path_make(templates, PATH_MAX, err, "%s/report-templates", src->root);
    if (!code)
        code = path_make(src->out, PATH_MAX, err, "%s%s", a->out ? a->out : src->root,
                         a->out ? "" : "/labs/report");
    a->request.templates = templates;
    if (!code)
        code = pp_sources_read(src, err);
    if (!code)
        code = a->techniques ? pp_techniques_write(&a->request, a->formats, err) : make_one(a, err);
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
            "Make, from the gradings in build/report, the report that you complete and hand in: report.md, which you edit, and from it report.html, report.tex and report.pdf.\v"
            "If you run it again, it updates tables and figures and keeps every word that you wrote; report.md~ is the previous version. Without names, the first report has all graded milestones, and a later one keeps its sections. A named milestone is added. 'final' compares all of them. "
            "--techniques makes folders in DIR, by the table report-templates/techniques.tsv: those that you name by milestone or folder or, without names, those whose milestone was graded."};
    struct gr_sources *src = calloc(1, sizeof *src);
    struct st_error err = {0};
    enum st_code code = ST_OK;
    if (src) {
        struct arguments a = {.request = {.src = src}};
        options_parse(&table, argc, argv, &a);
        a.request.draw = !a.no_plots;
        src->team = a.team;
        code = make_report(&a, &err);
    } else {
        code = st_fail(&err, ST_NO_MEMORY, "out of memory for a report");
    }
    fflush(stdout);
    if (code)
        st_print(stderr, argv[0], &err);
    free(src);
    return code ? EXIT_FAILED : EXIT_DONE;
}
