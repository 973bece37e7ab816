/* A folder: each milestone's file is looked for wherever it may lie, without following a link. What
 * is too much, there twice or not to be read is told with what it was. */
#include "grader/class/class.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_FILE "is not a regular file"

enum { MAX_FOLDER_ENTRIES = 20000 };

/* ---- looking -------------------------------------------------------------------------------- */

struct walk {
    struct cl_class *class;
    struct cl_submission *submission;
    enum cl_match match[CL_MAX_MILESTONES];
    bool twice[CL_MAX_MILESTONES];
    char path[CL_MAX_MILESTONES][1024];
    size_t entries;
    char unread[1024]; /* a folder that could not be read, or "" */
    int why;
};

static void look(struct walk *w, int dir, const char *relative, int depth);

static void look_at(struct walk *w, int dir, const char *path, const char *name, int depth)
{
    const struct cl_options *o = w->class->options;
    struct stat info;
    size_t which = 0;
    if (++w->entries > MAX_FOLDER_ENTRIES || fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW))
        return;
    if (S_ISDIR(info.st_mode)) {
        int below = depth < CL_MAX_DEPTH
                        ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        if (below >= 0)
            look(w, below, path, depth + 1);
        else if (depth < CL_MAX_DEPTH && errno != ELOOP && errno != ENOTDIR) {
            w->why = errno;
            snprintf(w->unread, sizeof w->unread, "%s", path);
        }
        return;
    }
    enum cl_match match = cl_wanted_match(o->milestone, o->milestones, path, &which);
    if (!match || match < w->match[which])
        return;
    w->twice[which] = match == w->match[which];
    if (w->twice[which] && strcmp(path, w->path[which]) > 0)
        return; /* the same one is named each time */
    w->match[which] = match;
    snprintf(w->path[which], sizeof w->path[which], "%s", path);
}

/* Closes dir. */
static void look(struct walk *w, int dir, const char *relative, int depth)
{
    DIR *entries = fdopendir(dir);
    if (!entries) {
        close(dir);
        return;
    }
    for (struct dirent *e; (e = readdir(entries));) {
        char path[1024];
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            path_format(path, sizeof path, "%s%s%s", relative, relative[0] ? "/" : "", e->d_name))
            look_at(w, dirfd(entries), path, e->d_name, depth);
    }
    closedir(entries);
}

/* ---- taking --------------------------------------------------------------------------------- */

/* Opens a path below a folder without following a link in any of its parts. */
static int open_below(int dir, const char *path)
{
    char part[NAME_MAX + 1];
    int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
    for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        int below = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = below;
    }
    if (at < 0)
        return -1;
    int fd = openat(at, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(at);
    return fd;
}

/* A milestone's file, or the folder that it may lie in, that is not taken.
 * @param why  errno of what cannot be read here, or 0 */
static void refuse(struct cl_file *file, const char *path, int why, const char *text, ...)
    __attribute__((format(printf, 4, 5)));

static void refuse(struct cl_file *file, const char *path, int why, const char *text, ...)
{
    char stored[CL_NAME_BYTES];
    va_list args;
    va_start(args, text);
    vsnprintf(file->refused, sizeof file->refused, text, args);
    va_end(args);
    cl_name_text(stored, path);
    free(file->path);
    file->path = strdup(stored);
    file->there = true;
    file->unreadable = why != 0;
}

static void refuse_unread(struct cl_file *file, const char *path, int why)
{
    refuse(file, path, why, "cannot be read: %s", strerror(why));
}

/* Keeps a file of a folder. It may change while it is read: what is read is what is graded. */
static enum st_code keep_below(struct cl_class *class, struct cl_submission *s, size_t which,
                               int dir, const char *path, struct st_error *err)
{
    static char contents[CL_MAX_SOURCE_BYTES];
    struct cl_file *file = &s->file[which];
    struct stat info;
    size_t bytes = 0;
    ssize_t n;
    int fd = open_below(dir, path);
    if (fd < 0) {
        if (errno == ELOOP)
            refuse(file, path, 0, "is a link, which is not followed");
        else if (errno == ENXIO) /* a socket */
            refuse(file, path, 0, NO_FILE);
        else
            refuse_unread(file, path, errno);
        return ST_OK;
    }
    enum st_code code = ST_OK;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        refuse(file, path, 0, NO_FILE);
    else if (info.st_size > CL_MAX_SOURCE_BYTES)
        refuse(file, path, 0, "has %lld bytes, at most %d are taken", (long long)info.st_size,
               CL_MAX_SOURCE_BYTES);
    else {
        while ((n = read(fd, contents + bytes, sizeof contents - bytes)) > 0)
            bytes += (size_t)n;
        file->modified = info.st_mtime;
        s->modified = info.st_mtime > s->modified ? info.st_mtime : s->modified;
        if (n < 0)
            refuse_unread(file, path, errno);
        else
            code = cl_file_keep(class, s, which, path, contents, bytes, err);
    }
    close(fd);
    return code;
}

/* What was found of a milestone. */
static enum st_code take(const struct walk *w, size_t which, int dir, struct st_error *err)
{
    struct cl_file *file = &w->submission->file[which];
    const char *path = w->path[which];
    if (w->match[which] && !w->twice[which])
        return keep_below(w->class, w->submission, which, dir, path, err);
    if (w->twice[which])
        refuse(file, path, 0, "%s", CL_TWICE);
    else if (w->unread[0])
        refuse_unread(file, w->unread, w->why);
    return ST_OK;
}

enum st_code cl_intake_folder(struct cl_class *class, struct cl_submission *s, struct st_error *err)
{
    char folder[PATH_MAX];
    path_format(folder, sizeof folder, "%s/%s", class->options->dir, s->entry);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0) {
        s->unreadable = true;
        snprintf(s->rejected, sizeof s->rejected, "its folder cannot be read: %s", strerror(errno));
        return ST_OK;
    }
    struct walk *w = calloc(1, sizeof *w);
    if (!w) {
        close(dir);
        return st_fail(err, ST_NO_MEMORY, "cannot look through a folder");
    }
    w->class = class;
    w->submission = s;
    look(w, fcntl(dir, F_DUPFD_CLOEXEC, 0), "", 0);
    enum st_code code = ST_OK;
    /* In what order a folder is read is not known: what is in its beginning cannot count. */
    if (w->entries > MAX_FOLDER_ENTRIES)
        snprintf(s->rejected, sizeof s->rejected,
                 "its folder has more than %d files and folders, at most so many are looked at",
                 MAX_FOLDER_ENTRIES);
    for (size_t i = 0; !code && !s->rejected[0] && i < class->options->milestones; i++)
        code = take(w, i, dir, err);
    free(w);
    close(dir);
    return code;
}
