/* Adds source lines and the names of other kernels' pages to each recording, and inserts it into
 * picture.html. The data is ASCII without '<', '>' and '&', so that it cannot end its element; the
 * page's script inserts strings only as text. */
#include "vgpu/device/picture_page.h"

#include "base/files.h"
#include "base/page_template.h"
#include "base/shown_path.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RECORDINGS_BYTES = 64 << 20,
    MAX_SOURCE_BYTES = 1 << 20,
    MAX_SOURCE_KEPT = 200 << 10, /* total of a page's files */
    LINES_BEFORE = 12,
    LINES_AFTER = 6,
    MAX_KERNELS = 64
};

extern const char picture_html[], picture_css[], picture_js[];

/* ---- source lines ----------------------------------------------------------------------------- */

/* Finds the first and last line of a file that the recording uses; last 0: none. */
static void find_lines(const cJSON *places, int file, int *first, int *last)
{
    const cJSON *place;
    *first = INT_MAX, *last = 0;
    cJSON_ArrayForEach(place, places)
    {
        const cJSON *of = cJSON_GetArrayItem(place, 0), *at = cJSON_GetArrayItem(place, 1);
        if (!of || !at || of->valueint != file || at->valueint <= 0)
            continue;
        *first = at->valueint < *first ? at->valueint : *first;
        *last = at->valueint > *last ? at->valueint : *last;
    }
}

static const char *readable(const char *file, const struct picture_source *source)
{
    if (!source)
        return file;
    return strcmp(path_base(file), source->name) == 0 ? source->path : NULL;
}

/* @return [number of the first line, [text, ...]]; null if the range is empty */
static cJSON *cut_lines(char *text, int first, int last, size_t *room)
{
    cJSON *pair = cJSON_CreateArray(), *lines = cJSON_CreateArray();
    int number = 1;
    first = first > LINES_BEFORE ? first - LINES_BEFORE : 1;
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(first));
    cJSON_AddItemToArray(pair, lines);
    for (char *line = text, *next; line && *line && number <= last + LINES_AFTER;
         line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        const size_t bytes = strlen(line);
        if (number < first || bytes > *room)
            continue;
        *room -= bytes;
        if (bytes && line[bytes - 1] == '\r')
            line[bytes - 1] = '\0';
        cJSON_AddItemToArray(lines, cJSON_CreateString(line));
    }
    return pair;
}

static void add_source(cJSON *recording, const struct picture_source *source)
{
    const cJSON *name;
    cJSON *all = cJSON_AddArrayToObject(recording, "source");
    size_t room = MAX_SOURCE_KEPT;
    int file = 0;
    cJSON_ArrayForEach(name, cJSON_GetObjectItem(recording, "files"))
    {
        const char *path = cJSON_IsString(name) ? readable(name->valuestring, source) : NULL;
        char *text = NULL;
        size_t bytes;
        int first, last;
        find_lines(cJSON_GetObjectItem(recording, "places"), file++, &first, &last);
        const bool read = path && last && !file_read(path, MAX_SOURCE_BYTES, &text, &bytes, NULL);
        cJSON_AddItemToArray(all, read ? cut_lines(text, first, last, &room) : cJSON_CreateNull());
        if (read)
            free(text);
    }
}

/* Removes this machine's folders from file names, because a grading's page may be passed on. */
static void drop_folders(cJSON *recording)
{
    cJSON *name;
    cJSON_ArrayForEach(name, cJSON_GetObjectItem(recording, "files"))
    {
        const char *slash = cJSON_IsString(name) ? strrchr(name->valuestring, '/') : NULL;
        if (slash)
            memmove(name->valuestring, slash + 1, strlen(slash));
    }
}

/* ---- tensors ---------------------------------------------------------------------------------- */

enum { TENSORS = 3 };

/* Sets the sizes of x, k and y. */
static void tensor_sizes(const struct conv_shape *s, int sizes[TENSORS][4])
{
    const int all[TENSORS][4] = {{s->B, s->C, s->H, s->W},
                                 {s->M, s->C, s->K, s->K},
                                 {s->B, s->M, s->H - s->K + 1, s->W - s->K + 1}};
    memcpy(sizes, all, sizeof all);
}

static double number_at(const cJSON *array, int i)
{
    const cJSON *item = cJSON_GetArrayItem(array, i);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* @return the tensor that an allocation contains (itself or a copy), if @p x is the number of the
 * cudaMalloc() of x; -1: none */
static int tensor_of(const cJSON *memory, double x)
{
    const double tensor = number_at(memory, 3) - x;
    return tensor >= 0 && tensor < TENSORS ? (int)tensor : -1;
}

/* @return how many allocations are tensors of a layer; 0 if an expected tensor has another size */
static int count_tensors(const cJSON *memory, int sizes[TENSORS][4], double x)
{
    const cJSON *one;
    int found = 0;
    cJSON_ArrayForEach(one, memory)
    {
        const int i = tensor_of(one, x);
        const double copied = number_at(one, 4), bytes = copied > 0 ? copied : number_at(one, 1);
        if (i < 0)
            continue;
        if (bytes != (double)sizeof(float) * sizes[i][0] * sizes[i][1] * sizes[i][2] * sizes[i][3])
            return 0;
        found++;
    }
    return found;
}

/* Finds the layer, and the cudaMalloc() number of its x, that explain most allocations.
 * @return false if two explain equally many */
static bool find_layer(const cJSON *memory, const struct picture_source *source, size_t *layer,
                       double *x)
{
    int most = 0, sizes[TENSORS][4];
    bool one = false;
    for (size_t l = 0; l < source->layer_count; l++)
        for (int i = 0; i < cJSON_GetArraySize(memory) * TENSORS; i++) {
            const double at = number_at(cJSON_GetArrayItem(memory, i / TENSORS), 3) - i % TENSORS;
            tensor_sizes(&source->layers[l], sizes);
            const int found = at > 0 ? count_tensors(memory, sizes, at) : 0;
            if (found < most || !found || (found == most && l == *layer && at == *x))
                continue;
            one = found > most;
            most = found;
            *layer = l, *x = at;
        }
    return one;
}

/* Adds "tensors": for each allocation [name, [sizes]], or null. */
static void add_tensors(cJSON *recording, const struct picture_source *source)
{
    static const char *const names[TENSORS] = {"x", "k", "y"};
    const cJSON *memory = cJSON_GetObjectItem(recording, "memory"), *one;
    int sizes[TENSORS][4];
    size_t layer = 0;
    double x = 0;
    if (!find_layer(memory, source, &layer, &x))
        return;
    cJSON *all = cJSON_AddArrayToObject(recording, "tensors");
    tensor_sizes(&source->layers[layer], sizes);
    cJSON_ArrayForEach(one, memory)
    {
        const int i = tensor_of(one, x);
        cJSON *tensor = i < 0 ? cJSON_CreateNull() : cJSON_CreateArray();
        cJSON_AddItemToArray(all, tensor);
        if (i < 0)
            continue;
        cJSON_AddItemToArray(tensor, cJSON_CreateString(names[i]));
        cJSON_AddItemToArray(tensor, cJSON_CreateIntArray(sizes[i], 4));
    }
}

/* ---- pages ------------------------------------------------------------------------------------ */

static bool page_name(char to[PATH_MAX], const char *file, int number)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - file) : strlen(file);
    if (number == 1)
        return path_format(to, PATH_MAX, "%s", file);
    return path_format(to, PATH_MAX, "%.*s-%d%s", (int)stem, file, number, file + stem);
}

static const char *text_of(const cJSON *recording, const char *member)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(recording, member));
    return text ? text : "";
}

/* Adds the names of the other kernels' pages. */
static void add_others(cJSON *const *recording, int n, int number, const char *file)
{
    cJSON *others = cJSON_AddArrayToObject(recording[number - 1], "others");
    for (int i = 1; i <= n; i++) {
        char path[PATH_MAX];
        if (i == number || !page_name(path, file, i))
            continue;
        cJSON *pair = cJSON_CreateArray();
        cJSON_AddItemToArray(pair, cJSON_CreateString(text_of(recording[i - 1], "kernel")));
        cJSON_AddItemToArray(pair, cJSON_CreateString(path_base(path)));
        cJSON_AddItemToArray(others, pair);
    }
}

static enum st_code write_page(const char *path, const cJSON *recording, struct st_error *err)
{
    struct file_out out;
    char *json = cJSON_PrintUnformatted(recording);
    if (!json)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a page of a recorded block");
    enum st_code code = file_out_open(&out, path, err);
    if (!code) {
        page_write(out.f, picture_html,
                   (struct page_part[]){{"style", .text = picture_css},
                                        {"script", .text = picture_js},
                                        {"data", .json = json},
                                        {0}},
                   NULL);
        code = file_out_commit(&out, err);
    }
    free(json);
    return code;
}

static enum st_code parse(char *text, const char *path, cJSON *recording[MAX_KERNELS], int *n,
                          struct st_error *err)
{
    *n = 0;
    for (char *line = text, *next; *line && *n < MAX_KERNELS; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        cJSON *one = cJSON_Parse(line);
        recording[*n] = one;
        if (!cJSON_IsArray(cJSON_GetObjectItem(one, "steps"))) {
            cJSON_Delete(one);
            st_fail(err, ST_BAD_FORMAT, "not a recording of blocks");
            return st_detail(err, ST_WHERE, "%s", path), ST_BAD_FORMAT;
        }
        (*n)++;
    }
    return ST_OK;
}

enum st_code picture_pages_write(const char *file, const char *recordings,
                                 const struct picture_source *source,
                                 const struct picture_listener *listener, struct st_error *err)
{
    cJSON *recording[MAX_KERNELS];
    char *text, path[PATH_MAX];
    size_t bytes;
    int n = 0;
    enum st_code code = file_read(recordings, MAX_RECORDINGS_BYTES, &text, &bytes, err);
    if (code)
        return code;
    code = parse(text, recordings, recording, &n, err);
    if (!code && !n) {
        st_fail(err, ST_BAD_FORMAT, "no block to show: the program launched no kernel");
        st_detail(err, ST_HINT, "does it end before the first launch?");
        code = ST_BAD_FORMAT;
    }
    for (int i = 1; i <= n && !code; i++) {
        add_source(recording[i - 1], source);
        if (source) {
            add_tensors(recording[i - 1], source);
            drop_folders(recording[i - 1]);
        }
        add_others(recording, n, i, file);
        if (!page_name(path, file, i))
            code = path_too_long(file, err);
        else
            code = write_page(path, recording[i - 1], err);
        if (!code && listener)
            listener->page(listener->context, text_of(recording[i - 1], "symbol"), path_base(path));
    }
    for (int i = 0; i < n; i++)
        cJSON_Delete(recording[i]);
    free(text);
    return code;
}
