/* Profiles: a table has rows of all sizes, with "images" in the first column; a file for one size
 * has the size in its name: trace-100.tsv. The source and the pages of recorded blocks belong to
 * the version: the last profile's are kept. */
#include "grader/history/history_profile.h"

#include "base/files.h"
#include "base/tsv.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 32 << 20, SIZES = 32 };

/** The sizes of a profile. */
struct sizes {
    size_t n;
    long images[SIZES];
};

static bool has_size(const struct sizes *s, long images)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->images[i] == images)
            return true;
    return false;
}

static long images_of_row(const struct tsv *t, size_t row)
{
    return strtol(tsv_cell(t, row, 0), NULL, 10);
}

/* Reads the sizes that PROFILE/parts.tsv lists; none if there is no such file. */
static struct sizes sizes_of(const char *profile)
{
    struct sizes s = {0};
    struct tsv t = {0};
    char path[PATH_MAX];
    if (path_format(path, sizeof path, "%s/parts.tsv", profile) && !tsv_read(path, &t, NULL))
        for (size_t row = 0; row < t.rows && s.n < SIZES; row++)
            if (!has_size(&s, images_of_row(&t, row)))
                s.images[s.n++] = images_of_row(&t, row);
    tsv_free(&t);
    return s;
}

/* The size in the name of a file: "summary-100.txt"; 0: a table for all sizes. */
static long size_of(const char *name)
{
    const char *digits = name + strcspn(name, ".");
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits > name && digits[-1] == '-' ? strtol(digits, NULL, 10) : 0;
}

static bool is_of_all_sizes(const char *name)
{
    return strcmp(name, "source.txt") == 0 || strncmp(name, "run", 3) == 0;
}

/* ---- tables of all sizes ---------------------------------------------------------------------- */

static void put_row(FILE *out, const struct tsv *t, size_t row)
{
    tsv_write_row(out, t->columns, (const char *const *)&t->cells[row * t->columns]);
}

/* Writes the rows of both tables, by size. @param newer  sizes at which the newer table takes
 * precedence */
static void put_rows(FILE *out, const struct tsv *a, const struct tsv *b, const struct sizes *newer)
{
    size_t i = 0, k = 0;
    while (i < a->rows || k < b->rows) {
        if (i < a->rows && has_size(newer, images_of_row(a, i)))
            i++;
        else if (k == b->rows || (i < a->rows && images_of_row(a, i) < images_of_row(b, k)))
            put_row(out, a, i++);
        else
            put_row(out, b, k++);
    }
}

static enum st_code merge_table(const char *from, const char *to, const struct sizes *newer,
                                struct st_error *err)
{
    struct tsv a = {0}, b = {0};
    struct file_out out;
    enum st_code code = ST_OK;
    if (tsv_read(from, &a, NULL)) /* a damaged earlier table does not affect this grading */
        goto cleanup;
    if (!file_exists(to)) {
        code = file_copy(from, to, MOST_BYTES, err);
        goto cleanup;
    }
    code = tsv_read(to, &b, err);
    if (code || a.columns != b.columns || (code = file_out_open(&out, to, err)))
        goto cleanup;
    tsv_write_row(out.f, b.columns, (const char *const *)b.header);
    put_rows(out.f, &a, &b, newer);
    code = file_out_commit(&out, err);
cleanup:
    tsv_free(&a);
    tsv_free(&b);
    return code;
}

/* ---- folders ---------------------------------------------------------------------------------- */

/* Adds to a profile the files and the rows of tables that it lacks. */
static enum st_code take_files(const char *from, const char *to, const struct sizes *newer,
                               struct st_error *err)
{
    char source[PATH_MAX], target[PATH_MAX];
    DIR *dir = opendir(from);
    enum st_code code = dir ? dir_make(to, err) : ST_OK;
    for (struct dirent *entry; dir && !code && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (name[0] == '.' || !path_format(source, sizeof source, "%s/%s", from, name) ||
            !path_format(target, sizeof target, "%s/%s", to, name))
            continue;
        if (is_of_all_sizes(name))
            code = file_exists(target) ? ST_OK : file_copy(source, target, MOST_BYTES, err);
        else if (!size_of(name))
            code = merge_table(source, target, newer, err);
        else if (!has_size(newer, size_of(name)))
            code = file_copy(source, target, MOST_BYTES, err);
        if (code == ST_TOO_LARGE) /* the trace of a program that launches without end */
            code = ST_OK;
    }
    if (dir)
        closedir(dir);
    return code;
}

enum st_code hi_profile_add(const char *earlier, const char *newer, struct st_error *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    path_format(from, sizeof from, "%s/profile", earlier);
    path_format(to, sizeof to, "%s/profile", newer);
    const struct sizes sizes = sizes_of(to);
    return take_files(from, to, &sizes, err);
}

enum st_code hi_profile_show(const char *version, const char *report, struct st_error *err)
{
    char from[PATH_MAX], to[PATH_MAX], fresh[PATH_MAX];
    const struct sizes none = {0};
    path_format(from, sizeof from, "%s/profile", version);
    path_format(to, sizeof to, "%s/profile", report);
    path_format(fresh, sizeof fresh, "%s/profile.new", report);
    tree_remove(fresh);
    const enum st_code code = take_files(from, fresh, &none, err);
    if (code)
        return tree_remove(fresh), code;
    tree_remove(to);
    if (file_exists(fresh) && rename(fresh, to)) {
        st_fail_errno(err, errno, "cannot move the profile into the report's folder");
        return st_detail(err, ST_WHERE, "%s", to);
    }
    return ST_OK;
}
