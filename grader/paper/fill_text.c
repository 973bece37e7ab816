/* Text files as they are, and pictures. */
#include "grader/paper/fill.h"

#include "base/files.h"
#include "grader/report/report_parts.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT_BYTES = 256 << 10, MAX_PICTURE_BYTES = 4 << 20, SIZES = 16 };

/* ---- @text ---------------------------------------------------------------------------------- */

/* The sizes N for which PREFIX + N + SUFFIX is a file of the folder, ascending. */
static size_t find_sizes(const char *folder, const char *prefix, const char *suffix, long to[SIZES])
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && n < SIZES;) {
        char *end;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        const long images = strtol(entry->d_name + strlen(prefix), &end, 10);
        if (images <= 0 || strcmp(end, suffix) != 0)
            continue;
        size_t i = n++;
        for (; i && to[i - 1] > images; i--)
            to[i] = to[i - 1];
        to[i] = images;
    }
    if (dir)
        closedir(dir);
    return n;
}

static void put_file(const struct pp_fill *f, const char *folder, const char *prefix, long images,
                     const char *suffix, bool titled)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/%s%ld%s", folder, prefix, images, suffix) ||
        file_read(path, MAX_TEXT_BYTES, &text, &bytes, NULL))
        return;
    if (titled)
        fprintf(f->out, "%ld images:\n\n", images);
    gr_put_markdown_block(f->out, text);
    fputc('\n', f->out);
    free(text);
}

/* file="profile/summary-{images}.txt" images="largest" or "each" */
bool pp_fill_text(const struct pp_fill *f)
{
    char folder[PATH_MAX], name[200];
    long sizes[SIZES];
    const char *file = pp_attribute(f->piece, "file", "");
    const char *mark = strstr(file, "{images}"), *slash = strrchr(file, '/');
    size_t n = 0;
    const char *start = slash ? slash + 1 : file;
    if (mark && mark >= start &&
        path_format(folder, sizeof folder, "%s/%s/%.*s", f->src->gradings, f->section,
                    (int)(start - file), file)) {
        snprintf(name, sizeof name, "%.*s", (int)(mark - start), start);
        n = find_sizes(folder, name, mark + strlen("{images}"), sizes);
    }
    if (!n) {
        pp_put_nothing(f);
        return true;
    }
    const bool each = strcmp(pp_attribute(f->piece, "images", "largest"), "each") == 0;
    char images[24];
    snprintf(images, sizeof images, "%ld", sizes[n - 1]);
    pp_put_caption(f, each ? NULL : images);
    for (size_t i = each ? 0 : n - 1; i < n; i++)
        put_file(f, folder, name, sizes[i], mark + strlen("{images}"), each);
    return true;
}

/* ---- @figure -------------------------------------------------------------------------------- */

static const char *const suffixes[] = {"svg", "pdf", "png"};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

/* Copies a picture into the report's folder, or removes an earlier one if there is none now. */
static bool take_picture(const struct pp_fill *f, const char *name, const char *suffix)
{
    char from[PATH_MAX], to[PATH_MAX], *data = NULL;
    size_t bytes;
    if (!path_format(to, sizeof to, "%s/figures/%s-%s.%s", f->src->out, f->section, name, suffix))
        return false;
    const bool of_all = strcmp(f->section, "final") == 0;
    if (!path_format(from, sizeof from, "%s%s%s/plots/%s.%s", f->src->gradings, of_all ? "" : "/",
                     of_all ? "" : f->section, name, suffix) ||
        file_read(from, MAX_PICTURE_BYTES, &data, &bytes, NULL)) {
        unlink(to);
        return false;
    }
    char folder[PATH_MAX];
    const bool good = path_format(folder, sizeof folder, "%s/figures", f->src->out) &&
                      !dir_make(folder, NULL) && !file_write(to, data, bytes, NULL);
    free(data);
    return good;
}

/* What the plot says of itself, or what the template says. */
static void put_words(const struct pp_fill *f, const struct gr_plot *plot)
{
    fputs("*Figure ", f->out);
    pp_put_number(f->out, f->section, f->piece->number);
    fputs(". ", f->out);
    if (plot && plot->caption[0])
        gr_put_markdown(f->out, plot->caption);
    else
        fputs(pp_attribute(f->piece, "caption", ""), f->out);
    fputs("*\n", f->out);
}

/* There is either nothing to draw it from yet, or a reason why it cannot be drawn from what there
 * is. */
static void put_no_figure(const struct pp_fill *f, const char *name, const struct gr_plot *plot)
{
    char command[160], what[200], profile[PATH_MAX];
    pp_make_command(f, command, sizeof command);
    const bool profiled = path_format(profile, sizeof profile, "%s/%s/profile/parts.tsv",
                                      f->src->gradings, f->section) &&
                          file_exists(profile);
    if (plot && plot->reason[0] && (profiled || !strstr(command, "--profile"))) {
        fputs("> *No figure.* ", f->out);
        gr_put_markdown(f->out, plot->reason);
        fputc('\n', f->out);
        return;
    }
    snprintf(what, sizeof what, "the figure \"%.90s\" of %s", name, f->section);
    pp_put_missing(f, what, command);
}

bool pp_fill_figure(const struct pp_fill *f)
{
    const char *name = pp_attribute(f->piece, "plot", f->piece->name);
    const struct gr_plot *plot = f->plots ? gr_plots_find(f->plots, name) : NULL;
    bool there = false;
    for (int i = 0; i < SUFFIXES; i++)
        there = take_picture(f, name, suffixes[i]) || there;
    if (!there) {
        put_no_figure(f, name, plot);
        return true;
    }
    fputs("![", f->out);
    gr_put_markdown(f->out, plot && plot->title[0] ? plot->title : name);
    fprintf(f->out, "](figures/%s-%s.svg)\\\n", f->section, name);
    put_words(f, plot);
    return true;
}
