/* Blocks with text files, unchanged, and with pictures. */
#include "base/files.h"
#include "grader/report/block.h"
#include "grader/report/report_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT_BYTES = 256 << 10, MAX_PICTURE_BYTES = 4 << 20, SIZES = 16 };

/* ---- @text ---------------------------------------------------------------------------------- */

static void put_file(const struct gr_block *b, const char *folder, const char *prefix, long images,
                     const char *suffix, bool titled)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/%s%ld%s", folder, prefix, images, suffix) ||
        file_read(path, MAX_TEXT_BYTES, &text, &bytes, NULL))
        return;
    if (titled)
        fprintf(b->out, "%ld images:\n\n", images);
    gr_put_markdown_block(b->out, text);
    fputc('\n', b->out);
    free(text);
}

/* file="profile/summary-{images}.txt" images="largest" or "each" */
bool gr_block_text(const struct gr_block *b)
{
    char folder[PATH_MAX], *slash, *mark;
    long sizes[SIZES];
    size_t n = 0;
    if (gr_block_path(b, folder, gr_attribute(b->piece, "file", "")) &&
        (slash = strrchr(folder, '/')) && (mark = strstr(slash, "{images}"))) {
        *slash = *mark = '\0';
        n = folder_numbers(folder, slash + 1, mark + strlen("{images}"), sizes, SIZES);
    }
    if (!n)
        return gr_put_no_file(b);
    const bool each = gr_attribute_is(b->piece, "images", "each");
    char images[24];
    snprintf(images, sizeof images, "%ld", sizes[n - 1]);
    gr_put_caption(b, each ? NULL : images);
    for (size_t i = each ? 0 : n - 1; i < n; i++)
        put_file(b, folder, slash + 1, sizes[i], mark + strlen("{images}"), each);
    return true;
}

/* ---- @figure -------------------------------------------------------------------------------- */

/* Copies a picture into the report's folder; if there is no picture, removes an earlier one. */
static bool take_picture(const struct gr_block *b, const char *name, const char *suffix)
{
    char from[PATH_MAX], to[PATH_MAX], plot[200], folder[PATH_MAX];
    if (!path_format(to, sizeof to, "%s/figures/%s-%s.%s", b->src->out, b->section, name, suffix))
        return false;
    if (!path_format(plot, sizeof plot, "plots/%s.%s", name, suffix) ||
        !gr_block_path(b, from, plot) || !file_exists(from)) {
        unlink(to);
        return false;
    }
    return path_format(folder, sizeof folder, "%s/figures", b->src->out) &&
           !dir_make(folder, NULL) && !file_copy(from, to, MAX_PICTURE_BYTES, NULL);
}

/* Picture and caption are one paragraph, so that they stay together. The caption is the plot's, or
 * else the template's. */
static void put_figure(const struct gr_block *b, const char *name, const struct gr_plot *plot)
{
    fputs("![", b->out);
    gr_put_markdown(b->out, plot && plot->title[0] ? plot->title : name);
    if (b->src)
        fprintf(b->out, "](figures/%s-%s.svg)\\\n*", b->section, name);
    else
        fprintf(b->out, "](plots/%s.svg)\\\n*", name);
    gr_put_number(b, true);
    fputs(". ", b->out);
    if (plot && plot->caption[0])
        gr_put_markdown(b->out, plot->caption);
    else
        fputs(gr_attribute(b->piece, "caption", ""), b->out);
    fputs("*\n", b->out);
}

/* Explains why there is no figure: either no data to draw it from exists yet, or the data gives a
 * reason why it cannot be drawn. */
static bool put_no_figure(const struct gr_block *b, const char *name, const struct gr_plot *plot)
{
    char command[GR_COMMAND], what[200], profile[PATH_MAX];
    gr_make_command(b, command);
    const bool profiled = gr_block_path(b, profile, "profile/parts.tsv") && file_exists(profile);
    if (plot && plot->reason[0] && (profiled || !strstr(command, "--profile"))) {
        fputs("> *No figure.* ", b->out);
        gr_put_markdown(b->out, plot->reason);
        fputc('\n', b->out);
        return false;
    }
    snprintf(what, sizeof what, "the figure \"%.90s\" of %s", name, b->section);
    return gr_put_missing(b, what, command);
}

/* On the page of a grading, gives a reason that several plots share only once. */
static bool put_reason(const struct gr_block *b, const struct gr_plot *plot)
{
    for (const struct gr_plot *earlier = b->plots->plot; earlier < plot; earlier++)
        if (strcmp(earlier->reason, plot->reason) == 0)
            return false;
    fprintf(b->out, "*%s*\n", plot->reason);
    return false;
}

bool gr_block_figure(const struct gr_block *b)
{
    static const char *const suffixes[] = {"svg", "pdf", "png"};
    const char *name = gr_attribute(b->piece, "plot", b->piece->name);
    const struct gr_plot *plot = b->plots ? gr_plots_find(b->plots, name) : NULL;
    bool there = !b->src && plot && !plot->reason[0];
    for (size_t i = 0; b->src && i < sizeof suffixes / sizeof *suffixes; i++)
        there = take_picture(b, name, suffixes[i]) || there;
    if (there)
        put_figure(b, name, plot);
    else if (b->src)
        put_no_figure(b, name, plot);
    else if (plot)
        put_reason(b, plot);
    return there;
}

/* but="op-times speed-up": the figures with these names have separate blocks. */
bool gr_block_figures(const struct gr_block *b)
{
    bool any = false;
    char word[sizeof b->plots->plot->name + 2], but[200];
    snprintf(but, sizeof but, " %s ", gr_attribute(b->piece, "but", ""));
    for (size_t i = 0; b->plots && i < b->plots->n; i++) {
        const struct gr_plot *plot = &b->plots->plot[i];
        snprintf(word, sizeof word, " %s ", plot->name);
        if (plot->reason[0] || strstr(but, word))
            continue;
        fputs(any ? "\n" : "", b->out);
        put_figure(b, plot->name, plot);
        any = true;
    }
    return any;
}
