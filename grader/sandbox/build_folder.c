#include "grader/sandbox/build_folder.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LEFT_AFTER_S = 3600 };

static const char prefix[] = "convlab-build-";

static int open_folder(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- all entries ---------------------------------------------------------------------------- */

/* Calls a function for each entry of a folder, and closes the folder; harmless on -1. */
static bool each_entry(int fd, bool (*call)(int fd, const char *name, const void *context),
                       const void *context)
{
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    bool good = folder != NULL;
    if (fd >= 0 && !folder)
        close(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            good = call(fd, entry->d_name, context) && good;
    if (folder)
        closedir(folder);
    return good;
}

/* Changes the owner of an entry. No compiler has run yet, so the folder contains only our files and
 * folders. */
static bool give(int parent, const char *name, const void *context)
{
    const struct gr_sandbox *sandbox = context;
    const int fd = open_folder(parent, name);
    const bool within = fd < 0 || each_entry(fd, give, context);
    return fchownat(parent, name, sandbox->user, sandbox->user, AT_SYMLINK_NOFOLLOW) == 0 && within;
}

static bool remove_tree(int parent, const char *name, const void *context)
{
    if (unlinkat(parent, name, 0) == 0)
        return true;
    each_entry(open_folder(parent, name), remove_tree, context);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

/* ---- a new folder --------------------------------------------------------------------------- */

/* Removes a folder, unless a process holds its lock or is about to. */
static bool remove_if_left(int parent, const char *name, const void *context)
{
    struct stat info;
    const int fd = strncmp(name, prefix, sizeof prefix - 1) == 0 ? open_folder(parent, name) : -1;
    (void)context;
    if (fd < 0)
        return true;
    if (fstat(fd, &info) == 0 && (info.st_uid == geteuid() || geteuid() == 0) &&
        time(NULL) - info.st_mtime > LEFT_AFTER_S && flock(fd, LOCK_EX | LOCK_NB) == 0)
        remove_tree(parent, name, NULL);
    close(fd);
    return true;
}

enum st_code gr_build_folder_make(char folder[PATH_MAX], int *lock, struct st_error *err)
{
    const char *where = getenv("TMPDIR");
    where = where && *where ? where : "/tmp";
    each_entry(open_folder(AT_FDCWD, where), remove_if_left, NULL);
    path_format(folder, PATH_MAX, "%s/%sXXXXXX", where, prefix);
    if (!mkdtemp(folder)) {
        const int why = errno;
        const enum st_code code = st_fail_errno(err, why, "cannot create a folder for the build");
        st_detail(err, ST_WHERE, "%s", folder);
        folder[0] = '\0';
        return code;
    }
    *lock = open_folder(AT_FDCWD, folder);
    if (*lock >= 0)
        flock(*lock, LOCK_EX);
    char *resolved = realpath(folder, NULL);
    if (resolved)
        path_format(folder, PATH_MAX, "%s", resolved);
    free(resolved);
    return ST_OK;
}

void gr_build_folder_remove(const char *folder, int lock)
{
    remove_tree(AT_FDCWD, folder, NULL);
    if (lock >= 0)
        close(lock);
}

/* ---- its files ------------------------------------------------------------------------------ */

enum st_code gr_build_folder_make_above(const char *folder, const char *name, struct st_error *err)
{
    char above[PATH_MAX];
    const char *slash = strrchr(name, '/');
    if (!slash)
        return ST_OK;
    path_format(above, sizeof above, "%s/%.*s", folder, (int)(slash - name), name);
    return dir_make(above, err);
}

enum st_code gr_build_folder_put(const char *folder, const char *name, const char *data,
                                 size_t bytes, struct st_error *err)
{
    char path[PATH_MAX];
    enum st_code code = gr_build_folder_make_above(folder, name, err);
    path_format(path, sizeof path, "%s/%s", folder, name);
    return code ? code : file_write(path, data, bytes, err);
}

enum st_code gr_build_folder_give(const char *folder, const struct gr_sandbox *sandbox,
                                  struct st_error *err)
{
    if (!sandbox->user)
        return ST_OK;
    /* x only: root without capabilities must be able to enter */
    if (chmod(folder, 0711) || !give(AT_FDCWD, folder, sandbox))
        return st_fail_errno(err, errno, "cannot give %s to the user of the sandbox", folder);
    return ST_OK;
}
