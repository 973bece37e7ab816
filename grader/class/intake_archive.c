/* An archive: build/unpack-submission reads it, as a process within limits, and tells in a table
 * what it took out. */
#include "grader/class/class.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/tsv.h"
#include "grader/sandbox/confined.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_ARCHIVE_BYTES = 64 << 20,
    KEEP_BYTES = 1 << 16,
    MAX_ARGUMENTS = 5 + 3 * CL_MAX_MILESTONES
};

static const struct gr_limits limits = {.wall_s = 60,
                                        .cpu_s = 30,
                                        .memory_bytes = (size_t)1 << 30,
                                        .file_bytes = 2 * CL_MAX_SOURCE_BYTES};

static void reject(struct cl_submission *s, const char *why, const char *where)
{
    char shown[CL_SHOWN_BYTES];
    snprintf(s->rejected, sizeof s->rejected, "its archive has %.200s%s%.250s", why,
             where[0] ? ": " : "", cl_name_shown(shown, where));
}

/* The folder it unpacks into, empty. */
static enum st_code make_folder(const struct cl_class *class, const struct cl_submission *s,
                                char folder[PATH_MAX], struct st_error *err)
{
    char parent[PATH_MAX];
    cl_submission_folder(class, s->name, parent);
    if (!path_format(folder, PATH_MAX, "%s/unpacked", parent))
        return st_fail(err, ST_TOO_LARGE, "path is too long: %.80s...", parent);
    return dir_make(folder, err);
}

static void remove_folder(const struct cl_class *class, const char *folder)
{
    for (size_t i = 0; i < class->options->milestones; i++) {
        char path[PATH_MAX];
        path_format(path, sizeof path, "%s/%s", folder, class->options->milestone[i].id);
        unlink(path);
    }
    rmdir(folder);
}

static enum st_code run_unpack(const struct cl_class *class, const char *archive,
                               const char *folder, struct gr_confined_result *result,
                               struct st_error *err)
{
    const struct cl_options *o = class->options;
    const char *argv[MAX_ARGUMENTS], *build = checkout_build(err);
    char program[PATH_MAX], largest[24];
    size_t n = 0;
    if (!build)
        return err->code;
    path_format(program, sizeof program, "%s/unpack-submission", build);
    snprintf(largest, sizeof largest, "%d", CL_MAX_SOURCE_BYTES);
    argv[n++] = program;
    argv[n++] = archive;
    argv[n++] = folder;
    argv[n++] = largest;
    for (size_t i = 0; i < o->milestones; i++) {
        argv[n++] = o->milestone[i].id;
        argv[n++] = o->milestone[i].folder;
        argv[n++] = o->milestone[i].file;
    }
    argv[n] = NULL;
    return gr_confined_run(argv, "/", &limits, KEEP_BYTES, result, err);
}

/* One row of the table: what, milestone, path, text. */
static enum st_code take_row(struct cl_class *class, struct cl_submission *s, const char *folder,
                             char *const cell[4], struct st_error *err)
{
    const struct cl_options *o = class->options;
    if (strcmp(cell[0], "rejected") == 0) {
        reject(s, cell[3], cell[2]);
        return ST_OK;
    }
    size_t which = 0;
    while (which < o->milestones && strcmp(o->milestone[which].id, cell[1]) != 0)
        which++;
    if (which == o->milestones)
        return ST_OK;
    if (strcmp(cell[0], "large") == 0) {
        char text[CL_NAME_BYTES];
        cl_name_text(text, cell[2]);
        s->file[which].there = true;
        s->file[which].path = strdup(text);
        snprintf(s->file[which].refused, sizeof s->file[which].refused,
                 "has %.20s bytes, at most %d are taken", cell[3], CL_MAX_SOURCE_BYTES);
        return ST_OK;
    }
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/%s", folder, o->milestone[which].id);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return st_fail_errno(err, errno, "cannot read what was unpacked: %s", path);
    enum st_code code = cl_file_keep(class, s, which, cell[2], fd, err);
    close(fd);
    return code;
}

/* (tsv_parse() wants a header row) */
static enum st_code take_table(struct cl_class *class, struct cl_submission *s, const char *folder,
                               const char *output, struct st_error *err)
{
    static const char header[] = "what\tmilestone\tpath\ttext\n";
    struct tsv table;
    char *text = malloc(sizeof header + strlen(output));
    if (!text)
        return st_fail(err, ST_NO_MEMORY, "cannot read what was unpacked");
    sprintf(text, "%s%s", header, output);
    enum st_code code = tsv_parse(text, strlen(text), "unpack-submission", &table, err);
    for (size_t row = 0; !code && row < table.rows; row++)
        code = take_row(class, s, folder, &table.cells[row * table.columns], err);
    tsv_free(&table);
    return code;
}

enum st_code cl_intake_archive(struct cl_class *class, struct cl_submission *s,
                               struct st_error *err)
{
    char archive[PATH_MAX], folder[PATH_MAX];
    struct stat info;
    if (!path_format(archive, sizeof archive, "%s/%s", class->options->dir, s->entry) ||
        lstat(archive, &info))
        return st_fail(err, ST_NOT_FOUND, "cannot read an archive: %.200s", s->name);
    if (info.st_size > MAX_ARCHIVE_BYTES) {
        snprintf(s->rejected, sizeof s->rejected,
                 "its archive has %lld bytes, at most %d are taken", (long long)info.st_size,
                 MAX_ARCHIVE_BYTES);
        return ST_OK;
    }
    struct gr_confined_result result = {0};
    char real[PATH_MAX];
    enum st_code code = make_folder(class, s, folder, err);
    if (!code && !realpath(archive, real))
        code = st_fail_errno(err, errno, "cannot read an archive");
    if (!code)
        code = run_unpack(class, real, folder, &result, err);
    if (code)
        return code;
    if (result.timed_out || result.exit_status >= 128)
        reject(s, "too much in it: unpacking took longer or more memory than is allowed", "");
    else if (result.exit_status != 0) {
        st_fail(err, ST_CHILD, "cannot unpack an archive");
        st_detail(err, ST_WHERE, "%s", archive);
        code = st_detail(err, ST_GOT, "%.200s", result.output);
    } else
        code = take_table(class, s, folder, result.output, err);
    free(result.output);
    remove_folder(class, folder);
    return code;
}
