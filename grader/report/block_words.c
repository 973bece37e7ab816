#include "base/files.h"
#include "base/shown_path.h"
#include "grader/report/block.h"
#include "grader/report/report_parts.h"

#include <ctype.h>
#include <string.h>

void gr_put_number(const struct gr_block *b, bool figure)
{
    const int number = ++*(figure ? b->figures : b->tables);
    fputs(figure ? "Figure " : "Table ", b->out);
    if (b->src && b->section[0] == 'm' && isdigit((unsigned char)b->section[1]))
        fprintf(b->out, "%s.", b->section + 1);
    else if (b->src && isdigit((unsigned char)b->section[1]))
        fprintf(b->out, "%c%s.", toupper((unsigned char)b->section[0]), b->section + 1);
    else if (b->src)
        fprintf(b->out, "%c.", toupper((unsigned char)b->section[0]));
    fprintf(b->out, "%d", number);
}

void gr_put_caption(const struct gr_block *b, const char *images)
{
    const char *caption = gr_attribute(b->piece, "caption", NULL), *at;
    if (!caption)
        return;
    fputs("**", b->out);
    gr_put_number(b, false);
    fputs(".** ", b->out);
    for (; (at = strstr(caption, "{images}")); caption = at + strlen("{images}"))
        fprintf(b->out, "%.*s%s", (int)(at - caption), caption, images ? images : "all");
    fprintf(b->out, "%s\n\n", caption);
}

bool gr_put_nothing(const struct gr_block *b, const char *text)
{
    if (b->src) {
        fputs("> *Nothing to show.* ", b->out);
        gr_put_markdown(b->out, text);
        fputc('\n', b->out);
    }
    return false;
}

bool gr_put_missing(const struct gr_block *b, const char *what, const char *command)
{
    if (b->src)
        fprintf(b->out, "> *Missing: %s.* To make it, run: `%s`\n", what, command);
    return false;
}

static bool is_of_profile(const char *file)
{
    return strncmp(file, "profile/", strlen("profile/")) == 0;
}

void gr_make_command(const struct gr_block *b, char to[GR_COMMAND])
{
    const char *make = gr_attribute(b->piece, "make", NULL);
    const char *more = is_of_profile(gr_attribute(b->piece, "file", "")) ? " --profile" : "";
    const char *mark = make ? strstr(make, "{section}") : NULL;
    if (mark)
        snprintf(to, GR_COMMAND, "%.*s%s%s", (int)(mark - make), make, b->section,
                 mark + strlen("{section}"));
    else if (make)
        snprintf(to, GR_COMMAND, "%s", make);
    else if (strcmp(b->section, "m0") == 0)
        snprintf(to, GR_COMMAND, "./grader m0%s", more);
    else
        snprintf(to, GR_COMMAND, "make %s && ./grader %s%s", b->section, b->section, more);
}

void gr_put_few_sizes(const struct gr_block *b, size_t sizes, const char *command)
{
    if (b->src && sizes < 3)
        fprintf(
            b->out,
            "\n> *Fewer than three sizes were run.* For more, run: `%s --images 100,1000,10000`\n",
            command);
}

bool gr_block_path(const struct gr_block *b, char to[PATH_MAX], const char *file)
{
    if (b->grading)
        return path_format(to, PATH_MAX, "%s/%s", b->grading->folder, file);
    const bool of_all = strcmp(b->section, "final") == 0;
    return path_format(to, PATH_MAX, "%s/%s%s%s", b->src->gradings, of_all ? "" : b->section,
                       of_all ? "" : "/", file);
}

/* Writes the profile's reason for a missing part. If there are several, the last row's, which is
 * the GPU's at the largest size. */
static bool put_reason(const struct gr_block *b, const struct tsv *parts)
{
    const int part = tsv_column(parts, "part"), reason = tsv_column(parts, "reason");
    const char *why = "";
    for (size_t row = 0; row < parts->rows && part >= 0 && reason >= 0; row++)
        if (gr_attribute_is(b->piece, "part", tsv_cell(parts, row, part)) ||
            (!gr_attribute(b->piece, "part", NULL) &&
             strcmp(tsv_cell(parts, row, part), "trace") == 0))
            why = tsv_cell(parts, row, reason);
    return gr_put_nothing(b, *why ? why : "The profile has no such rows.");
}

bool gr_put_no_file(const struct gr_block *b)
{
    char path[PATH_MAX], what[100], command[GR_COMMAND];
    struct tsv parts;
    const bool profile = is_of_profile(gr_attribute(b->piece, "file", ""));
    if (profile && gr_block_path(b, path, "profile/parts.tsv") && file_exists(path) &&
        !tsv_read(path, &parts, NULL)) {
        put_reason(b, &parts);
        tsv_free(&parts);
        return false;
    }
    gr_make_command(b, command);
    snprintf(what, sizeof what, "the %s of %s", profile ? "profile" : "grading", b->section);
    return gr_put_missing(b, what, command);
}

const char *gr_place_text(char to[GR_PLACE_CHARS], const char *file, const char *line)
{
    snprintf(to, GR_PLACE_CHARS, "%.200s:%s", path_base(file), line);
    return to;
}
