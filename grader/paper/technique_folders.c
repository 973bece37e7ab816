/* 1. Read the table of techniques and choose rows.
 * 2. For each row, write the folder's page, and the source and profile of the last grading.
 * 3. Print a line for each thing that the student still has to do. */
#include "grader/paper/technique_folders.h"

#include "base/files.h"
#include "base/sha256.h"
#include "base/tsv.h"
#include "grader/course/milestone.h"
#include "grader/history/history.h"
#include "grader/history/history_profile.h"
#include "grader/paper/report_files.h"
#include "grader/paper/sources.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE_BYTES = 1 << 20 };

/** A row of techniques.tsv. */
struct technique {
    const char *folder, *milestone, *name;
};

struct maker {
    const struct pp_request *request;
    struct gr_sources *src;
    struct tsv table;
    char out[PATH_MAX]; /* parent folder of all folders */
    unsigned formats;
};

/* ---- the table ------------------------------------------------------------------------------- */

static struct technique row_of(const struct maker *m, size_t row)
{
    return (struct technique){tsv_text(&m->table, row, "folder"),
                              tsv_text(&m->table, row, "milestone"),
                              tsv_text(&m->table, row, "technique")};
}

static bool is_folder(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z' && strlen(name) < GR_NAME &&
           !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")];
}

static enum st_code read_table(struct maker *m, struct st_error *err)
{
    char path[PATH_MAX];
    if (path_make(path, sizeof path, err, "%s/techniques.tsv", m->request->templates))
        return err->code;
    enum st_code code = tsv_read(path, &m->table, err);
    for (size_t i = 0; i < m->table.rows && !code; i++) {
        const struct technique t = row_of(m, i);
        bool twice = false;
        for (size_t k = 0; k < i; k++)
            twice = twice || strcmp(row_of(m, k).folder, t.folder) == 0;
        if (is_folder(t.folder) && gr_is_name(t.milestone, strlen(t.milestone)) && t.name[0] &&
            !twice)
            continue;
        code = st_fail(err, ST_BAD_FORMAT,
                       twice ? "the table of techniques names a folder twice"
                             : "the table of techniques has an invalid row");
        st_detail(err, ST_WHERE, "%s, row %zu", path, i + 1);
        st_detail(err, ST_EXPECTED,
                  "columns folder (op_1), milestone (m9) and technique (its name)");
        st_detail(err, ST_GOT, "'%s', '%s', '%s'", t.folder, t.milestone, t.name);
    }
    return code;
}

static bool is_named(const struct technique *t, const char *name)
{
    return strcmp(t->folder, name) == 0 || strcmp(t->milestone, name) == 0;
}

/* Whether a milestone is offered: the table may list milestones that a course omits from labs/. */
static bool is_offered(const struct technique *t)
{
    struct gr_milestone milestone;
    struct st_error ignored;
    return !gr_milestone_find(&milestone, t->milestone, &ignored);
}

static enum st_code check_names(const struct maker *m, struct st_error *err)
{
    struct gr_milestone milestone;
    for (size_t i = 0; i < m->request->sections; i++) {
        struct technique t = {0};
        for (size_t row = 0; row < m->table.rows && !t.folder; row++) {
            const struct technique one = row_of(m, row);
            if (is_named(&one, m->request->section[i]))
                t = one;
        }
        if (t.folder && gr_milestone_find(&milestone, t.milestone, err))
            return err->code;
        if (t.folder)
            continue;
        st_fail(err, ST_NOT_FOUND, "no technique has the folder or milestone '%s'",
                m->request->section[i]);
        st_detail(err, ST_WHERE, "%s/techniques.tsv", m->request->templates);
        return st_detail(err, ST_HINT,
                         "add a row to the table, or give a folder or milestone that is in it");
    }
    return ST_OK;
}

static bool is_wanted(const struct maker *m, const struct technique *t)
{
    char page[PATH_MAX];
    const struct gr_grading *g = pp_sources_find(m->src, t->milestone);
    for (size_t i = 0; i < m->request->sections; i++)
        if (is_named(t, m->request->section[i]))
            return true;
    return !m->request->sections && is_offered(t) &&
           ((g && g->result) ||
            (path_format(page, sizeof page, "%s/%s/report.md", m->out, t->folder) &&
             file_exists(page)));
}

/* ---- a folder -------------------------------------------------------------------------------- */

static void say(const struct technique *t, const char *what, const char *option)
{
    printf("%s: %s: make %s && ./grader %s%s\n", t->folder, what, t->milestone, t->milestone,
           option);
}

/* Whether a file has the graded contents. */
static bool is_graded(const struct gr_grading *g, const char *path)
{
    char *text, hash[SHA256_HEX];
    size_t bytes;
    if (file_read(path, MOST_SOURCE_BYTES, &text, &bytes, NULL))
        return false;
    sha256_hex(text, bytes, hash);
    free(text);
    return strcmp(hash, g->result->source_hash) == 0;
}

/* Finds the graded source, in the history or at its original path. @return false if it has changed
 * since the grading. */
static bool find_source(const struct maker *m, const struct gr_grading *g, const char *name,
                        char path[PATH_MAX])
{
    struct hi_list list;
    struct st_error ignored;
    bool found = false;
    if (!hi_list_read(&list, g->folder, &ignored))
        for (size_t i = list.n; i-- > 0 && !found;)
            found = path_format(path, PATH_MAX, "%s/%s", list.version[i].folder, name) &&
                    is_graded(g, path);
    hi_list_free(&list);
    const char *source = g->result->source;
    return found || (path_format(path, PATH_MAX, "%s%s%s", source[0] == '/' ? "" : m->src->root,
                                 source[0] == '/' ? "" : "/", source) &&
                     is_graded(g, path));
}

static enum st_code put_source(const struct maker *m, const struct technique *t,
                               const struct gr_grading *g, struct st_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    const char *slash = strrchr(g->result->source, '/');
    const char *name = slash ? slash + 1 : g->result->source;
    if (strcmp(g->result->subject, "submission") != 0) {
        say(t, "the last grading is skipped, because it did not grade your work", "");
        return ST_OK;
    }
    if (!find_source(m, g, name, from)) {
        say(t, "the graded source was changed, and no copy is kept", "");
        return ST_OK;
    }
    if (path_make(to, sizeof to, err, "%s/%s", m->src->out, name))
        return err->code;
    enum st_code code = file_copy(from, to, MOST_SOURCE_BYTES, err);
    if (!code && g->stale)
        say(t, "your source was changed after it was graded", " --profile");
    return code;
}

static enum st_code put_profile(const struct maker *m, const struct technique *t,
                                const struct gr_grading *g, struct st_error *err)
{
    char path[PATH_MAX];
    if (strcmp(g->result->subject, "submission") != 0)
        return ST_OK;
    if (!path_format(path, sizeof path, "%s/profile", g->folder) || !file_exists(path))
        say(t, "no profile", " --profile");
    return hi_profile_show(g->folder, m->src->out, err);
}

/* Prints the number of unanswered questions on the page. */
static enum st_code count_questions(const struct maker *m, const struct technique *t,
                                    struct st_error *err)
{
    struct pp_document page;
    size_t questions = 0, open = 0;
    enum st_code code = pp_report_read(m->src->out, &page, err);
    if (code)
        return code;
    for (size_t i = 0; i < page.segments; i++) {
        const struct pp_segment *s = &page.segment[i];
        questions += s->kind == PP_PROSE;
        open += s->kind == PP_PROSE && !pp_prose_look(s->text, s->bytes).written;
    }
    if (open)
        printf("%s: %zu of %zu questions have no answer yet\n", t->folder, open, questions);
    pp_document_free(&page);
    return ST_OK;
}

static enum st_code make_folder(struct maker *m, const struct technique *t, struct st_error *err)
{
    const struct gr_grading *g = pp_sources_find(m->src, t->milestone);
    struct pp_request request = *m->request;
    struct pp_document old;
    if (path_make(m->src->out, PATH_MAX, err, "%s/%s", m->out, t->folder))
        return err->code;
    request.template = "technique";
    request.sections = 1;
    request.section[0] = t->milestone;
    m->src->folder = t->folder;
    m->src->technique = t->name;
    enum st_code code = pp_report_read(m->src->out, &old, err);
    if (!code)
        code = pp_report_write(&request, &old, m->formats, err);
    pp_document_free(&old);
    if (!code && (!g || !g->result))
        say(t, "not graded", " --profile");
    else if (!code && !(code = put_source(m, t, g, err)))
        code = put_profile(m, t, g, err);
    return code ? code : count_questions(m, t, err);
}

/* ---- all folders ---------------------------------------------------------------------------- */

/* Prints the required techniques (by the names of their folders) that have neither a folder nor a
 * grading. */
static void say_required(const struct maker *m)
{
    for (size_t i = 0; i < m->table.rows; i++) {
        const struct technique t = row_of(m, i);
        if (strncmp(t.folder, "req_", 4) == 0 && is_offered(&t) && !is_wanted(m, &t))
            say(&t, "required, but not graded", " --profile");
    }
}

enum st_code pp_techniques_write(const struct pp_request *request, unsigned formats,
                                 struct st_error *err)
{
    struct maker m = {
        .request = request, .src = request->src, .formats = formats ? formats : PP_MD | PP_HTML};
    size_t made = 0;
    snprintf(m.out, sizeof m.out, "%s", request->src->out);
    enum st_code code = read_table(&m, err);
    if (!code)
        code = check_names(&m, err);
    for (size_t i = 0; i < m.table.rows && !code; i++) {
        const struct technique t = row_of(&m, i);
        if (!is_wanted(&m, &t))
            continue;
        code = make_folder(&m, &t, err);
        made++;
    }
    if (!code && !made) {
        code = st_fail(err, ST_USAGE, "no technique has been graded yet");
        st_detail(
            err, ST_HINT,
            "grade one (make m4 && ./grader m4 --profile), or name the milestones or folders to make");
    } else if (!code && !request->sections) {
        say_required(&m);
    }
    tsv_free(&m.table);
    return code;
}
