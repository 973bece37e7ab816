/* 1. Collect the sections of the report: its old sections and the requested ones. Each has a
 * template.
 * 2. Copy the old report segment by segment, refilling the grader's blocks.
 * 3. Insert new sections before the first section that belongs after them, and pieces of a newer
 *    template at the end of their section.
 * 4. Write the last block, a list of the inserted pieces, so that pieces deleted by the student
 *    stay deleted. */
#include "grader/paper/assemble.h"

#include "base/files.h"
#include "grader/course/milestone.h"
#include "grader/paper/sources.h"
#include "grader/report/template.h"
#include "grader/report/text_out.h"

#include <stdlib.h>
#include <string.h>

#define LIST_SECTION "report"
#define LIST_NAME    "pieces"

struct section {
    struct gr_template *template; /* NULL: the template no longer exists, the text stays */
    char name[GR_NAME];
    struct gr_plots *plots;
    bool known;   /* the old report contains this section */
    bool done;    /* the section is in the new report */
    bool flushed; /* the section's new pieces are in the new report */
};

struct maker {
    const struct pp_request *request;
    const struct pp_document *old;
    FILE *out, *notes;
    struct st_error *err;
    size_t sections;
    struct section section[PP_SECTIONS]; /* by rank */
    const struct pp_segment *list;       /* list of the pieces that were inserted earlier, or
                                            NULL */
    char last;                           /* the last byte written */
};

/* ---- the old report ------------------------------------------------------------------------- */

static bool is_listed(const struct maker *m, const char *section, const char *name)
{
    char word[2 * GR_NAME + 4];
    snprintf(word, sizeof word, " %s/%s ", section, name);
    return m->list && memmem(m->list->text, m->list->bytes, word, strlen(word));
}

/* Whether the old report contains any part of a section. */
static bool has_section(const struct pp_document *old, const char *section)
{
    for (size_t i = 0; i < old->segments; i++)
        if (strcmp(old->segment[i].section, section) == 0)
            return true;
    return false;
}

/* The rank of a section: "front", then milestones by number, others, "final". */
static long section_rank(const char *section)
{
    if (strcmp(section, "front") == 0)
        return -1;
    if (strcmp(section, "final") == 0)
        return LONG_MAX;
    const int number = gr_milestone_number(section);
    return number >= 0 ? number : LONG_MAX - 1;
}

/* ---- sections ------------------------------------------------------------------------------- */

static struct section *find_section(struct maker *m, const char *name)
{
    for (size_t i = 0; i < m->sections; i++)
        if (strcmp(m->section[i].name, name) == 0)
            return &m->section[i];
    return NULL;
}

static enum st_code add_section(struct maker *m, const char *name, bool known)
{
    if (find_section(m, name) || strcmp(name, LIST_SECTION) == 0)
        return ST_OK;
    if (m->sections == PP_SECTIONS)
        return st_fail(m->err, ST_TOO_LARGE, "too many sections");
    size_t at = m->sections++;
    for (; at && section_rank(m->section[at - 1].name) > section_rank(name); at--)
        m->section[at] = m->section[at - 1];
    m->section[at] = (struct section){.known = known};
    snprintf(m->section[at].name, GR_NAME, "%s", name);
    return ST_OK;
}

static enum st_code find_sections(struct maker *m)
{
    enum st_code code = ST_OK;
    for (size_t i = 0; i < m->old->segments && !code; i++)
        if (m->old->segment[i].section[0])
            code = add_section(m, m->old->segment[i].section, true);
    if (!code && !m->request->template)
        code = m->list ? ST_OK : add_section(m, "front", has_section(m->old, "front"));
    for (size_t i = 0; i < m->request->sections && !code; i++)
        code = add_section(m, m->request->section[i], false);
    return code;
}

static enum st_code read_templates(struct maker *m)
{
    for (size_t i = 0; i < m->sections; i++) {
        struct section *s = &m->section[i];
        char path[PATH_MAX];
        const char *name = m->request->template ? m->request->template : s->name;
        const bool there =
            path_format(path, sizeof path, "%s/%s.md", m->request->templates, name) &&
            file_exists(path);
        if (!there && s->known)
            continue;
        s->template = malloc(sizeof *s->template);
        s->plots = calloc(1, sizeof *s->plots);
        if (!s->template || !s->plots)
            return st_fail(m->err, ST_NO_MEMORY, "out of memory for the templates");
        enum st_code code = gr_template_read(m->request->templates, name, s->template, m->err);
        if (code) {
            if (!there)
                st_detail(m->err, ST_HINT,
                          "a section is a file in report-templates/: a milestone, or final");
            return code;
        }
    }
    return ST_OK;
}

/* Draws the plots once per run, from the current data. If this fails, the plots' own texts report
 * it. */
static void draw_plots(struct maker *m)
{
    for (size_t i = 0; i < m->sections && m->request->draw; i++) {
        struct section *s = &m->section[i];
        char folder[PATH_MAX];
        const char *all = m->request->src->gradings;
        bool wanted = false;
        for (size_t p = 0; s->template && p < s->template->pieces; p++)
            wanted = wanted || (s->template->piece[p].kind == GR_BLOCK &&
                                strcmp(s->template->piece[p].fill, "figure") == 0);
        const bool final = strcmp(s->name, "final") == 0;
        if (!wanted ||
            !path_format(folder, sizeof folder, "%s%s%s", all, final ? "" : "/",
                         final ? "" : s->name) ||
            !file_exists(folder))
            continue;
        struct st_error failure;
        if (gr_plots_draw(folder, s->plots, &failure))
            fprintf(m->notes, "%s: plots: %s\n", s->name, failure.what);
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put(struct maker *m, const char *text, size_t bytes)
{
    if (!bytes)
        return;
    fwrite(text, 1, bytes, m->out);
    m->last = text[bytes - 1];
}

/* Ends the student's last line, if necessary, before our text. */
static void end_line(struct maker *m)
{
    if (m->last != '\n' && m->last)
        fputc('\n', m->out);
    m->last = '\n';
}

/* Fills a block. @return malloc'd text; NULL: the old text stays, or out of memory. */
static char *fill(struct maker *m, const struct section *s, const struct gr_piece *piece,
                  bool fresh)
{
    int tables = piece->number - 1, figures = tables;
    bool stays;
    const struct gr_block block = {.src = m->request->src,
                                   .section = s->name,
                                   .piece = piece,
                                   .grading = pp_sources_find(m->request->src, s->name),
                                   .plots = s->plots && s->plots->n ? s->plots : NULL,
                                   .tables = &tables,
                                   .figures = &figures};
    char *text = gr_block_fill(&block, &stays);
    if (!stays || fresh)
        return text;
    free(text);
    return NULL;
}

static void put_piece(struct maker *m, const struct section *s, const struct gr_piece *piece)
{
    if (piece->kind == GR_TEXT) {
        put(m, piece->text, piece->bytes);
        return;
    }
    end_line(m);
    if (piece->kind == GR_PLACE) {
        pp_put_place(m->out, s->name, piece->name, gr_attribute(piece, "question", ""));
        return;
    }
    char *text = fill(m, s, piece, true);
    pp_put_generated(m->out, s->name, piece->name, text ? text : "", text ? strlen(text) : 0);
    free(text);
}

static void put_new_section(struct maker *m, struct section *s)
{
    end_line(m);
    pp_put_section(m->out, s->name);
    for (size_t i = 0; i < s->template->pieces; i++)
        put_piece(m, s, &s->template->piece[i]);
    end_line(m);
    fputc('\n', m->out);
    s->done = s->flushed = true;
    fprintf(m->notes, "added: %s\n", s->name);
}

/* Writes the pieces of a newer template at the end of an old section. */
static void put_new_pieces(struct maker *m, struct section *s)
{
    s->flushed = true;
    for (size_t i = 0; s->template && i < s->template->pieces; i++) {
        const struct gr_piece *p = &s->template->piece[i];
        if (p->kind == GR_TEXT || is_listed(m, s->name, p->name) ||
            pp_document_find(m->old, s->name, p->name))
            continue;
        end_line(m);
        fputc('\n', m->out);
        put_piece(m, s, p);
        fprintf(
            m->notes,
            "added: %s %s, new in the template, is at the end of section %s: move it to the right position\n",
            s->name, p->name, s->name);
    }
}

/* Inserts the new sections whose rank is lower, or all, and adds new pieces to the sections that
 * are complete. */
static void put_before(struct maker *m, long rank, bool all)
{
    for (size_t i = 0; i < m->sections; i++) {
        struct section *s = &m->section[i];
        if (!all && section_rank(s->name) >= rank)
            break;
        if (s->known && !s->flushed && (all || s->done))
            put_new_pieces(m, s);
        if (!s->known && !s->done)
            put_new_section(m, s);
    }
}

/* Writes the list of inserted pieces, including those that were deleted later. */
static void put_list(struct maker *m)
{
    struct text_out t;
    if (!text_out_open(&t))
        return;
    fputs("<!-- Inserted so far, so that deleted blocks stay deleted:\n", t.out);
    for (size_t i = 0; i < m->sections; i++) {
        const struct section *s = &m->section[i];
        for (size_t p = 0; s->template && p < s->template->pieces; p++)
            if (s->template->piece[p].kind != GR_TEXT)
                fprintf(t.out, " %s/%s ", s->name, s->template->piece[p].name);
        fputc('\n', t.out);
    }
    fputs("-->\n", t.out);
    if (text_out_close(&t)) {
        end_line(m);
        pp_put_generated(m->out, LIST_SECTION, LIST_NAME, t.text, t.bytes);
    }
    text_out_free(&t);
}

static void renew(struct maker *m, const struct pp_segment *old)
{
    const struct section *s = find_section(m, old->section);
    const struct gr_piece *piece = s && s->template ? gr_piece_find(s->template, old->name) : NULL;
    if (old->edited) {
        fprintf(
            m->notes,
            "kept: %s %s (line %zu) was changed by hand; to renew it, delete the text between its markers\n",
            old->section, old->name, old->line);
    } else if (!piece || piece->kind != GR_BLOCK) {
        fprintf(m->notes, "kept: %s %s (line %zu) is no longer in the template\n", old->section,
                old->name, old->line);
    } else {
        char *text = fill(m, s, piece, old->bytes == 0);
        if (text) {
            end_line(m);
            pp_put_generated(m->out, old->section, old->name, text, strlen(text));
            free(text);
            return;
        }
    }
    put(m, old->all, old->all_bytes);
}

static void put_segment(struct maker *m, const struct pp_segment *s)
{
    if (s == m->list)
        return; /* goes to the end of the report */
    struct section *of = s->section[0] ? find_section(m, s->section) : NULL;
    if (s->kind == PP_FREE && of) { /* a section begins */
        put_before(m, section_rank(of->name), false);
        of->done = true;
    }
    if (s->kind == PP_GENERATED)
        renew(m, s);
    else
        put(m, s->all, s->all_bytes);
}

static void tell_age(struct maker *m)
{
    for (size_t i = 0; i < m->sections; i++) {
        const struct gr_grading *g = pp_sources_find(m->request->src, m->section[i].name);
        if (g && g->stale)
            fprintf(m->notes,
                    "out of date: %s was changed after it was graded: make %s && "
                    "./grader %s\n",
                    g->result->source, g->id, g->id);
    }
}

enum st_code pp_assemble(const struct pp_request *request, const struct pp_document *old, FILE *out,
                         FILE *notes, struct st_error *err)
{
    struct maker *m = calloc(1, sizeof *m);
    if (!m)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the report");
    *m = (struct maker){.request = request, .old = old, .out = out, .notes = notes, .err = err};
    m->list = pp_document_find(old, LIST_SECTION, LIST_NAME);
    enum st_code code = find_sections(m);
    if (!code)
        code = read_templates(m);
    if (!code) {
        draw_plots(m);
        for (size_t i = 0; i < old->segments; i++)
            put_segment(m, &old->segment[i]);
        put_before(m, 0, true);
        put_list(m);
        tell_age(m);
    }
    for (size_t i = 0; i < m->sections; i++) {
        if (m->section[i].template)
            gr_template_free(m->section[i].template);
        free(m->section[i].template);
        free(m->section[i].plots);
    }
    free(m);
    return code;
}
