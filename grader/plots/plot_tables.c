#include "grader/plots/plot_parts.h"

#include "base/checkout.h"
#include "vgpu/gpus/profile.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- TSV ------------------------------------------------------------------------------------ */

bool plot_table(struct tsv *table, const char *folder, const char *name, char *why, size_t room)
{
    char path[PATH_MAX];
    struct st_error err;
    memset(table, 0, sizeof *table);
    snprintf(why, room, "%s is not there", name);
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

static int is_profile(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

/* A virtual GPU is named "virtual GPU, profile h200" or "NVIDIA H200 (virtual)", a real one as its
 * product. */
static bool names(const char *device, const struct vg_profile *profile)
{
    static const char label[] = "profile ";
    const char *at = strstr(device, label);
    size_t length = strlen(profile->product);
    if (at)
        return strcmp(at + sizeof label - 1, profile->name) == 0;
    return strncmp(device, profile->product, length) == 0 &&
           (!device[length] || strcmp(device + length, " (virtual)") == 0);
}

static bool find_profile(struct vg_profile *to, const char *folder, const char *device)
{
    char path[PATH_MAX];
    struct st_error ignored;
    struct dirent **entries;
    int n = scandir(folder, &entries, is_profile, alphasort);
    bool found = false;
    for (int i = 0; i < n; i++) {
        if (!found && path_format(path, sizeof path, "%s/%s", folder, entries[i]->d_name))
            found = !vg_profile_read(to, path, path, &ignored) && names(device, to);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}

bool plot_profile(struct vg_profile *to, const char *device)
{
    char folder[PATH_MAX];
    struct st_error ignored;
    const char *build = checkout_build(&ignored);
    /* (programs of tests lie a folder further down) */
    return build && ((path_format(folder, sizeof folder, "%s/vgpu/profiles", build) &&
                      find_profile(to, folder, device)) ||
                     (path_format(folder, sizeof folder, "%s/../vgpu/profiles", build) &&
                      find_profile(to, folder, device)));
}

/* ---- result.json ---------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* A count of images or layers; 0 if it is none. */
static long count_of(const cJSON *object, const char *name)
{
    double value = number_of(object, name);
    return value >= 1 && value <= 1e9 ? (long)value : 0;
}

static struct plot_time *add_time(struct plot_result *to, const cJSON *from)
{
    if (to->n == PLOT_TIMES_MAX)
        return NULL;
    struct plot_time *t = &to->time[to->n];
    memset(t, 0, sizeof *t);
    plot_text(t->model, sizeof t->model, text_of(from, "model"), 40);
    return t;
}

static double milliseconds(double seconds)
{
    return isfinite(seconds) && seconds > 0 ? seconds * 1e3 : NAN;
}

static void read_inference(struct plot_result *to, const cJSON *from)
{
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(from, "op_times_s"), *seconds;
    int layer = 0;
    cJSON_ArrayForEach(seconds, times)
    {
        struct plot_time *t = add_time(to, from);
        if (!t)
            return;
        t->images = count_of(from, "images");
        t->layer = ++layer;
        t->ms = milliseconds(cJSON_IsNumber(seconds) ? seconds->valuedouble : NAN);
        t->right = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "passed"));
        to->n += t->images > 0;
    }
}

static void read_timing(struct plot_result *to, const cJSON *from)
{
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(from, "shape");
    struct plot_time *t = add_time(to, from);
    if (!t)
        return;
    long B = count_of(shape, "B"), M = count_of(shape, "M"), C = count_of(shape, "C"),
         H = count_of(shape, "H"), W = count_of(shape, "W"), K = count_of(shape, "K");
    plot_text(t->subject, sizeof t->subject, text_of(from, "subject"), 20);
    t->images = B;
    t->layer = (int)count_of(from, "layer");
    t->ms = milliseconds(number_of(from, "median_s"));
    t->macs = number_of(from, "gmac") * 1e9;
    t->bytes = 4.0 * ((double)B * (double)(C * H * W) + (double)(M * C * K * K) +
                      (double)B * (double)(M * (H - K + 1) * (W - K + 1)));
    t->right = true;
    snprintf(t->shape, sizeof t->shape, "%ldx%ldx%ld, %ld@%ld", C, H, W, M, K);
    to->n += B > 0 && C > 0 && H > 0 && W > 0 && M > 0 && K > 0;
}

enum st_code plot_result_read(struct plot_result *to, const char *path, struct st_error *err)
{
    enum { JSON_BYTES_MAX = 64 << 20 };
    char *text;
    size_t bytes;
    memset(to, 0, sizeof *to);
    enum st_code code = file_read(path, JSON_BYTES_MAX, &text, &bytes, err);
    if (code)
        return code;
    cJSON *root = cJSON_ParseWithLength(text, bytes), *entry;
    free(text);
    if (!cJSON_IsObject(root)) {
        cJSON_Delete(root);
        st_fail(err, ST_BAD_FORMAT, "result.json is no result of a grading");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    plot_text(to->milestone, sizeof to->milestone, text_of(root, "milestone"), 15);
    plot_text(to->subject, sizeof to->subject, text_of(root, "subject"), 30);
    plot_text(to->device, sizeof to->device, text_of(root, "device"), 30);
    plot_text(to->profile, sizeof to->profile, text_of(root, "profile"), 90);
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(root, "inference"))
        read_inference(to, entry);
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(root, "timings"))
        read_timing(to, entry);
    cJSON_Delete(root);
    return ST_OK;
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

void plot_device(const struct plot_stage *stage, char origin[160], char device[96])
{
    char path[PATH_MAX];
    struct st_error ignored;
    struct plot_result *r = malloc(sizeof *r);
    snprintf(origin, 160, "of a device that is not known");
    device[0] = '\0';
    if (r && path_format(path, sizeof path, "%s/result.json", stage->folder) &&
        !plot_result_read(r, path, &ignored)) {
        plot_origin(origin, 160, r);
        snprintf(device, 96, "%s", r->profile);
    }
    free(r);
}
