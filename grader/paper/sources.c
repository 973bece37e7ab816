/* Finds the results of gradings in build/report. */
#include "grader/paper/sources.h"

#include "base/files.h"
#include "base/sha256.h"
#include "grader/course/milestone.h"
#include "grader/record/result_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* @return the time of the last change, or 0 if the file does not exist. */
static double changed(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
}

/* @return whether the text of a file differs from the graded text. @param source  the file's
 * path */
static bool is_other_text(const struct gr_result *r, const char *source)
{
    enum { MOST_BYTES = 64 << 20 };
    char *text, hash[SHA256_HEX];
    size_t bytes;
    if (file_read(source, MOST_BYTES, &text, &bytes, NULL))
        return true;
    sha256_hex(text, bytes, hash);
    free(text);
    return strcmp(hash, r->source_hash) != 0;
}

static void look_for_age(const struct gr_sources *src, struct gr_grading *g)
{
    char source[PATH_MAX], file[PATH_MAX];
    if (!g->result->source[0] || strcmp(g->result->subject, "library") == 0)
        return; /* students do not write the libraries */
    if (!path_format(source, sizeof source, "%s%s%s", g->result->source[0] == '/' ? "" : src->root,
                     g->result->source[0] == '/' ? "" : "/", g->result->source))
        return;
    if (path_format(file, sizeof file, "%s/result.json", g->folder))
        g->stale = changed(source) > changed(file) &&
                   (!g->result->source_hash[0] || is_other_text(g->result, source));
}

static void read_grading(const struct gr_sources *src, struct gr_grading *g)
{
    char path[PATH_MAX];
    struct st_error failure;
    if (!path_format(path, sizeof path, "%s/result.json", g->folder) || !file_exists(path))
        return;
    g->result = malloc(sizeof *g->result);
    enum st_code code = g->result ? gr_result_read(path, GR_NEED_CHECKS, g->result, &failure)
                                  : st_fail(&failure, ST_NO_MEMORY, "not enough memory to read it");
    if (code) {
        snprintf(g->fault, sizeof g->fault, "%s", failure.what);
        free(g->result);
        g->result = NULL;
        return;
    }
    look_for_age(src, g);
}

enum st_code pp_sources_read(struct gr_sources *src, struct st_error *err)
{
    struct dirent **entries;
    src->n = 0;
    const int n = gr_milestone_folders(src->gradings, &entries);
    if (n < 0) {
        if (errno == ENOENT) /* nothing was graded yet */
            return ST_OK;
        st_fail_errno(err, errno, "cannot read the folder of gradings");
        return st_detail(err, ST_WHERE, "%s", src->gradings);
    }
    enum st_code code = ST_OK;
    for (int i = 0; i < n; i++) {
        struct gr_grading *g = src->n < GR_GRADINGS && !code ? calloc(1, sizeof *g) : NULL;
        if (g) {
            snprintf(g->id, sizeof g->id, "%.8s", entries[i]->d_name);
            if (path_format(g->folder, sizeof g->folder, "%s/%s", src->gradings, g->id))
                read_grading(src, g);
            src->grading[src->n++] = g;
        } else if (src->n < GR_GRADINGS) {
            code = st_fail(err, ST_NO_MEMORY, "out of memory for the gradings");
        }
        free(entries[i]);
    }
    free(entries);
    return code;
}

void pp_sources_free(struct gr_sources *src)
{
    for (size_t i = 0; i < src->n; i++) {
        free(src->grading[i]->result);
        free(src->grading[i]);
    }
    src->n = 0;
}

struct gr_grading *pp_sources_find(const struct gr_sources *src, const char *id)
{
    for (size_t i = 0; i < src->n; i++)
        if (strcmp(src->grading[i]->id, id) == 0)
            return src->grading[i];
    return NULL;
}
