/* Collects the works: from a gradebook, with the copies that its gradings have kept, or from a
 * folder. */
#include "base/files.h"
#include "grader/course/milestone.h"
#include "grader/report/report.h"
#include "grader/similar/c_code.h"
#include "grader/similar/resemble.h"
#include "vgpu/fatbin/fatbin.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE = 1 << 20, MOST_PTX = 1 << 26 };

/* The text of a file; NULL if it cannot be read or contains zero bytes. */
static char *text_of(const char *path, size_t most)
{
    char *text = NULL;
    size_t bytes;
    if (!path[0] || file_read(path, most, &text, &bytes, NULL))
        return NULL;
    for (char *zero = text; (zero = memchr(zero, '\0', bytes - (size_t)(zero - text)));)
        *zero = ' ';
    return text;
}

static bool is_c(const char *path)
{
    const size_t length = strlen(path);
    return length > 2 && strcmp(path + length - 2, ".c") == 0;
}

static enum st_code add_files(struct si_class *class, const char *milestone, const char *name,
                              const char *source, const char *ptx, struct st_error *err)
{
    char *text = text_of(source, MOST_SOURCE), *kernels = text_of(ptx, MOST_PTX);
    if (text && !kernels && is_c(source))
        kernels = si_c_code(source);
    const enum st_code code =
        text ? si_work_add(class, milestone, name, text, kernels, false, err) : ST_OK;
    free(text);
    free(kernels);
    return code;
}

/* ---- a gradebook ---------------------------------------------------------------------------- */

/* Finds a file of an attempt, in the gradebook's folder of files; "": none. */
static void artefact_path(struct gradebook *book, long long attempt, const char *kind,
                          const char *file, char path[PATH_MAX])
{
    struct gb_artefact_list list;
    const char *slash = strrchr(gb_path(book), '/');
    path[0] = '\0';
    if (gb_artefact_read(book, &list, NULL, "WHERE attempt = %lld AND kind = %Q", attempt, kind))
        return;
    if (list.n)
        path_format(path, PATH_MAX, "%.*s%s%s", slash ? (int)(slash + 1 - gb_path(book)) : 0,
                    gb_path(book), list.row[0].path, file);
    gb_artefact_free(&list);
}

/* Adds the reference if it is built. Without it, one work fewer is compared. */
static enum st_code add_reference(struct si_class *class, const char *milestone,
                                  struct st_error *err)
{
    struct gr_milestone m;
    char *ptx = NULL;
    size_t bytes;
    if (gr_milestone_find(&m, milestone, NULL) || !file_exists(m.reference_source))
        return ST_OK;
    char *source = text_of(m.reference_source, MOST_SOURCE);
    if (!m.cuda)
        ptx = si_c_code(m.reference_source);
    else
        fatbin_library_ptx(m.reference_library, &ptx, &bytes, NULL);
    const enum st_code code =
        source ? si_work_add(class, milestone, "the reference", source, ptx, true, err) : ST_OK;
    free(source);
    free(ptx);
    return code;
}

enum st_code si_gradebook_read(struct si_class *class, struct gradebook *book,
                               const char *milestone, struct st_error *err)
{
    struct gb_attempt_list list;
    enum st_code code = gb_attempt_read(
        book, &list, err,
        "WHERE id IN (SELECT attempt FROM grade) AND source_hash IS NOT NULL AND (%Q IS NULL OR milestone = %Q) ORDER BY milestone, submission",
        milestone, milestone);
    if (code)
        return code;
    for (size_t i = 0; i < list.n && !code; i++) {
        const struct gb_attempt *a = &list.row[i];
        char source[PATH_MAX], ptx[PATH_MAX];
        artefact_path(book, a->id, "source", "", source);
        artefact_path(book, a->id, "report", "/" GR_KERNELS_FILE, ptx);
        if (i == 0 || strcmp(a->milestone, list.row[i - 1].milestone) != 0)
            code = add_reference(class, a->milestone, err);
        if (!code)
            code = add_files(class, a->milestone, a->submission, source, ptx, err);
    }
    gb_attempt_free(&list);
    return code;
}

/* ---- a folder ------------------------------------------------------------------------------- */

static int is_source(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && dot > entry->d_name && (strcmp(dot, ".c") == 0 || strcmp(dot, ".cu") == 0);
}

enum st_code si_folder_read(struct si_class *class, const char *folder, struct st_error *err)
{
    struct dirent **entry;
    const int n = scandir(folder, &entry, is_source, alphasort);
    enum st_code code = ST_OK;
    if (n < 0) {
        st_fail_errno(err, errno, "cannot read the folder of sources");
        return st_detail(err, ST_WHERE, "%s", folder);
    }
    for (int i = 0; i < n; i++) {
        char source[PATH_MAX], ptx[PATH_MAX], name[256];
        snprintf(name, sizeof name, "%.*s",
                 (int)(strrchr(entry[i]->d_name, '.') - entry[i]->d_name), entry[i]->d_name);
        if (!code && path_format(source, sizeof source, "%s/%s", folder, entry[i]->d_name) &&
            path_format(ptx, sizeof ptx, "%s/%s.ptx", folder, name))
            code = add_files(class, "", name, source, ptx, err);
        free(entry[i]);
    }
    free(entry);
    return code;
}
