/* 1. The file is opened without following a link and without waiting, and must be a regular file of
 *    moderate size: then it is copied.
 * 2. The folder holds the copy and conv.h, and nothing else.
 * 3. The compiler runs within limits: templates that never end, an #include of a device, error
 *    messages without end all come to an end, and say so. */
#include "grader/sandbox/source_build.h"

#include "base/files.h"
#include "grader/sandbox/confined.h"
#include "grader/sandbox/printable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, KEEP_BYTES = 1 << 14 };

/* Several times what the largest submissions need. */
static const struct gr_limits compiler_limits = {.wall_s = 180,
                                                 .cpu_s = 30,
                                                 .address_bytes = (size_t)3 << 30,
                                                 .file_bytes = (size_t)128 << 20,
                                                 .files = 256,
                                                 .processes = 64};

static void refuse(struct gr_source_build *b, const char *pattern, const char *said, ...)
    __attribute__((format(printf, 3, 4)));

static void refuse(struct gr_source_build *b, const char *pattern, const char *said, ...)
{
    va_list args;
    va_start(args, said);
    vsnprintf(b->said, sizeof b->said, said, args);
    va_end(args);
    snprintf(b->pattern, sizeof b->pattern, "%s", pattern);
}

/* ---- the folder -------------------------------------------------------------------------------
 */

static enum st_code folder_make(struct gr_source_build *b, struct st_error *err)
{
    const char *where = getenv("TMPDIR");
    char include[PATH_MAX];
    path_format(b->folder, sizeof b->folder, "%s/convlab-build-XXXXXX",
                where && *where ? where : "/tmp");
    if (!mkdtemp(b->folder)) {
        const int why = errno;
        const enum st_code code = st_fail_errno(err, why, "cannot make a folder to build in");
        st_detail(err, ST_WHERE, "%s", b->folder);
        b->folder[0] = '\0';
        return code;
    }
    char *resolved = realpath(b->folder, NULL);
    if (resolved)
        path_format(b->folder, sizeof b->folder, "%s", resolved);
    free(resolved);
    path_format(b->library, sizeof b->library, "%s/" GR_SOURCE_LIBRARY, b->folder);
    path_format(include, sizeof include, "%s/" GR_SOURCE_INCLUDE, b->folder);
    return dir_make(include, err);
}

static void remove_tree(int parent, const char *name)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !folder)
        close(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(fd, entry->d_name, 0) != 0)
            remove_tree(fd, entry->d_name);
    if (folder)
        closedir(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void gr_source_build_free(struct gr_source_build *b)
{
    if (b->folder[0])
        remove_tree(AT_FDCWD, b->folder);
    *b = GR_SOURCE_BUILD_NONE;
}

static enum st_code write_file(const char *folder, const char *name, const char *data, size_t bytes,
                               struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out out;
    path_format(path, sizeof path, "%s/%s", folder, name);
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    fwrite(data, 1, bytes, out.f);
    return file_out_commit(&out, err);
}

/* ---- the file ---------------------------------------------------------------------------------
 */

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Reads the student's file. @return NULL: refused, or @p code is not ST_OK. */
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
        refuse(b, "bad_file", "the file is %s, and only a regular file is taken",
               why == ELOOP ? "a link" : "a socket or a device");
        return NULL;
    }
    if (fd < 0 || fstat(fd, &info)) {
        *code = st_fail_errno(err, fd < 0 ? why : errno, "cannot read the file to grade");
        st_detail(err, ST_WHERE, "%s", source);
    } else if (!S_ISREG(info.st_mode)) {
        refuse(b, "bad_file", "the file is %s, and only a regular file is taken",
               kind_of(info.st_mode));
    } else if (info.st_size > GR_SOURCE_MAX_BYTES) {
        refuse(b, "bad_file", "the file has %lld bytes, and at most %d are taken",
               (long long)info.st_size, GR_SOURCE_MAX_BYTES);
    } else if (!(data = malloc((size_t)info.st_size + 1))) {
        *code = st_fail(err, ST_NO_MEMORY, "cannot hold the file to grade");
    } else {
        for (ssize_t n; *bytes < (size_t)info.st_size &&
                        (n = read(fd, data + *bytes, (size_t)info.st_size - *bytes)) > 0;)
            *bytes += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return data;
}

/* In the sandbox the compiler may run as another user, whose the folder has to be. */
static enum st_code give_away(const struct gr_source_build *b, const struct gr_sandbox *sandbox,
                              const char *name, struct st_error *err)
{
    if (sandbox->user && chmod(b->folder, 0711)) /* root, without its rights, passes through */
        return st_fail_errno(err, errno, "cannot open %s to the user of the sandbox", b->folder);
    const char *const parts[] = {"", GR_SOURCE_INCLUDE, GR_SOURCE_INCLUDE "/conv.h", name};
    for (size_t i = 0; sandbox->user && i < sizeof parts / sizeof *parts; i++) {
        char path[PATH_MAX];
        path_format(path, sizeof path, "%s/%s", b->folder, parts[i]);
        if (lchown(path, sandbox->user, sandbox->user))
            return st_fail_errno(err, errno, "cannot give %s to the user of the sandbox", path);
    }
    return ST_OK;
}

static enum st_code fill(const struct gr_source_build *b, const char *name, const char *data,
                         size_t bytes, const char *header, struct st_error *err)
{
    char *contract;
    size_t contract_bytes;
    enum st_code code = file_read(header, 1 << 20, &contract, &contract_bytes, err);
    if (code)
        return code;
    code = write_file(b->folder, GR_SOURCE_INCLUDE "/conv.h", contract, contract_bytes, err);
    free(contract);
    return code ? code : write_file(b->folder, name, data, bytes, err);
}

/* ---- the compiler -----------------------------------------------------------------------------
 */

static bool is_regular(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static enum st_code compile(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                            const char *command, struct st_error *err)
{
    const char *argv[ARGUMENTS_MAX + 1] = {NULL};
    struct gr_confined_result result;
    char *words = strdup(command), *save = NULL;
    size_t n = 0;
    for (char *word = words ? strtok_r(words, "\n", &save) : NULL; word && n < ARGUMENTS_MAX;
         word = strtok_r(NULL, "\n", &save))
        argv[n++] = word;
    enum st_code code = ST_OK;
    if (!n || n == ARGUMENTS_MAX)
        code = st_fail(err, words ? ST_BAD_FORMAT : ST_NO_MEMORY, "make tells no compiler command");
    else
        code = gr_confined_run(sandbox, argv, b->folder, NULL, &compiler_limits, KEEP_BYTES,
                               &result, err);
    free(words);
    if (code)
        return code;
    b->built = !result.timed_out && result.exit_status == 0 && is_regular(b->library);
    if (result.timed_out)
        refuse(b, "compile_limit", "the compiler was still at it after %.0f s, the limit",
               compiler_limits.wall_s);
    else if (!b->built) {
        char said[sizeof b->said];
        refuse(b, "compile_error", "%s", gr_printable(said, sizeof said, result.output));
    }
    free(result.output);
    return ST_OK;
}

enum st_code gr_source_build(struct gr_source_build *b, const struct gr_sandbox *sandbox,
                             const char *source, const char *name, const char *header,
                             const char *command, struct st_error *err)
{
    size_t bytes;
    enum st_code code;
    *b = GR_SOURCE_BUILD_NONE;
    char *data = take(b, source, &bytes, &code, err);
    if (!data)
        return code;
    code = folder_make(b, err);
    if (!code)
        code = fill(b, name, data, bytes, header, err);
    if (!code)
        code = give_away(b, sandbox, name, err);
    if (!code)
        code = compile(b, sandbox, command, err);
    free(data);
    return code;
}
