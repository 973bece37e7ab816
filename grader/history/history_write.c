/* Adds a version: writes it into a separate folder next to the others, and renames the folder while
 * holding a lock. */
#include "grader/history/history.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/lock.h"
#include "grader/history/history_profile.h"
#include "grader/record/result_json.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing the folder ---------------------------------------------------------------------- */

/* Removes what killed gradings left behind. */
static void remove_left(const char *history)
{
    DIR *dir = opendir(history);
    char path[PATH_MAX];
    long pid;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (sscanf(entry->d_name, "new-%ld", &pid) == 1 && pid > 0 &&
            (pid == (long)getpid() || (kill((pid_t)pid, 0) && errno == ESRCH)) &&
            path_format(path, sizeof path, "%s/%s", history, entry->d_name))
            tree_remove(path);
    if (dir)
        closedir(dir);
}

enum st_code hi_begin(struct hi_writing *w, const char *report, struct st_error *err)
{
    char history[PATH_MAX];
    *w = (struct hi_writing){.lock = -1};
    /* 128: for the names of a version's folder and its files */
    if (strlen(report) > PATH_MAX - 128)
        return path_too_long(report, err);
    path_format(w->report, sizeof w->report, "%s", report);
    path_format(history, sizeof history, "%s/history", report);
    enum st_code code = dir_make(history, err);
    if (code)
        return code;
    remove_left(history);
    path_format(w->folder, sizeof w->folder, "%s/new-%ld", history, (long)getpid());
    code = dir_make(w->folder, err);
    if (code)
        w->folder[0] = '\0';
    return code;
}

void hi_end(struct hi_writing *w)
{
    if (w->folder[0])
        tree_remove(w->folder);
    lock_release(w->lock);
    w->folder[0] = '\0';
    w->lock = -1;
}

/* ---- the earlier version -------------------------------------------------------------------- */

static void note(struct hi_writing *w, const struct hi_version *v, const char *what)
{
    snprintf(w->note, sizeof w->note, "%.120s: %.100s", checkout_relative(v->folder), what);
}

/* Merges the newest version with the same source and settings into the result. @return that
 * version, or NULL */
static const struct hi_version *merge_earlier(struct hi_writing *w, const struct hi_list *list,
                                              struct gr_result *r)
{
    const struct hi_version *found = NULL;
    struct gr_result *older = malloc(sizeof *older);
    for (size_t i = list->n; older && i-- > 0 && !found;) {
        const struct hi_version *v = &list->version[i];
        struct st_error failure;
        if (strncmp(v->hash, r->source_hash, strlen(v->hash)) != 0)
            continue;
        if (hi_version_read(v, older, &failure))
            note(w, v, "damaged, left out");
        else if (hi_is_same(r, older))
            found = v;
    }
    if (found)
        hi_merge(r, older);
    free(older);
    return found;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static enum st_code write_result(const struct hi_writing *w, const struct gr_result *r,
                                 struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out out;
    path_format(path, sizeof path, "%s/result.json", w->folder);
    const enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    gr_result_write(out.f, r);
    return file_out_commit(&out, err);
}

static enum st_code write_source(const struct hi_writing *w, const char *source, size_t bytes,
                                 const char *name, struct st_error *err)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/%s", w->folder, name);
    return source ? file_write(path, source, bytes, err) : ST_OK;
}

/* Moves the version to its final location. @param earlier  the version that it replaces, or NULL */
static enum st_code put_in_place(struct hi_writing *w, const struct hi_list *list,
                                 const struct hi_version *earlier, const char *hash,
                                 struct st_error *err)
{
    char to[PATH_MAX];
    const unsigned number = list->n ? list->version[list->n - 1].number + 1 : 1;
    path_format(to, sizeof to, "%s/history/%06u-%.12s", w->report, number, hash);
    if (rename(w->folder, to)) {
        st_fail_errno(err, errno, "cannot store the version");
        return st_detail(err, ST_WHERE, "%s", to);
    }
    path_format(w->folder, sizeof w->folder, "%s", to);
    if (earlier)
        tree_remove(earlier->folder);
    return ST_OK;
}

/* Removes the oldest versions when the limits are exceeded. */
static void prune(struct hi_writing *w, const struct hi_list *list,
                  const struct hi_version *earlier)
{
    size_t n = list->n + !earlier;
    uint64_t bytes = tree_bytes(w->folder);
    for (size_t i = 0; i < list->n; i++) /* (a version that was replaced has none) */
        bytes += tree_bytes(list->version[i].folder);
    for (size_t i = 0; i < list->n && n > HI_LEAST_VERSIONS; i++) {
        if (n <= HI_MAX_VERSIONS && bytes <= HI_MAX_BYTES)
            break;
        if (&list->version[i] == earlier)
            continue;
        bytes -= tree_bytes(list->version[i].folder);
        tree_remove(list->version[i].folder);
        note(w, &list->version[i], "removed: the history keeps 100 versions and 64 MiB");
        n--;
    }
}

enum st_code hi_commit(struct hi_writing *w, struct gr_result *result, const char *source,
                       size_t bytes, const char *name, struct st_error *err)
{
    char path[PATH_MAX];
    struct hi_list list = {0};
    const struct hi_version *earlier = NULL;
    path_format(path, sizeof path, "%s/history/lock", w->report);
    enum st_code code = lock_take(path, LOCK_ALONE, &w->lock, err);
    if (!code)
        code = hi_list_read(&list, w->report, err);
    if (!code) {
        earlier = merge_earlier(w, &list, result);
        code = write_result(w, result, err);
    }
    if (!code)
        code = write_source(w, source, bytes, name, err);
    if (!code && earlier)
        code = hi_profile_add(earlier->folder, w->folder, err);
    if (!code)
        code = put_in_place(w, &list, earlier, result->source_hash, err);
    if (!code) {
        prune(w, &list, earlier);
        code = hi_profile_show(w->folder, w->report, err);
        w->folder[0] = '\0'; /* keeps the folder */
    }
    hi_list_free(&list);
    return code;
}
