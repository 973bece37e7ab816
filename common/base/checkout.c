#include "base/checkout.h"

#include "base/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *checkout_build(struct st_error *err)
{
    static char folder[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n < 0) {
        st_fail_errno(err, errno, "cannot find this program's own path");
        return NULL;
    }
    folder[n] = '\0';
    *strrchr(folder, '/') = '\0';
    return folder;
}

const char *checkout_root(struct st_error *err)
{
    static char root[PATH_MAX];
    const char *from = checkout_build(err);
    if (!from)
        return NULL;
    path_format(root, sizeof root, "%s", from);
    for (char *slash; root[0]; *slash = '\0') {
        char marker[PATH_MAX];
        if (path_format(marker, sizeof marker, "%s/common/conv.h", root) && file_exists(marker))
            return root;
        slash = strrchr(root, '/');
    }
    st_fail(err, ST_NOT_FOUND, "cannot find the checkout of this program");
    st_detail(err, ST_WHERE, "%s", from);
    st_detail(err, ST_EXPECTED, "a folder above it that contains common/conv.h");
    st_detail(err, ST_HINT, "run the program in the folder where make built it");
    return NULL;
}

const char *checkout_relative(const char *path)
{
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    const size_t length = root ? strlen(root) : 0;
    return length && strncmp(path, root, length) == 0 && path[length] == '/' ? path + length + 1
                                                                             : path;
}

/* @return the length of the folders that two paths have in common, including the slash after
 * them. */
static size_t common_folders(const char *a, const char *b)
{
    size_t same = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            same = i + 1;
    return same;
}

const char *checkout_from_here(const char *path, char to[PATH_MAX])
{
    struct st_error ignored;
    char here[PATH_MAX];
    const char *root = checkout_root(&ignored);
    if (path[0] != '/')
        return path;
    if (getenv("CONVLAB_HERE"))
        path_format(here, sizeof here - 1, "%s", getenv("CONVLAB_HERE"));
    else if (!getcwd(here, sizeof here - 1))
        return path;
    if (here[1])
        strcat(here, "/");
    const size_t same = common_folders(here, path), length = root ? strlen(root) : 0;
    const bool in_checkout = length && same > length && strncmp(path, root, length) == 0;
    if (here[same] && !in_checkout)
        return path;
    size_t used = 0;
    for (const char *c = here + same; *c; c++)
        if (*c == '/' && used + 4 < PATH_MAX)
            used += (size_t)sprintf(to + used, "../");
    snprintf(to + used, PATH_MAX - used, "%s", path + same);
    return to;
}
