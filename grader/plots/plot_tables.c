#include "grader/plots/plot_parts.h"

#include "base/checkout.h"
#include "exercise/exercise.h"
#include "grader/record/result_json.h"
#include "vgpu/gpus/gpu_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- TSV ------------------------------------------------------------------------------------ */

bool plot_table(struct tsv *table, const char *folder, const char *name, char *why, size_t room)
{
    char path[PATH_MAX];
    struct st_error err;
    memset(table, 0, sizeof *table);
    snprintf(why, room, "%s does not exist", name);
    if (!path_format(path, sizeof path, "%s/%s", folder, name) || !file_exists(path))
        return false;
    if (tsv_read(path, table, &err)) {
        snprintf(why, room, "%s cannot be read: %.150s", name, err.what);
        return false;
    }
    return true;
}

const char *plot_cell(const struct tsv *table, size_t row, const char *column)
{
    int at = tsv_column(table, column);
    return at < 0 ? "" : tsv_cell(table, row, at);
}

double plot_number(const struct tsv *table, size_t row, const char *column)
{
    const char *text = plot_cell(table, row, column);
    char *end;
    double value = strtod(text, &end);
    return *text && !*end && isfinite(value) ? value : NAN;
}

/* ---- profiles ------------------------------------------------------------------------------- */

/* Finds a profile. A virtual GPU is named "virtual GPU, profile h200" or "NVIDIA H200 (virtual)", a
 * real GPU by its product name. */
static bool find_profile(struct vg_profile *to, const char *folder, const char *device)
{
    static const char label[] = "profile ", marked[] = " (virtual)";
    const char *at = strstr(device, label);
    char product[96];
    snprintf(product, sizeof product, "%s", device);
    char *mark = strstr(product, marked);
    if (mark && !mark[sizeof marked - 1])
        *mark = '\0';
    return at ? !vg_profile_read(to, folder, at + sizeof label - 1, NULL)
              : vg_profile_find(to, folder, product);
}

bool plot_profile(struct vg_profile *to, const char *device)
{
    char folder[PATH_MAX];
    struct st_error ignored;
    const char *build = checkout_build(&ignored);
    /* (test programs are one folder deeper) */
    return build && ((path_format(folder, sizeof folder, "%s/vgpu/profiles", build) &&
                      find_profile(to, folder, device)) ||
                     (path_format(folder, sizeof folder, "%s/../vgpu/profiles", build) &&
                      find_profile(to, folder, device)));
}

/* ---- result.json ---------------------------------------------------------------------------- */

/* Adds a row; NULL: no space left. */
static struct plot_time *add_time(struct plot_result *to, const char *model, size_t images)
{
    if (to->n == PLOT_TIMES_MAX || images == 0)
        return NULL;
    struct plot_time *t = &to->time[to->n++];
    memset(t, 0, sizeof *t);
    plot_text(t->model, sizeof t->model, model, 40);
    t->images = (long)images;
    return t;
}

static double milliseconds(double seconds)
{
    return isfinite(seconds) && seconds > 0 ? seconds * 1e3 : NAN;
}

static void take_inference(struct plot_result *to, const struct gr_inference *from)
{
    for (int layer = 0; layer < from->convs; layer++) {
        struct plot_time *t = add_time(to, from->model, from->images);
        if (!t)
            return;
        t->layer = layer + 1;
        t->ms = milliseconds(from->op_time_s[layer]);
        t->right = from->passed;
    }
}

static void take_timing(struct plot_result *to, const struct gr_timing *from,
                        const struct exercise *exercise)
{
    const struct conv_shape *s = &from->shape;
    if (s->B <= 0 || s->C <= 0 || s->H <= 0 || s->W <= 0 || s->M <= 0 || s->K <= 0)
        return;
    struct plot_time *t = add_time(to, from->model, (size_t)s->B);
    if (!t)
        return;
    plot_text(t->subject, sizeof t->subject, gr_subject_name(from->subject), 20);
    t->layer = from->layer;
    t->ms = milliseconds(from->median_s);
    t->conv = *s;
    t->right = true;
    char text[EXERCISE_TEXT];
    exercise->describe(text, s, EXERCISE_SHAPE);
    if (exercise->square)
        snprintf(t->shape, sizeof t->shape, "%.39s", text);
    else
        snprintf(t->shape, sizeof t->shape, "%dx%dx%d, %d@%d", s->C, s->H, s->W, s->M, s->K);
}

enum st_code plot_result_read(struct plot_result *to, const char *path, struct st_error *err)
{
    memset(to, 0, sizeof *to);
    struct gr_result *r = malloc(sizeof *r);
    enum st_code code = r ? gr_result_read(path, GR_NEED_OBJECT, r, err)
                          : st_fail(err, ST_NO_MEMORY, "out of memory for a result");
    for (size_t i = 0; !code && i < r->inferences; i++)
        take_inference(to, &r->inference[i]);
    for (size_t i = 0; !code && i < r->timings; i++)
        take_timing(to, &r->timing[i], exercise_of(r->milestone));
    if (!code) {
        plot_text(to->milestone, sizeof to->milestone, r->milestone, 15);
        plot_text(to->subject, sizeof to->subject, r->subject, 30);
        plot_text(to->device, sizeof to->device, r->device, 30);
        plot_text(to->profile, sizeof to->profile, r->profile, 90);
    }
    free(r);
    return code;
}

const char *plot_origin(char *to, size_t room, const struct plot_result *r)
{
    if (strcmp(r->device, "virtual") == 0)
        snprintf(to, room, "modelled: %s", r->profile);
    else if (strcmp(r->device, "gpu") == 0)
        snprintf(to, room, "measured on %s", r->profile[0] ? r->profile : "a GPU");
    else
        snprintf(to, room, "measured on this machine's %s", r->device[0] ? r->device : "CPU");
    return to;
}

void plot_stage_read(struct plot_stage *stage)
{
    char path[PATH_MAX];
    struct st_error ignored;
    stage->graded = path_format(path, sizeof path, "%s/result.json", stage->folder) &&
                    !plot_result_read(&stage->result, path, &ignored);
    if (!stage->graded)
        memset(&stage->result, 0, sizeof stage->result);
    snprintf(stage->origin, sizeof stage->origin, "of an unknown device");
    if (stage->graded)
        plot_origin(stage->origin, sizeof stage->origin, &stage->result);
}
