/* Reads the folder of versions. */
#include "grader/history/history.h"

#include "base/files.h"
#include "grader/record/result_json.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a folder's name: "000007-1f09a2b4c6d8". */
static bool read_name(struct hi_version *v, const char *report, const char *name)
{
    int length = 0;
    return sscanf(name, "%6u-%15[0-9a-f]%n", &v->number, v->hash, &length) == 2 && !name[length] &&
           path_format(v->folder, sizeof v->folder, "%s/history/%s", report, name);
}

static int is_version(const struct dirent *entry)
{
    return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

enum st_code hi_list_read(struct hi_list *list, const char *report, struct st_error *err)
{
    char folder[PATH_MAX];
    struct dirent **entries;
    *list = (struct hi_list){0};
    path_format(folder, sizeof folder, "%s/history", report);
    const int n = scandir(folder, &entries, is_version, alphasort);
    if (n < 0 && errno == ENOENT)
        return ST_OK;
    if (n < 0) {
        st_fail_errno(err, errno, "cannot read the history");
        return st_detail(err, ST_WHERE, "%s", folder);
    }
    list->version = calloc((size_t)n + 1, sizeof *list->version);
    for (int i = 0; i < n; i++) {
        if (list->version && read_name(&list->version[list->n], report, entries[i]->d_name))
            list->n++;
        free(entries[i]);
    }
    free(entries);
    return list->version ? ST_OK : st_fail(err, ST_NO_MEMORY, "out of memory for the history");
}

void hi_list_free(struct hi_list *list)
{
    free(list->version);
    *list = (struct hi_list){0};
}

enum st_code hi_version_read(const struct hi_version *v, struct gr_result *result,
                             struct st_error *err)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/result.json", v->folder);
    const enum st_code code = gr_result_read(path, GR_NEED_CHECKS, result, err);
    if (code || strncmp(result->source_hash, v->hash, strlen(v->hash)) == 0)
        return code;
    st_fail(err, ST_BAD_FORMAT, "the version does not match the source that its folder names");
    return st_detail(err, ST_WHERE, "%s", path);
}
