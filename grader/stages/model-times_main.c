/* Writes data/modelled-times.tsv (shipped_times.h), or measures some of its rows again.
 *
 *     model-times >TABLE                    all profiles, milestones, layers; m13 and its plain version
 *     model-times MILESTONE [PROFILE] >>TABLE
 *                                           the rows of one milestone, without the header
 *     model-times --check MILESTONE IMAGES [TABLE]
 *                                           the rows of a milestone at this many images: exit
 *                                           status 1 if a time or version has changed
 *
 * A row does not depend on weights and images: references do the same work for all. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/rng.h"
#include "grader/course/lab_make.h"
#include "grader/stages/companions.h"
#include "grader/stages/shipped_times.h"
#include "nn/network.h"
#include "nn/oracle.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 5, MILESTONES = 98 };
static const char default_profile[] = "h200";
static const int small_images = 10; /* small enough for a test; only for the default profile */

/* Sets the milestone of a row. @return whether the row is for its plain version, "m13-plain". */
static bool row_milestone(const char *row, char id[16])
{
    const size_t n = strcspn(row, "-");
    snprintf(id, 16, "%.*s", (int)n, row);
    return row[n] != '\0';
}

/* ---- one time -------------------------------------------------------------------------------- */

static enum st_code measure(const char *profile, const char *milestone,
                            const struct conv_shape *shape, double *op_time_s, struct st_error *err)
{
    char device[64], id[16];
    const bool plain = row_milestone(milestone, id);
    struct gr_options options = gr_options_default();
    struct grading g = {.options = &options, .result = calloc(1, sizeof *g.result), .out = stderr};
    struct gr_companion companion[GR_COMPANIONS];
    struct gr_conv conv = {.shape = *shape};
    struct rng rng = rng_make(1, 1);
    float *x = malloc(nn_conv_x_elems(shape) * sizeof *x), *k = malloc(nn_conv_k_elems(shape) * 4);
    snprintf(device, sizeof device, "virtual:%s", profile);
    options.milestone = id;
    options.device = device;
    options.reference = true;
    gr_companions_clear(companion);
    enum st_code code = x && k && g.result
                            ? gr_grading_prepare(&g, err)
                            : st_fail(err, ST_NO_MEMORY, "out of memory for a layer");
    if (!code)
        code = gr_make_reference(&g.milestone, err);
    if (!code)
        code = arena_open(&g.arena, err);
    if (!code)
        code = arena_reserve(&g.arena, arena_layout_for(shape).bytes, err);
    for (size_t i = 0; !code && i < nn_conv_x_elems(shape); i++)
        x[i] = (float)rng_range(&rng, 0, 255) / 255;
    for (size_t i = 0; !code && i < nn_conv_k_elems(shape); i++)
        k[i] = (float)rng_range(&rng, -100, 100) / 100;
    conv.x = x;
    conv.k = k;
    if (!code &&
        !gr_companion_model(&companion[0], &g,
                            plain ? g.milestone.plain_library : g.milestone.reference_library,
                            &conv, op_time_s))
        code = st_fail(err, ST_CHILD, "the reference of %s does not run on %s", milestone, device);
    gr_companions_end(companion);
    gr_grading_free(&g);
    free(g.result);
    free(x);
    free(k);
    return code;
}

static enum st_code make_row(struct gr_shipped_time *row, char cuda[16],
                             char version[GR_VERSION_CHARS], struct st_error *err)
{
    struct gr_milestone milestone;
    char id[16];
    row_milestone(row->milestone, id);
    enum st_code code = gr_milestone_find(&milestone, id, err);
    gr_cuda_name(cuda);
    if (!code && !gr_shipped_version(milestone.reference_source, cuda, version))
        code = st_fail(err, ST_NOT_FOUND, "no reference of %s", row->milestone);
    row->cuda = cuda;
    row->version = version;
    return code ? code : measure(row->profile, row->milestone, &row->shape, &row->op_time_s, err);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Finds the layers of the suite's models, each shape once. */
static enum st_code find_layers(const struct exercise *exercise, struct conv_shape layer[LAYERS],
                                size_t *n, struct st_error *err)
{
    static const char *const models[] = {"two-layer", "one-layer-high", "one-layer-low",
                                         "two-layer-86"};
    enum st_code code = ST_OK;
    *n = exercise->square ? 1 : 0;
    for (size_t i = 0; !code && !exercise->square && i < sizeof models / sizeof *models; i++) {
        char folder[PATH_MAX], name[256];
        struct nn_network net;
        if ((code = nn_model_place(models[i], folder, name, err)) ||
            (code = nn_network_load(&net, folder, name, err)))
            return code;
        for (int c = 0; c < net.convs && *n < LAYERS; c++) {
            bool known = false;
            for (size_t k = 0; k < *n; k++)
                known = known || memcmp(&layer[k], &net.conv[c], sizeof *layer) == 0;
            if (!known)
                layer[(*n)++] = net.conv[c];
        }
        nn_network_free(&net);
    }
    return code;
}

static enum st_code write_rows(FILE *out, const char *profile, const char *milestone, int images,
                               struct st_error *err)
{
    const struct exercise *exercise = exercise_of(milestone);
    struct conv_shape layer[LAYERS] = {{0}};
    size_t n;
    enum st_code code = find_layers(exercise, layer, &n, err);
    for (size_t i = 0; !code && i < n; i++) {
        char cuda[16], version[GR_VERSION_CHARS];
        struct gr_shipped_time row = {
            .profile = profile, .milestone = milestone, .shape = layer[i]};
        row.shape.B = images;
        if (exercise->square)
            row.shape = exercise->square(images);
        if (!(code = make_row(&row, cuda, version, err)))
            gr_shipped_time_write(out, &row);
        fflush(out);
    }
    return code;
}

/* @return whether the GPU has the instructions that a milestone needs. */
static bool suits(const char *profile, const struct gr_milestone *milestone)
{
    struct gr_rubric *rubric;
    struct st_error ignored;
    unsigned found;
    if (gr_rubric_load(&rubric, milestone->rubric, &ignored))
        return false;
    const unsigned needed = rubric->compute_capability;
    gr_rubric_free(rubric);
    return !needed ||
           (!gr_profile_capability(checkout_build(&ignored), profile, &found, &ignored) &&
            found >= needed);
}

/* @param milestone  a milestone, or the id of its plain version */
static enum st_code write_milestone(FILE *out, const char *profile, const char *milestone,
                                    struct st_error *err)
{
    char id[16];
    row_milestone(milestone, id);
    enum st_code code = ST_OK;
    if (strcmp(profile, default_profile) == 0)
        code = write_rows(out, profile, milestone, small_images, err);
    return code ? code : write_rows(out, profile, milestone, exercise_of(id)->speed_size, err);
}

/* @param only  a milestone; NULL: all */
static enum st_code write_profile(FILE *out, const char *profile, const char *only,
                                  struct st_error *err)
{
    enum st_code code = ST_OK;
    for (int i = 0; !code && exercise_at((size_t)(i / MILESTONES)); i++) {
        const struct exercise *exercise = exercise_at((size_t)(i / MILESTONES));
        struct gr_milestone milestone;
        struct st_error ignored;
        char id[8], plain[sizeof id + sizeof GR_PLAIN_SUFFIX];
        snprintf(id, sizeof id, "%c%d", exercise->letter, 2 + i % MILESTONES);
        if ((only && strcmp(id, only) != 0) || gr_milestone_find(&milestone, id, &ignored) ||
            !suits(profile, &milestone))
            continue;
        fprintf(stderr, "%s %s\n", profile, id);
        code = write_milestone(out, profile, id, err);
        snprintf(plain, sizeof plain, "%s%s", id, GR_PLAIN_SUFFIX);
        if (!code && milestone.exercise->plain_baseline)
            code = write_milestone(out, profile, plain, err);
    }
    return code;
}

/* @param only, of  a milestone and a profile; NULL: all */
static enum st_code write_table(FILE *out, const char *only, const char *of, struct st_error *err)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    const char *build = checkout_build(err);
    if (!build || !path_format(pattern, sizeof pattern, "%s/vgpu/profiles/*.yaml", build) ||
        glob(pattern, 0, NULL, &found))
        return st_fail(err, ST_NOT_FOUND, "the virtual GPU is not built");
    enum st_code code = ST_OK;
    if (!only)
        gr_shipped_times_head(out);
    for (size_t i = 0; !code && i < found.gl_pathc; i++) {
        char name[64];
        const char *base = strrchr(found.gl_pathv[i], '/') + 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
        if (!of || strcmp(name, of) == 0)
            code = write_profile(out, name, only, err);
    }
    globfree(&found);
    return code;
}

/* ---- the check ------------------------------------------------------------------------------- */

static enum st_code check(const char *path, const char *milestone, int images, size_t *wrong,
                          struct st_error *err)
{
    struct gr_shipped_times times;
    struct gr_shipped_time row;
    size_t found = 0;
    enum st_code code = gr_shipped_times_read(&times, path, err);
    for (size_t i = 0; !code && i < times.rows; i++) {
        char cuda[16], version[GR_VERSION_CHARS];
        const struct gr_timing of = {
            .shape = gr_shipped_time_row(&times, i, &row) ? row.shape : (struct conv_shape){0}};
        if (row.op_time_s <= 0 || gr_timing_size(&of) != (size_t)images ||
            strcmp(row.milestone, milestone) != 0)
            continue;
        struct gr_shipped_time now = row;
        code = make_row(&now, cuda, version, err);
        found++;
        if (code || (strcmp(now.cuda, row.cuda) == 0 && strcmp(now.version, row.version) == 0 &&
                     fabs(now.op_time_s - row.op_time_s) <= 1e-8 * row.op_time_s))
            continue;
        printf("%s %s, %d images, layer with %d maps: shipped %.9g s (CUDA %s, version %s), now "
               "%.9g s (CUDA %s, version %s)\n",
               row.profile, milestone, images, row.shape.M, row.op_time_s, row.cuda, row.version,
               now.op_time_s, now.cuda, now.version);
        *wrong += strcmp(now.cuda, row.cuda) == 0;
    }
    if (!code && !found)
        code = st_fail(err, ST_NOT_FOUND, "no row of %s at %d images", milestone, images);
    tsv_free(&times.table);
    return code;
}

int main(int argc, char **argv)
{
    struct st_error err;
    size_t wrong = 0;
    const bool checks = (argc == 4 || argc == 5) && strcmp(argv[1], "--check") == 0;
    enum st_code code =
        checks ? check(argv[4], argv[2], atoi(argv[3]), &wrong, &err)
        : argc <= 3
            ? write_table(stdout, argv[1], argc == 3 ? argv[2] : NULL, &err)
            : st_fail(&err, ST_USAGE,
                      "expected [MILESTONE [PROFILE]], or --check MILESTONE IMAGES [TABLE]");
    progress_clear();
    if (code)
        st_print(stderr, "model-times", &err);
    return code ? 2 : wrong > 0;
}
