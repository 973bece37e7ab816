/* Reads an archive: build/unpack-submission reads it in the sandbox and prints a table of the files
 * that it found (see the beginning of its source), each row followed by the file's contents. */
#include "grader/handin/handin_parts.h"

#include "base/checkout.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/tsv.h"
#include "grader/sandbox/box.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_ARCHIVE_BYTES = 64 << 20,
    MAX_OUTPUT_BYTES = HI_MAX_MILESTONES * HI_MAX_SOURCE_BYTES + 4 * HI_MAX_REPORT_BYTES,
    MAX_ARGUMENTS = 3 + 3 * HI_MAX_MILESTONES
};

/* An archive may use a limited processor time. The limit on wall time is ten times as high: it only
 * ends a run on a stalled machine. */
static const struct gr_limits limits = {.wall_s = 300,
                                        .cpu_s = 30,
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer's shadow alone exceeds any limit */
                                        .address_bytes = (size_t)1 << 30,
#endif
                                        .file_bytes = MAX_OUTPUT_BYTES,
                                        .files = 32,
                                        .processes = 8};

static void reject(struct hi_taken *taken, const char *why, const char *where)
{
    char shown[4 * HI_PATH_BYTES + 1];
    text_printable(shown, sizeof shown, where);
    snprintf(taken->rejected, sizeof taken->rejected, "its archive is refused: %.200s%s%.250s", why,
             where[0] ? ": " : "", shown);
}

/* ---- running the program -------------------------------------------------------------------- */

/* Makes the program's command line. The words point into the arrays. */
static void make_words(const struct hi_handin *h, const char *program, const char *largest,
                       const char *words[MAX_ARGUMENTS])
{
    size_t n = 0;
    words[n++] = program;
    words[n++] = largest;
    for (size_t i = 0; i < h->milestones; i++) {
        words[n++] = h->wanted[i].id;
        words[n++] = h->wanted[i].folder;
        words[n++] = h->wanted[i].file;
    }
    words[n] = NULL;
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

/* Runs the program with one descriptor as input and another as output.
 * @param status  as of waitpid(); the status of a failure if the program did not end */
static enum st_code run_unpack(const struct hi_handin *handin, int archive, int output, int *status,
                               struct st_error *err)
{
    static char *const environment[] = {"LC_ALL=C.UTF-8", NULL};
    const char *words[MAX_ARGUMENTS], *build = checkout_build(err);
    char program[PATH_MAX], libraries[PATH_MAX], largest[24];
    struct gr_box box;
    if (!build)
        return err->code;
    path_format(program, sizeof program, "%s/unpack-submission", build);
    path_format(libraries, sizeof libraries, "%s/shared", build); /* only in archives of ConvLab */
    snprintf(largest, sizeof largest, "%d", HI_MAX_SOURCE_BYTES);
    make_words(handin, program, largest, words);
    const struct gr_box_options options = {
        .sandbox = handin->sandbox,
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

/* ---- its table ------------------------------------------------------------------------------ */

/* A file's path in the submission: prefixed with the archive's path, if it has one. */
static bool put_path(char to[HI_PATH_BYTES], const char *name, const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return path_format(to, HI_PATH_BYTES, "%s%s%s", name, name[0] ? "/" : "", path);
}

/* Reads one row. @param at  the end of the row, where a file's contents begin; moved to the end of
 * the contents */
static enum st_code take_row(struct hi_reading *r, const char *name, char *const cell[4],
                             const char **at, const char *end, struct st_error *err)
{
    char path[HI_PATH_BYTES];
    size_t limit;
    if (strcmp(cell[0], "rejected") == 0) {
        reject(r->taken, cell[3], cell[2]);
        return ST_OK;
    }
    const bool has_contents = strcmp(cell[0], "file") == 0;
    const char *contents = *at;
    const size_t bytes = strtoul(cell[3], NULL, 10);
    if (has_contents && bytes > (size_t)(end - *at))
        return st_fail(err, ST_CHILD, "unpack-submission returned fewer bytes than it announced");
    *at += has_contents ? bytes : 0;
    struct hi_file *file = put_path(path, name, cell[2]) ? hi_offer(r, path, &limit) : NULL;
    if (!file)
        return ST_OK;
    file->bytes = bytes;
    if (strcmp(cell[0], "twice") == 0)
        file->twice = true;
    else if (!has_contents)
        hi_refuse(file, "has %zu bytes; at most %zu are accepted", bytes, limit);
    else if (!(file->contents = malloc(bytes + 1)))
        return st_fail(err, ST_NO_MEMORY, "out of memory for a file that was handed in");
    else
        memcpy(file->contents, contents, bytes);
    return ST_OK;
}

/* Reads the rows one by one, because files' contents are between them. */
static enum st_code take_table(struct hi_reading *r, const char *name, const char *at,
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
            code = take_row(r, name, table.cells, &at, end, err);
        tsv_free(&table);
    }
    return code;
}

static enum st_code take_output(struct hi_reading *r, const char *name, int output,
                                struct st_error *err)
{
    struct stat info;
    if (fstat(output, &info) || info.st_size == 0)
        return ST_OK; /* the archive contains none of the milestones */
    size_t bytes = (size_t)info.st_size;
    char *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, output, 0);
    if (text == MAP_FAILED)
        return st_fail_errno(err, errno, "cannot read what was unpacked");
    enum st_code code = take_table(r, name, text, text + bytes, err);
    munmap(text, bytes);
    return code;
}

enum st_code hi_read_archive(struct hi_reading *r, int archive, const char *name,
                             struct st_error *err)
{
    struct hi_taken *taken = r->taken;
    struct stat info;
    int status = 0;
    if (!fstat(archive, &info) && info.st_size > MAX_ARCHIVE_BYTES) {
        snprintf(taken->rejected, sizeof taken->rejected,
                 "its archive has %lld bytes; at most %d are accepted", (long long)info.st_size,
                 MAX_ARCHIVE_BYTES);
        return ST_OK;
    }
    const int output = memfd_create("unpacked", MFD_CLOEXEC);
    if (output < 0)
        return st_fail_errno(err, errno, "cannot create a file for the unpacked data");
    enum st_code code = run_unpack(r->handin, archive, output, &status, err);
    if (!code && WIFSIGNALED(status))
        reject(taken, "too large: unpacking took more time or memory than allowed", "");
    else if (!code && WEXITSTATUS(status) != 0) {
        taken->unreadable = true;
        snprintf(taken->rejected, sizeof taken->rejected,
                 "its archive cannot be unpacked on this machine");
    } else if (!code)
        code = take_output(r, name, output, err);
    close(output);
    return code;
}
