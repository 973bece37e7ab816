/* The gradings next to this one: results of other milestones, for comparison. */
#include "grader/course/milestone.h"
#include "grader/plots/plot_parts.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void read_gradings(struct gradings *g, const char *folder)
{
    struct dirent **entries;
    int n = gr_milestone_folders(folder, &entries);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        struct st_error ignored;
        struct plot_result *r = g->n < PLOT_GRADINGS_MAX ? malloc(sizeof *r) : NULL;
        if (r && path_format(path, sizeof path, "%s/%s/result.json", folder, entries[i]->d_name) &&
            !plot_result_read(r, path, &ignored))
            g->of[g->n++] = r;
        else
            free(r);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

bool plot_same_device(const struct plot_result *a, const struct plot_result *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->profile, b->profile) == 0;
}

const struct plot_time *plot_right_time(const struct plot_result *r, const char *model, long images,
                                        int layer)
{
    for (size_t i = 0; i < r->n; i++)
        if (!r->time[i].subject[0] && r->time[i].right && isfinite(r->time[i].ms) &&
            r->time[i].images == images && (layer == 0 || r->time[i].layer == layer) &&
            strcmp(r->time[i].model, model) == 0)
            return &r->time[i];
    return NULL;
}

/* Finds the parent of DIR if the name of DIR is mN, because the parent may then have other
 * gradings. */
static bool find_siblings(char parent[PATH_MAX], const char *folder)
{
    char path[PATH_MAX];
    if (!realpath(folder, path))
        return false;
    char *name = strrchr(path, '/') + 1;
    const bool found = gr_milestone_number(name) >= 0;
    *name = '\0';
    snprintf(parent, PATH_MAX, "%s", path);
    return found;
}

void plot_gradings_read(struct gradings *g, const struct plot_stage *stage)
{
    char parent[PATH_MAX];
    g->n = 0;
    if (!stage->graded)
        read_gradings(g, stage->folder);
    else if (find_siblings(parent, stage->folder))
        read_gradings(g, parent);
}

void plot_gradings_free(struct gradings *g)
{
    for (size_t i = 0; i < g->n; i++)
        free(g->of[i]);
    g->n = 0;
}

const char *plot_whose(const struct plot_result *r)
{
    return strcmp(r->subject, "submission") == 0 ? "yours" : r->subject;
}
