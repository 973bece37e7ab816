/* 1. Open the file without following a link and without blocking. It must be a regular file of
 * moderate size. Copy it.
 * 2. Make a folder that contains only the copy and conv.h.
 * 3. Run the compiler within limits: endless templates, an #include of a device, and endless error
 *    messages are all stopped and reported.
 * 4. If the compiler fails on a full disk, the submission may not be at fault and is not graded. */
#include "grader/sandbox/source_build.h"

#include "base/files.h"
#include "grader/sandbox/build_folder.h"
#include "grader/sandbox/confined.h"
#include "base/printable.h"
#include "base/shown_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    KEEP_BYTES = 1 << 14,
    ROOM_BYTES = 4 << 20, /* enough for any library */
    LIBRARY_MAX_BYTES = 256 << 20
};

/* Several times what the largest submissions need. */
static const struct gr_limits compiler_limits = {.wall_s = 180,
                                                 .cpu_s = 30,
                                                 .address_bytes = (size_t)3 << 30,
                                                 .file_bytes = (size_t)128 << 20,
                                                 .files = 256,
                                                 .processes = 64};

__attribute__((format(printf, 3, 4))) static void refuse(struct gr_source_build *b,
                                                         const char *pattern, const char *said, ...)
{
    va_list args;
    va_start(args, said);
    vsnprintf(b->said, sizeof b->said, said, args);
    va_end(args);
    snprintf(b->pattern, sizeof b->pattern, "%s", pattern);
}

/* ---- the file ------------------------------------------------------------------------------- */

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Reads the student's file. @return NULL: the file was refused, or @p code is not ST_OK. */
static char *take(struct gr_source_build *b, const char *source, size_t *bytes, enum st_code *code,
                  struct st_error *err)
{
    struct stat info;
    char *data = NULL;
    const int fd = open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const int why = errno;
    *code = ST_OK;
    *bytes = 0;
    if (fd < 0 && (why == ELOOP || why == ENXIO)) {
        refuse(b, "bad_file", "the file is %s; only a regular file is accepted",
               why == ELOOP ? "a link" : "a socket or a device");
        return NULL;
    }
    if (fd < 0 || fstat(fd, &info)) {
        *code = st_fail_errno(err, fd < 0 ? why : errno, "cannot read the file to grade");
        st_detail(err, ST_WHERE, "%s", source);
    } else if (!S_ISREG(info.st_mode)) {
        refuse(b, "bad_file", "the file is %s; only a regular file is accepted",
               kind_of(info.st_mode));
    } else if (info.st_size > GR_SOURCE_MAX_BYTES) {
        refuse(b, "bad_file", "the file has %lld bytes; at most %d are accepted",
               (long long)info.st_size, GR_SOURCE_MAX_BYTES);
    } else if (!(data = malloc((size_t)info.st_size + 1))) {
        *code = st_fail(err, ST_NO_MEMORY, "out of memory for the file to grade");
    } else {
        for (ssize_t n; *bytes < (size_t)info.st_size &&
                        (n = read(fd, data + *bytes, (size_t)info.st_size - *bytes)) > 0;)
            *bytes += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    if (data && *bytes >= 2 && (!memcmp(data, "\xff\xfe", 2) || !memcmp(data, "\xfe\xff", 2))) {
        refuse(b, "bad_file", "the file is UTF-16, which compilers cannot read: save it as UTF-8");
        free(data);
        return NULL;
    }
    return data;
}

static enum st_code put_header(const struct gr_source_build *b, const char *name,
                               const char *header, struct st_error *err)
{
    char *text;
    size_t bytes;
    enum st_code code = file_read(header, 1 << 20, &text, &bytes, err);
    if (code)
        return code;
    code = gr_build_folder_put(b->folder, name, text, bytes, err);
    free(text);
    return code;
}

/* ---- the compiler --------------------------------------------------------------------------- */

/* Whether the path is a regular file, not a link that the compiler was made to create. */
static bool is_there(const struct gr_source_build *b)
{
    char place[PATH_MAX];
    struct stat info;
    return lstat(b->library, &info) == 0 && S_ISREG(info.st_mode) &&
           (!b->folder[0] || (realpath(b->library, place) && strcmp(place, b->library) == 0));
}

/* Checks whether the disk is full. The compiler's message proves nothing: it is in the user's
 * language, and a submission can print the same text. */
static enum st_code check_room(const char *folder, const char *said, struct st_error *err)
{
    struct statvfs disk;
    if (statvfs(folder, &disk) ||
        (disk.f_bavail * disk.f_frsize >= ROOM_BYTES && (disk.f_favail > 0 || disk.f_files == 0)))
        return ST_OK;
    st_fail_errno(err, ENOSPC, "the compiler failed, and the disk is full");
    st_detail(err, ST_WHERE, "%s", folder);
    return st_detail(err, ST_GOT, "%.*s", (int)strcspn(said, "\n"), said), err->code;
}

static enum st_code compile_with(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                                 const struct gr_confined_options *o, struct st_error *err)
{
    struct gr_confined_result result;
    enum st_code code = gr_confined_run(sandbox, o, &result, err);
    if (!code) {
        b->built = !result.timed_out && result.exit_status == 0 && is_there(b);
        if (result.timed_out)
            refuse(b, "compile_limit", "the compiler was still running after %.0f s, the limit",
                   compiler_limits.wall_s);
        else
            text_printable(b->said, sizeof b->said, result.output);
        if (!b->built && !result.timed_out)
            snprintf(b->pattern, sizeof b->pattern, "compile_error");
        if (!b->built)
            code = check_room(o->folder, b->said, err);
    }
    free(result.output);
    return code;
}

/* @return whether the code may have failed to compile only because the oldest GPU of the command
 * lacks an instruction or a function. */
static bool may_need_newer(const struct gr_source_build *b)
{
    static const char *const words[] = {"sm_", "is undefined", "incomplete type", "has no member"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found |= strstr(b->said, words[i]) != NULL;
    return !b->built && strcmp(b->pattern, "compile_error") == 0 && found;
}

/* The compute capabilities after the oldest one. */
static const struct capability {
    int number;
    const char *ptx, *code;
} newer[] = {{80, "arch=compute_80,code=compute_80", "arch=compute_80,code=sm_90"},
             {90, "arch=compute_90,code=compute_90", "arch=compute_90,code=sm_90"}};

/* Makes nvcc's command for GPUs of at least this capability.
 * @return false if the command was for them already, or for one GPU only. */
static bool newer_command(const char *const *argv, const struct capability *least,
                          const char *to[GR_COMMAND_ARGUMENTS + 1])
{
    static const char older[] = "arch=compute_";
    size_t n = 0;
    bool has_older = false, has_newest = false;
    for (size_t i = 0; argv[i] && n + 5 < GR_COMMAND_ARGUMENTS; i++) {
        const bool is_pair = strcmp(argv[i], "-gencode") == 0 && argv[i + 1];
        if (is_pair && strncmp(argv[i + 1], older, strlen(older)) == 0) {
            has_older |= atoi(argv[i + 1] + strlen(older)) < least->number;
            has_newest |= strstr(argv[++i], "code=sm_90") != NULL;
        } else
            to[n++] = argv[i];
    }
    to[n++] = "-gencode";
    to[n++] = least->ptx;
    to[n++] = "-gencode";
    to[n++] = least->code;
    to[n] = NULL;
    return has_older && has_newest;
}

/* Compiles for all GPUs of the command. Code that needs a newer one, such as cp.async in PTX, is
 * compiled only for newer ones. If this fails, too, the first messages remain. */
static enum st_code compile(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                            struct gr_confined_options *o, struct st_error *err)
{
    o->limits = compiler_limits;
    o->keep_bytes = KEEP_BYTES;
    enum st_code code = compile_with(b, sandbox, o, err);
    struct gr_source_build *again = code || !may_need_newer(b) ? NULL : malloc(sizeof *again);
    for (size_t i = 0; again && !code && !b->built && i < sizeof newer / sizeof *newer; i++) {
        const char *argv[GR_COMMAND_ARGUMENTS + 1];
        struct gr_confined_options for_newer = *o;
        for_newer.argv = argv;
        *again = *b;
        if (!newer_command(o->argv, &newer[i], argv))
            continue;
        code = compile_with(again, sandbox, &for_newer, err);
        if (!code && again->built) {
            again->pattern[0] = '\0';
            *b = *again;
        }
    }
    free(again);
    return code;
}

/* The paths in the folder of the build. */
struct layout {
    const char *source, *header, *library;
};

static enum st_code build(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                          const char *source, const char *header, const struct layout *in,
                          struct gr_confined_options *o, struct st_error *err)
{
    size_t bytes;
    enum st_code code;
    char *data = take(b, source, &bytes, &code, err);
    if (!data)
        return code;
    code = gr_build_folder_make(b->folder, &b->lock, err);
    if (!code)
        code = gr_build_folder_put(b->folder, in->source, data, bytes, err);
    if (!code)
        code = put_header(b, in->header, header, err);
    if (!code)
        code = gr_build_folder_make_above(b->folder, in->library, err);
    if (!code)
        code = gr_build_folder_give(b->folder, sandbox, err);
    path_format(b->library, sizeof b->library, "%s/%s", b->folder, in->library);
    o->folder = b->folder;
    if (!code)
        code = compile(b, sandbox, o, err);
    free(data);
    return code;
}

enum st_code gr_command_split(char *command, const char *argv[GR_COMMAND_ARGUMENTS + 1],
                              struct st_error *err)
{
    char *save = NULL;
    size_t n = 0;
    for (char *word = strtok_r(command, "\n", &save); word && n < GR_COMMAND_ARGUMENTS;
         word = strtok_r(NULL, "\n", &save))
        argv[n++] = word;
    argv[n] = NULL;
    return n && n < GR_COMMAND_ARGUMENTS
               ? ST_OK
               : st_fail(err, ST_BAD_FORMAT, "make did not print the compile command for labs");
}

enum st_code gr_source_build(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                             const char *source, const char *name, const char *header,
                             const char *command, struct st_error *err)
{
    const char *argv[GR_COMMAND_ARGUMENTS + 1];
    char header_name[64];
    snprintf(header_name, sizeof header_name, GR_SOURCE_INCLUDE "/%.40s", path_base(header));
    const struct layout in = {name, header_name, GR_SOURCE_LIBRARY};
    struct gr_confined_options options = {.argv = argv};
    char *words = strdup(command);
    *b = GR_SOURCE_BUILD_NONE;
    enum st_code code =
        words ? gr_command_split(words, argv, err)
              : st_fail(err, ST_NO_MEMORY, "out of memory for the compiler's command");
    if (!code)
        code = build(b, sandbox, source, header, &in, &options, err);
    free(words);
    return code;
}

enum st_code gr_lab_build(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                          const struct gr_lab_files *lab, const char *const *argv, int stop,
                          struct st_error *err)
{
    const char *file = path_base(lab->source);
    char header_name[64];
    snprintf(header_name, sizeof header_name, "common/%.*s.h", (int)strcspn(file, "."), file);
    const struct layout in = {lab->source, header_name, lab->library};
    struct gr_confined_options options = {
        .argv = argv, .folder = lab->root, .place = lab->root, .stop = stop};
    char source[PATH_MAX], header[PATH_MAX];
    *b = GR_SOURCE_BUILD_NONE;
    path_format(source, sizeof source, "%s/%s", lab->root, lab->source);
    path_format(header, sizeof header, "%s/%s", lab->root, header_name);
    if (sandbox->on)
        return build(b, sandbox, source, header, &in, &options, err);
    path_format(b->library, sizeof b->library, "%s/%s", lab->root, lab->library);
    return compile(b, sandbox, &options, err);
}

enum st_code gr_lab_install(const struct gr_source_build *b, const struct gr_sandbox *sandbox,
                            const struct gr_lab_files *lab, struct st_error *err)
{
    char library[PATH_MAX];
    path_format(library, sizeof library, "%s/%s", lab->root, lab->library);
    if (!b->built || strcmp(b->library, library) == 0)
        return ST_OK;
    const mode_t own = umask(0);
    umask(sandbox->user ? 022 : own); /* another user, not root, will load the library */
    const enum st_code code = file_copy(b->library, library, LIBRARY_MAX_BYTES, err);
    umask(own);
    return code;
}

void gr_source_build_free(struct gr_source_build *b)
{
    if (b->folder[0])
        gr_build_folder_remove(b->folder, b->lock);
    *b = GR_SOURCE_BUILD_NONE;
}
