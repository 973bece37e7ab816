#include "grader/report/view.h"

#include "base/files.h"
#include "grader/report/timeline_page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE_BYTES = 256 << 10 };

static const struct {
    const char *name;
    bool (*put)(FILE *out, const struct gr_view *v);
} views[] = {{"speed-of-light", gr_view_kernels}, {"annotated-source", gr_view_source}};

static bool read_table(struct tsv *to, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct st_error ignored;
    return path_format(path, sizeof path, "%s/profile/%s", folder, name) && file_exists(path) &&
           !tsv_read(path, to, &ignored);
}

static char *read_source(const char *folder)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/profile/source.txt", folder) ||
        file_read(path, MAX_SOURCE_BYTES, &text, &bytes, NULL))
        return NULL;
    return text;
}

static void close_profile(struct gr_view *v)
{
    tsv_free(&v->kernels);
    tsv_free(&v->analysis);
    tsv_free(&v->resources);
    tsv_free(&v->lines);
    tsv_free(&v->pictures);
    free(v->source);
}

static bool open_profile(struct gr_view *v, const char *folder)
{
    *v = (struct gr_view){0};
    char path[PATH_MAX];
    const bool read = read_table(&v->kernels, folder, "kernels.tsv") &&
                      read_table(&v->analysis, folder, "analysis.tsv") &&
                      read_table(&v->resources, folder, "resources.tsv") &&
                      read_table(&v->lines, folder, "lines.tsv");
    for (size_t row = 0; read && row < v->analysis.rows; row++) {
        const long images = (long)gr_view_number(&v->analysis, row, "images");
        v->images = images > v->images ? images : v->images;
    }
    if (read)
        v->source = read_source(folder), read_table(&v->pictures, folder, "pictures.tsv");
    else
        close_profile(v);
    v->timeline =
        path_format(path, sizeof path, "%s/" GR_TIMELINE_PAGE, folder) && file_exists(path);
    return read;
}

bool gr_view_put(FILE *out, const char *name, const char *folder)
{
    struct gr_view v;
    bool done = false;
    if (!open_profile(&v, folder))
        return false;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (strcmp(views[i].name, name) == 0)
            done = views[i].put(out, &v);
    close_profile(&v);
    return done;
}

bool gr_view_exists(const char *name, const char *folder)
{
    FILE *nowhere = fopen("/dev/null", "w");
    const bool exists = nowhere && gr_view_put(nowhere, name, folder);
    if (nowhere)
        fclose(nowhere);
    return exists;
}
