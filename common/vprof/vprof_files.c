#include "vprof/vprof_files.h"

#include "base/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* @return the value of the variable in "%q{NAME}" at @p at, or NULL if it is not set. @p end
 * becomes the position after it. */
static const char *variable(const char *at, const char **end)
{
    char name[256];
    const char *close = strncmp(at, "%q{", 3) == 0 ? strchr(at, '}') : NULL;
    if (!close || (size_t)(close - at - 3) >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(close - at - 3), at + 3);
    *end = close + 1;
    return getenv(name);
}

/* @return the text for the placeholder at @p at, or NULL if it is not a placeholder. @p end becomes
 * the position after it. */
static const char *part(const char *at, char *room, size_t bytes, const char **end)
{
    *end = at + 2;
    switch (at[1]) {
    case 'p':
        snprintf(room, bytes, "%d", (int)getpid());
        return room;
    case 'h':
        return gethostname(room, bytes) ? NULL : room;
    case '%':
        return "%";
    default:
        return variable(at, end);
    }
}

enum st_code vprof_file_name(char to[PATH_MAX], const char *option, const char **name,
                             struct st_error *err)
{
    size_t n = 0;
    const char *end;
    for (const char *at = *name; *at; at = end) {
        char own[256] = "";
        const char *text = at;
        size_t bytes = 1;
        end = at + 1;
        if (*at == '%') {
            text = part(at, own, sizeof own, &end);
            if (!text) {
                st_fail(err, ST_USAGE, "cannot fill in the name of a file");
                st_detail(err, ST_WHERE, "%s", option);
                st_detail(err, ST_EXPECTED,
                          "%%p, %%h, %%%%, or %%q{NAME} with a variable that is set");
                return st_detail(err, ST_GOT, "%s", *name);
            }
            bytes = strlen(text);
        }
        if (bytes >= PATH_MAX - n) {
            st_fail(err, ST_USAGE, "the name of a file is too long");
            return st_detail(err, ST_WHERE, "%s", option);
        }
        memcpy(to + n, text, bytes);
        n += bytes;
    }
    to[n] = '\0';
    *name = to;
    return ST_OK;
}

enum st_code vprof_log_open(const char *name, FILE **log, struct st_error *err)
{
    *log = stderr;
    if (!name || strcmp(name, "%2") == 0)
        return ST_OK;
    if (strcmp(name, "%1") == 0) {
        *log = stdout;
        return ST_OK;
    }
    char path[PATH_MAX];
    enum st_code code = vprof_file_name(path, "--log-file", &name, err);
    if (code)
        return code;
    FILE *f = fopen(path, "we");
    if (!f)
        return st_fail_errno(err, errno, "cannot write the log file %s", name);
    *log = f;
    return ST_OK;
}

enum st_code vprof_log_close(const char *name, FILE *log, struct st_error *err)
{
    if (log == stderr)
        return ST_OK;
    const bool failed = ferror(log); /* an earlier line failed, and its errno is lost */
    if (fclose(log) || failed)
        return st_fail_errno(err, failed ? EIO : errno, "cannot write the log file %s", name);
    return ST_OK;
}

enum st_code vprof_may_write(const char *path, bool force, struct st_error *err)
{
    struct stat info;
    struct file_out out;
    if (!path)
        return ST_OK;
    const bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        st_fail(err, ST_USAGE, "cannot write to a folder");
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(err, ST_HINT, "name a file in it");
    }
    if (exists && !force) {
        st_fail(err, ST_USAGE, "the file already exists");
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(err, ST_HINT, "add -f to overwrite it");
    }
    if (exists && !S_ISREG(info.st_mode)) /* opening a pipe would wait for its reader */
        return ST_OK;
    enum st_code code = file_out_open(&out, path, err);
    if (!code)
        file_out_abort(&out);
    return code;
}
