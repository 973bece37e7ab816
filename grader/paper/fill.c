#include "grader/paper/fill.h"

#include "base/files.h"
#include "base/tsv.h"
#include "grader/report/report_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *kind;
    bool (*fill)(const struct pp_fill *);
} fills[] = {
#define FILL(name) {#name, pp_fill_##name},
#include "grader/paper/fills.def"
#undef FILL
};

const char *pp_fill_known(const char *kind)
{
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (strcmp(kind, fills[i].kind) == 0)
            return fills[i].kind;
    return NULL;
}

bool pp_fill(const struct pp_fill *f)
{
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (strcmp(f->piece->fill, fills[i].kind) == 0)
            return fills[i].fill(f);
    return false;
}

void pp_put_number(FILE *out, const char *section, int number)
{
    if (section[0] == 'm' && isdigit((unsigned char)section[1]))
        fprintf(out, "%s.%d", section + 1, number);
    else
        fprintf(out, "%c.%d", toupper((unsigned char)section[0]), number);
}

void pp_put_caption(const struct pp_fill *f, const char *images)
{
    const struct pp_piece *p = f->piece;
    if (!p->number_kind)
        return;
    fprintf(f->out, "**%s ", p->number_kind);
    pp_put_number(f->out, f->section, p->number);
    fputs(".** ", f->out);
    const char *caption = pp_attribute(p, "caption", ""), *at;
    for (; (at = strstr(caption, "{images}")); caption = at + strlen("{images}"))
        fprintf(f->out, "%.*s%s", (int)(at - caption), caption, images ? images : "all");
    fprintf(f->out, "%s\n\n", caption);
}

void pp_put_missing(const struct pp_fill *f, const char *what, const char *command)
{
    fprintf(f->out, "> *Not here yet: %s.* Made by: `%s`\n", what, command);
}

const char *pp_what_of(const char *file)
{
    return strncmp(file, "profile/", 8) == 0 ? "the profile of" : "the grading of";
}

void pp_make_command(const struct pp_fill *f, char *to, size_t room)
{
    const char *make = pp_attribute(f->piece, "make", NULL);
    const char *file = pp_attribute(f->piece, "file", "");
    const bool lab = strcmp(f->section, "m0") != 0;
    if (make)
        snprintf(to, room, "%s", make);
    else
        snprintf(to, room, "%s%s%s./grader %s%s", lab ? "make " : "", lab ? f->section : "",
                 lab ? " && " : "", f->section,
                 strncmp(file, "profile/", 8) == 0 ? " --profile" : "");
}

/* The reason that a profile gives for a part which is not there: that of its last row, the GPU's
 * and the largest size's. */
static void put_reason(FILE *out, const struct tsv *parts, const char *wanted)
{
    const int part = tsv_column(parts, "part"), reason = tsv_column(parts, "reason");
    const char *why = "";
    for (size_t row = 0; row < parts->rows && part >= 0 && reason >= 0; row++)
        if (strcmp(tsv_cell(parts, row, part), wanted) == 0)
            why = tsv_cell(parts, row, reason);
    fputs("> *Nothing to show.* ", out);
    gr_put_markdown(out, *why ? why : "The profile has nothing of this kind.");
    fputc('\n', out);
}

void pp_put_nothing(const struct pp_fill *f)
{
    char path[PATH_MAX], what[100], command[160];
    struct tsv parts;
    const char *file = pp_attribute(f->piece, "file", "");
    pp_make_command(f, command, sizeof command);
    if (strncmp(file, "profile/", 8) == 0 &&
        path_format(path, sizeof path, "%s/%s/profile/parts.tsv", f->src->gradings, f->section) &&
        file_exists(path) && !tsv_read(path, &parts, NULL)) {
        put_reason(f->out, &parts, pp_attribute(f->piece, "part", "trace"));
        tsv_free(&parts);
        return;
    }
    snprintf(what, sizeof what, "%s %s", pp_what_of(file), f->section);
    pp_put_missing(f, what, command);
}

bool pp_fill_team(const struct pp_fill *f)
{
    const struct pp_sources *s = f->src;
    if (!s->team && !s->authors) {
        pp_put_missing(f, "name of the team and its members",
                       "./grader report --team 'NAME' --author 'NAME (ID)'");
        return false;
    }
    fputs("| | |\n|---|---|\n", f->out);
    if (s->team) {
        fputs("| **Team** | ", f->out);
        gr_put_markdown(f->out, s->team);
        fputs(" |\n", f->out);
    }
    for (size_t i = 0; i < s->authors; i++) {
        fputs(i ? "| | " : s->authors > 1 ? "| **Authors** | " : "| **Author** | ", f->out);
        gr_put_markdown(f->out, s->author[i]);
        fputs(" |\n", f->out);
    }
    return true;
}
