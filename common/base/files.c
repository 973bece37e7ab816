#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum st_code file_read(const char *path, size_t max_bytes, char **data, size_t *bytes,
                       struct st_error *err)
{
    *data = NULL;
    *bytes = 0;
    struct stat info;
    /* Without O_NONBLOCK, opening a named pipe would wait for ever for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (!f || fstat(fd, &info)) {
        enum st_code code = st_fail_errno(err, errno, "cannot read file");
        st_detail(err, ST_WHERE, "%s", path);
        if (f)
            fclose(f);
        else if (fd >= 0)
            close(fd);
        return code;
    }
    if (!S_ISREG(info.st_mode)) {
        fclose(f);
        st_fail(err, ST_BAD_FORMAT, "not a regular file");
        return st_detail(err, ST_WHERE, "%s", path), ST_BAD_FORMAT;
    }
    if ((size_t)info.st_size > max_bytes) {
        fclose(f);
        st_fail(err, ST_TOO_LARGE, "the file is too large");
        st_detail(err, ST_WHERE, "%s", path);
        st_detail(err, ST_EXPECTED, "at most %zu bytes", max_bytes);
        return st_detail(err, ST_GOT, "%zu", (size_t)info.st_size), ST_TOO_LARGE;
    }
    char *buffer = malloc((size_t)info.st_size + 1);
    if (!buffer) {
        fclose(f);
        st_fail(err, ST_NO_MEMORY, "out of memory for the file");
        return st_detail(err, ST_WHERE, "%s", path), ST_NO_MEMORY;
    }
    size_t got = fread(buffer, 1, (size_t)info.st_size, f);
    int failed = ferror(f);
    fclose(f);
    if (failed) {
        free(buffer);
        st_fail(err, ST_IO, "cannot read file");
        return st_detail(err, ST_WHERE, "%s", path), ST_IO;
    }
    buffer[got] = '\0';
    *data = buffer;
    *bytes = got;
    return ST_OK;
}

/* Opens a file without a name, which vanishes if the process is killed before the commit. @return NULL
 * if the file system has no such files */
static FILE *open_unnamed(const char *path)
{
    char folder[PATH_MAX];
    const char *const end = strrchr(path, '/');
    path_format(folder, sizeof folder, "%.*s", end ? (int)(end - path + 1) : 1, end ? path : ".");
    const bool can_be_named = file_exists("/proc/self/fd");
    const int fd = can_be_named ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    return fd >= 0 ? fdopen(fd, "wb") : NULL;
}

/* Gives the file its temporary name: a link cannot replace a file, but rename() can. */
static int name_file(const struct file_out *out)
{
    char fd[64];
    path_format(fd, sizeof fd, "/proc/self/fd/%d", fileno(out->f));
    unlink(out->temporary); /* of a killed process that had this process's number */
    return linkat(AT_FDCWD, fd, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW);
}

enum st_code file_out_open(struct file_out *out, const char *path, struct st_error *err)
{
    memset(out, 0, sizeof *out);
    if (path_make(out->path, sizeof out->path, err, "%s", path) ||
        path_make(out->temporary, sizeof out->temporary, err, "%s.tmp-%ld", path, (long)getpid()))
        return ST_TOO_LARGE;
    /* A device or a pipe is written directly: renaming would replace it by a file. */
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        out->temporary[0] = '\0';
    out->f = out->temporary[0] ? open_unnamed(path) : NULL;
    out->is_unnamed = out->f != NULL;
    if (!out->f)
        out->f = fopen(out->temporary[0] ? out->temporary : out->path, "wbe");
    if (out->f)
        return ST_OK;
    enum st_code code = st_fail_errno(err, errno, "cannot write file");
    st_detail(err, ST_WHERE, "%s", path);
    return code;
}

enum st_code file_out_commit(struct file_out *out, struct st_error *err)
{
    errno = 0;
    int failed = fflush(out->f) || ferror(out->f);
    int why = errno;
    if (failed && !why) { /* an earlier write failed: write again to get errno */
        clearerr(out->f);
        if (fputc('\n', out->f) == EOF || fflush(out->f))
            why = errno;
    }
    if (!failed && out->is_unnamed && name_file(out))
        failed = 1, why = errno;
    if (fclose(out->f) && !failed)
        failed = 1, why = errno;
    out->f = NULL;
    if (!failed && out->temporary[0] && rename(out->temporary, out->path))
        failed = 1, why = errno;
    if (!failed)
        return ST_OK;
    if (out->temporary[0])
        unlink(out->temporary);
    enum st_code code = st_fail_errno(err, why ? why : EIO, "cannot write file");
    st_detail(err, ST_WHERE, "%s", out->path);
    return code;
}

void file_out_abort(struct file_out *out)
{
    if (!out->f)
        return;
    fclose(out->f);
    out->f = NULL;
    if (out->temporary[0])
        unlink(out->temporary);
}

enum st_code file_write(const char *path, const char *data, size_t bytes, struct st_error *err)
{
    struct file_out out;
    enum st_code code = file_out_open(&out, path, err);
    if (code)
        return code;
    fwrite(data, 1, bytes, out.f); /* an error is kept in the stream until the commit */
    return file_out_commit(&out, err);
}

enum st_code file_copy(const char *from, const char *to, size_t max_bytes, struct st_error *err)
{
    char *data;
    size_t bytes;
    enum st_code code = file_read(from, max_bytes, &data, &bytes, err);
    if (!code)
        code = file_write(to, data, bytes, err);
    free(data);
    return code;
}

enum st_code dir_make(const char *path, struct st_error *err)
{
    char part[PATH_MAX];
    if (path_make(part, sizeof part, err, "%s", path))
        return ST_TOO_LARGE;
    if (part[0] == '\0')
        return st_fail(err, ST_NOT_FOUND, "cannot create folder: its name is empty");
    for (char *p = part + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        struct stat info;
        if (mkdir(part, 0777) && (errno != EEXIST || stat(part, &info) || !S_ISDIR(info.st_mode))) {
            enum st_code code =
                st_fail_errno(err, errno == EEXIST ? ENOTDIR : errno, "cannot create folder");
            st_detail(err, ST_WHERE, "%s", part);
            return code;
        }
        if (end == '\0')
            return ST_OK;
        *p = end;
    }
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

enum st_code path_too_long(const char *beginning, struct st_error *err)
{
    st_fail(err, ST_TOO_LARGE, "path is too long");
    st_detail(err, ST_WHERE, "%.80s...", beginning);
    return ST_TOO_LARGE;
}

static bool format_path(char *to, size_t room, struct st_error *err, const char *format,
                        va_list args)
{
    const int n = vsnprintf(to, room, format, args);
    if (n >= 0 && (size_t)n < room)
        return true;
    path_too_long(to, err);
    to[0] = '\0';
    return false;
}

bool path_format(char *to, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool fits = format_path(to, room, NULL, format, args);
    va_end(args);
    return fits;
}

enum st_code path_make(char *to, size_t room, struct st_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool fits = format_path(to, room, err, format, args);
    va_end(args);
    return fits ? ST_OK : ST_TOO_LARGE;
}

void files_open_standard(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
        ;
    if (fd >= 0)
        close(fd);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path), 0; /* the others can still be removed */
}

void tree_remove(const char *path)
{
    enum { OPEN_FOLDERS = 16 };
    nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

size_t folder_numbers(const char *folder, const char *prefix, const char *suffix, long *to,
                      size_t most)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char *end;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        const long number = strtol(entry->d_name + strlen(prefix), &end, 10);
        if (number <= 0 || strcmp(end, suffix) != 0 || (n == most && number < to[0]))
            continue;
        if (n == most) /* drop the smallest number */
            memmove(to, to + 1, --n * sizeof *to);
        size_t i = n++;
        for (; i && to[i - 1] > number; i--)
            to[i] = to[i - 1];
        to[i] = number;
    }
    if (dir)
        closedir(dir);
    return n;
}

uint64_t tree_bytes(const char *path)
{
    char *const paths[] = {(char *)(uintptr_t)path, NULL}; /* fts only reads it */
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    uint64_t sum = 0;
    for (FTSENT *entry; tree && (entry = fts_read(tree));)
        sum += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_size : 0;
    if (tree)
        fts_close(tree);
    return sum;
}
