/* Adds to each recording the source lines that it names and the other kernels' pages, and puts it into
 * picture.html. The data is ASCII without '<', '>' and '&', so that nothing in it can end the element
 * that it stands in; the page's script sets it as text only. */
#include "vgpu/device/picture_page.h"

#include "base/files.h"
#include "base/page_template.h"

#include <cjson/cJSON.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RECORDINGS_BYTES = 64 << 20,
    MAX_SOURCE_BYTES = 1 << 20,
    MAX_SOURCE_KEPT = 200 << 10, /* of all files of a page */
    LINES_BEFORE = 12,
    LINES_AFTER = 6,
    MAX_KERNELS = 64
};

extern const char picture_html[], picture_css[], picture_js[];

/* ---- source lines ----------------------------------------------------------------------------- */

/* The first and last line of a file that the recording names; last 0: none. */
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
    const char *slash = strrchr(file, '/');
    if (!source)
        return file;
    return strcmp(slash ? slash + 1 : file, source->name) == 0 ? source->path : NULL;
}

/* [number of the first line, [text, ...]] @return null if there is nothing to show */
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

/* A page of a grading may be passed on: it names files without the folders of this machine. */
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

/* ---- pages ------------------------------------------------------------------------------------ */

static bool page_name(char to[PATH_MAX], const char *file, int number)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - file) : strlen(file);
    if (number == 1)
        return path_format(to, PATH_MAX, "%s", file);
    return path_format(to, PATH_MAX, "%.*s-%d%s", (int)stem, file, number, file + stem);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *text_of(const cJSON *recording, const char *member)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(recording, member));
    return text ? text : "";
}

/* The pages of the other kernels, beside this one. */
static void add_others(cJSON *const *recording, int n, int number, const char *file)
{
    cJSON *others = cJSON_AddArrayToObject(recording[number - 1], "others");
    for (int i = 1; i <= n; i++) {
        char path[PATH_MAX];
        if (i == number || !page_name(path, file, i))
            continue;
        cJSON *pair = cJSON_CreateArray();
        cJSON_AddItemToArray(pair, cJSON_CreateString(text_of(recording[i - 1], "kernel")));
        cJSON_AddItemToArray(pair, cJSON_CreateString(name_of(path)));
        cJSON_AddItemToArray(others, pair);
    }
}

static void put_page(FILE *out, const char *json)
{
    char room[PAGE_NAME_CHARS];
    for (const char *at = picture_html, *name; (name = page_template_next(out, &at, room));)
        if (strcmp(name, "style") == 0)
            fputs(picture_css, out);
        else if (strcmp(name, "script") == 0)
            fputs(picture_js, out);
        else
            page_put_script_data(out, json);
}

static enum st_code write_page(const char *path, const cJSON *recording, struct st_error *err)
{
    struct file_out out;
    char *json = cJSON_PrintUnformatted(recording);
    if (!json)
        return st_fail(err, ST_NO_MEMORY, "no memory for a page of a recorded block");
    enum st_code code = file_out_open(&out, path, err);
    if (!code) {
        put_page(out.f, json);
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
            st_fail(err, ST_BAD_FORMAT, "this is no recording of blocks");
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
        st_fail(err, ST_BAD_FORMAT, "there is nothing to picture: the program launched no kernel");
        st_detail(err, ST_HINT, "does it end before its first launch?");
        code = ST_BAD_FORMAT;
    }
    for (int i = 1; i <= n && !code; i++) {
        add_source(recording[i - 1], source);
        if (source)
            drop_folders(recording[i - 1]);
        add_others(recording, n, i, file);
        if (!page_name(path, file, i))
            code = st_fail(err, ST_TOO_LARGE, "path is too long: %.80s...", file);
        else
            code = write_page(path, recording[i - 1], err);
        if (!code && listener)
            listener->page(listener->context, text_of(recording[i - 1], "symbol"), name_of(path));
    }
    for (int i = 0; i < n; i++)
        cJSON_Delete(recording[i]);
    free(text);
    return code;
}
