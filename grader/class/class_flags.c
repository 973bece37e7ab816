/* The flags: the part of the command line that changes a grade's checks. Grades made with other
 * flags are out of date.
 *
 * A flag has a file's name and a hash of its contents, not its path. Files that options name are
 * first copied to GRADEBOOK.files/given/HASH, and gradings read the copies: all gradings of a run,
 * on any machine, use the same contents, even if the original files change meanwhile. A file with
 * mistakes is reported once, before the first grading. */
#include "grader/class/class_options.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/shown_path.h"
#include "grader/course/cases.h"
#include "nn/network.h"
#include "vgpu/gpus/gpu_profile.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_GIVEN_BYTES = 256 << 20, HASH_CHARS = 16 };

static enum st_code keep(const char *folder, const char *path, const char *data, size_t bytes,
                         struct st_error *err)
{
    char copy[PATH_MAX];
    if (path_make(copy, sizeof copy, err, "%s/%s", folder, path_base(path)))
        return err->code;
    return file_exists(copy) ? ST_OK : file_write(copy, data, bytes, err);
}

/* Copies a file and its companion, if any.
 * @param kept  set to the path of the file's copy
 * @param flag  set to the file's name and hash: "shapes.tsv@0123456789abcdef" */
static enum st_code keep_given(const char *files, const char *const path[2], char kept[PATH_MAX],
                               char flag[CL_FLAG_CHARS], struct st_error *err)
{
    char *data[2] = {NULL, NULL}, folder[PATH_MAX], hex[SHA256_HEX];
    size_t bytes[2] = {0, 0};
    struct sha256 hash;
    sha256_begin(&hash);
    enum st_code code = ST_OK;
    for (int i = 0; !code && i < 2 && path[i]; i++) {
        if (i > 0 && !file_exists(path[i]))
            break;
        code = file_read(path[i], MAX_GIVEN_BYTES, &data[i], &bytes[i], err);
        sha256_add(&hash, &bytes[i], sizeof bytes[i]);
        if (!code)
            sha256_add(&hash, data[i], bytes[i]);
    }
    sha256_end_hex(&hash, hex);
    if (!code)
        code = path_make(folder, sizeof folder, err, "%s/given/%.*s", files, HASH_CHARS, hex);
    if (!code)
        code = path_make(kept, PATH_MAX, err, "%s/%s", folder, path_base(path[0]));
    if (!code)
        code = dir_make(folder, err);
    for (int i = 0; !code && i < 2 && data[i]; i++)
        code = keep(folder, path[i], data[i], bytes[i], err);
    snprintf(flag, CL_FLAG_CHARS, "%.80s@%.*s", path_base(path[0]), HASH_CHARS, hex);
    free(data[0]);
    free(data[1]);
    return code;
}

/* A model given by a path is the instructor's. A model given by name is part of the suite, and
 * belongs to ConvLab's version. */
static enum st_code keep_model(struct cl_options *o, const char *files, char flag[CL_FLAG_CHARS],
                               struct st_error *err)
{
    char folder[PATH_MAX], name[256], model[PATH_MAX], expected[PATH_MAX];
    static char kept[PATH_MAX];
    struct nn_network network;
    enum st_code code = nn_model_place(o->asked.model, folder, name, err);
    if (!code && !(code = nn_network_load(&network, folder, name, err)))
        nn_network_free(&network);
    snprintf(flag, CL_FLAG_CHARS, "%.100s", o->asked.model);
    if (code || strcmp(o->asked.model, name) == 0)
        return code;
    if (path_make(model, sizeof model, err, "%s/%s.safetensors", folder, name) ||
        path_make(expected, sizeof expected, err, "%s/expected.tsv", folder))
        return err->code;
    code = keep_given(files, (const char *const[2]){model, expected}, kept, flag, err);
    o->asked.model = kept;
    return code;
}

static enum st_code keep_shapes(struct cl_options *o, const char *files, char flag[CL_FLAG_CHARS],
                                struct st_error *err)
{
    static char kept[PATH_MAX];
    struct gr_case_shape shapes[GR_MAX_HELD_OUT];
    size_t n;
    enum st_code code =
        gr_case_shapes_read(exercise_of(o->milestone[0].id), o->shapes, shapes, &n, err);
    if (!code)
        code = keep_given(files, (const char *const[2]){o->shapes, NULL}, kept, flag, err);
    o->shapes = kept;
    return code;
}

/* Keeps the profile of the virtual GPU if it is a file. */
static enum st_code keep_device(struct cl_options *o, const char *files, char flag[CL_FLAG_CHARS],
                                struct st_error *err)
{
    static char kept[PATH_MAX], device[PATH_MAX + sizeof CL_VIRTUAL];
    const size_t prefix = strlen(CL_VIRTUAL);
    snprintf(flag, CL_FLAG_CHARS, "%.100s", o->asked.device);
    if (strncmp(o->asked.device, CL_VIRTUAL, prefix) != 0)
        return ST_OK;
    char file[128], folder[PATH_MAX];
    struct vg_profile profile;
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    path_format(folder, sizeof folder, "%s/vgpu/profiles", build);
    enum st_code code = vg_profile_read(&profile, folder, o->asked.device + prefix, err);
    if (code || !strchr(o->asked.device, '/'))
        return code;
    code =
        keep_given(files, (const char *const[2]){o->asked.device + prefix, NULL}, kept, file, err);
    snprintf(flag, CL_FLAG_CHARS, "%s%.110s", CL_VIRTUAL, file);
    snprintf(device, sizeof device, "%s%s", CL_VIRTUAL, kept);
    o->asked.device = device;
    return code;
}

enum st_code cl_options_flags(struct cl_options *o, const char *files, struct st_error *err)
{
    char images[GR_IMAGES_CHARS];
    enum st_code code = ST_OK;
    if (o->asked.sizes)
        snprintf(o->flag[CL_IMAGES], CL_FLAG_CHARS, "%s", gr_options_images(&o->asked, images));
    if (o->asked.model)
        code = keep_model(o, files, o->flag[CL_MODEL], err);
    if (!code && o->shapes)
        code = keep_shapes(o, files, o->flag[CL_SHAPES], err);
    if (!code && o->asked.device)
        code = keep_device(o, files, o->flag[CL_DEVICE], err);
    if (o->quick)
        snprintf(o->flag[CL_QUICK], CL_FLAG_CHARS, "yes");
    return code;
}
