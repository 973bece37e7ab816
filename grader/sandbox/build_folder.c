#include "grader/sandbox/build_folder.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum st_code gr_build_folder_make(char folder[PATH_MAX], struct st_error *err)
{
    const char *where = getenv("TMPDIR");
    path_format(folder, PATH_MAX, "%s/convlab-build-XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(folder)) {
        const int why = errno;
        const enum st_code code = st_fail_errno(err, why, "cannot make a folder to build in");
        st_detail(err, ST_WHERE, "%s", folder);
        folder[0] = '\0';
        return code;
    }
    char *resolved = realpath(folder, NULL);
    if (resolved)
        path_format(folder, PATH_MAX, "%s", resolved);
    free(resolved);
    return ST_OK;
}

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
    struct file_out out;
    enum st_code code = gr_build_folder_make_above(folder, name, err);
    path_format(path, sizeof path, "%s/%s", folder, name);
    if (!code)
        code = file_out_open(&out, path, err);
    if (code)
        return code;
    fwrite(data, 1, bytes, out.f);
    return file_out_commit(&out, err);
}

/* Calls for each entry of a folder, which is closed at the end; harmless on -1. */
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

static int open_folder(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Before a compiler has run: there are only our files and folders. */
static bool give(int parent, const char *name, const void *context)
{
    const struct gr_sandbox *sandbox = context;
    const int fd = open_folder(parent, name);
    const bool within = fd < 0 || each_entry(fd, give, context);
    return fchownat(parent, name, sandbox->user, sandbox->user, AT_SYMLINK_NOFOLLOW) == 0 && within;
}

enum st_code gr_build_folder_give(const char *folder, const struct gr_sandbox *sandbox,
                                  struct st_error *err)
{
    if (!sandbox->user)
        return ST_OK;
    /* root, without its rights, passes through */
    if (chmod(folder, 0711) || !give(AT_FDCWD, folder, sandbox))
        return st_fail_errno(err, errno, "cannot give %s to the user of the sandbox", folder);
    return ST_OK;
}

static bool remove_tree(int parent, const char *name, const void *context)
{
    if (unlinkat(parent, name, 0) == 0)
        return true;
    each_entry(open_folder(parent, name), remove_tree, context);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

void gr_build_folder_remove(const char *folder)
{
    remove_tree(AT_FDCWD, folder, NULL);
}
