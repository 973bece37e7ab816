/* An archive: build/unpack-submission reads it, in the sandbox, and hands out what it found in a
 * table (see there) with the files' contents behind their rows. */
#include "grader/class/class.h"

#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/tsv.h"
#include "grader/sandbox/box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_ARCHIVE_BYTES = 64 << 20,
    MAX_OUTPUT_BYTES = (CL_MAX_MILESTONES + 1) * CL_MAX_SOURCE_BYTES,
    MAX_ARGUMENTS = 3 + 3 * CL_MAX_MILESTONES
};

/* The time is an archive's by the processor's clock; the other is for a machine on which nothing
 * goes on, which is no archive's fault. */
static const struct gr_limits limits = {.wall_s = 300,
                                        .cpu_s = 30,
#ifndef __SANITIZE_ADDRESS__ /* its shadow alone is larger than any limit */
                                        .address_bytes = (size_t)1 << 30,
#endif
                                        .file_bytes = MAX_OUTPUT_BYTES,
                                        .files = 32,
                                        .processes = 8};

static void reject(struct cl_submission *s, const char *why, const char *where)
{
    char shown[CL_SHOWN_BYTES];
    snprintf(s->rejected, sizeof s->rejected, "its archive has %.200s%s%.250s", why,
             where[0] ? ": " : "", cl_name_shown(shown, where));
}

/* ---- running it ----------------------------------------------------------------------------- */

/* The program's command line. The words live as long as the arrays. */
static size_t make_words(const struct cl_options *o, const char *program, const char *largest,
                         const char *words[MAX_ARGUMENTS])
{
    size_t n = 0;
    words[n++] = program;
    words[n++] = largest;
    for (size_t i = 0; i < o->milestones; i++) {
        words[n++] = o->milestone[i].id;
        words[n++] = o->milestone[i].folder;
        words[n++] = o->milestone[i].file;
    }
    words[n] = NULL;
    return n;
}

static bool ends_in_time(int pidfd)
{
    const double until_s = clock_now_s() + limits.wall_s;
    struct pollfd on = {.fd = pidfd, .events = POLLIN};
    double left_s;
    int ready = 0;
    while (ready <= 0 && (left_s = until_s - clock_now_s()) > 0)
        ready = poll(&on, 1, (int)(left_s * 1000) + 1);
    return ready > 0;
}

/* Runs it from one descriptor to another.
 * @param status  as waitpid() tells it; that of a failure if it did not end */
static enum st_code run_unpack(const struct cl_class *class, int archive, int output, int *status,
                               struct st_error *err)
{
    static char *const environment[] = {"LC_ALL=C.UTF-8", NULL};
    const char *words[MAX_ARGUMENTS], *build = checkout_build(err);
    char program[PATH_MAX], libraries[PATH_MAX], largest[24];
    struct gr_box box;
    if (!build)
        return err->code;
    path_format(program, sizeof program, "%s/unpack-submission", build);
    path_format(libraries, sizeof libraries, "%s/shared", build); /* in archives of ours */
    snprintf(largest, sizeof largest, "%d", CL_MAX_SOURCE_BYTES);
    make_words(class->options, program, largest, words);
    const struct gr_box_options options = {
        .sandbox = &class->sandbox,
        .argv = words,
        .environment = environment,
        .folder = "/",
        .descriptor = {archive, output, STDERR_FILENO},
        .descriptors = 3,
        .limits = limits,
        .shown = {program, file_exists(libraries) ? libraries : NULL}};
    enum st_code code = gr_box_start(&box, &options, err);
    if (code)
        return code;
    *status = W_EXITCODE(1, 0);
    if (ends_in_time(box.pidfd) && !gr_box_wait(&box, status))
        code = st_fail(err, ST_CHILD, "the sandbox does not start unpack-submission");
    gr_box_kill(&box);
    return code;
}

/* ---- what it found -------------------------------------------------------------------------- */

static void refuse(struct cl_file *file, const char *what, const char *path, const char *bytes)
{
    char text[CL_NAME_BYTES];
    cl_name_text(text, path);
    file->there = true;
    file->path = strdup(text);
    if (strcmp(what, "twice") == 0)
        snprintf(file->refused, sizeof file->refused, "%s", CL_TWICE);
    else
        snprintf(file->refused, sizeof file->refused, "has %.20s bytes, at most %d are taken",
                 bytes, CL_MAX_SOURCE_BYTES);
}

/* One row. @param at  behind it, where a file's contents are; moved to behind them */
static enum st_code take_row(struct cl_class *class, struct cl_submission *s, char *const cell[4],
                             const char **at, const char *end, struct st_error *err)
{
    const struct cl_options *o = class->options;
    if (strcmp(cell[0], "rejected") == 0) {
        reject(s, cell[3], cell[2]);
        return ST_OK;
    }
    size_t which = 0, bytes = strtoul(cell[3], NULL, 10);
    while (which < o->milestones && strcmp(o->milestone[which].id, cell[1]) != 0)
        which++;
    if (which == o->milestones)
        return st_fail(err, ST_CHILD, "unpack-submission names no milestone of ours");
    if (strcmp(cell[0], "file") != 0) {
        refuse(&s->file[which], cell[0], cell[2], cell[3]);
        return ST_OK;
    }
    if (bytes > (size_t)(end - *at))
        return st_fail(err, ST_CHILD, "unpack-submission hands out less than it says");
    s->file[which].modified = s->modified;
    enum st_code code = cl_file_keep(class, s, which, cell[2], *at, bytes, err);
    *at += bytes;
    return code;
}

/* The rows, one by one, as contents lie between them. */
static enum st_code take_table(struct cl_class *class, struct cl_submission *s, const char *at,
                               const char *end, struct st_error *err)
{
    static const char header[] = "what\tmilestone\tpath\ttext\n";
    enum st_code code = ST_OK;
    for (const char *newline; !code && (newline = memchr(at, '\n', (size_t)(end - at)));) {
        size_t bytes = sizeof header - 1 + (size_t)(newline + 1 - at);
        char *text = malloc(bytes + 1);
        struct tsv table;
        if (!text)
            return st_fail(err, ST_NO_MEMORY, "cannot read what was unpacked");
        memcpy(text, header, sizeof header - 1);
        memcpy(text + sizeof header - 1, at, (size_t)(newline + 1 - at));
        text[bytes] = '\0';
        at = newline + 1;
        code = tsv_parse(text, bytes, "unpack-submission", &table, err);
        if (!code && table.rows == 1)
            code = take_row(class, s, table.cells, &at, end, err);
        tsv_free(&table);
    }
    return code;
}

static enum st_code take_output(struct cl_class *class, struct cl_submission *s, int output,
                                struct st_error *err)
{
    struct stat info;
    if (fstat(output, &info) || info.st_size == 0)
        return ST_OK; /* none of the milestones is in it */
    size_t bytes = (size_t)info.st_size;
    char *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, output, 0);
    if (text == MAP_FAILED)
        return st_fail_errno(err, errno, "cannot read what was unpacked");
    enum st_code code = take_table(class, s, text, text + bytes, err);
    munmap(text, bytes);
    return code;
}

enum st_code cl_intake_archive(struct cl_class *class, struct cl_submission *s,
                               struct st_error *err)
{
    char path[PATH_MAX];
    struct stat info;
    path_format(path, sizeof path, "%s/%s", class->options->dir, s->entry);
    int archive = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (archive < 0 || fstat(archive, &info) || !S_ISREG(info.st_mode)) {
        s->unreadable = archive < 0 && errno != ELOOP;
        snprintf(s->rejected, sizeof s->rejected, "its archive cannot be read: %s",
                 archive < 0 ? strerror(errno) : "not a regular file");
    } else if (info.st_size > MAX_ARCHIVE_BYTES) {
        snprintf(s->rejected, sizeof s->rejected,
                 "its archive has %lld bytes, at most %d are taken", (long long)info.st_size,
                 MAX_ARCHIVE_BYTES);
    }
    int output = s->rejected[0] ? -1 : memfd_create("unpacked", MFD_CLOEXEC), status = 0;
    enum st_code code = ST_OK;
    if (!s->rejected[0]) {
        code = output < 0 ? st_fail_errno(err, errno, "cannot hold what is unpacked")
                          : run_unpack(class, archive, output, &status, err);
        if (!code && WIFSIGNALED(status))
            reject(s, "too much in it: unpacking took more time or memory than is allowed", "");
        else if (!code && WEXITSTATUS(status) != 0) {
            s->unreadable = true;
            snprintf(s->rejected, sizeof s->rejected, "its archive cannot be unpacked here");
        } else if (!code)
            code = take_output(class, s, output, err);
    }
    if (archive >= 0)
        close(archive);
    if (output >= 0)
        close(output);
    return code;
}
