#include "grader/class/wanted.h"

#include <string.h>

/* Whether the last component before @p end is this. @param begin  set to where it begins */
static bool last_is(const char *path, const char *end, const char *name, const char **begin)
{
    size_t length = strlen(name);
    if ((size_t)(end - path) < length || memcmp(end - length, name, length) != 0)
        return false;
    *begin = end - length;
    return *begin == path || (*begin)[-1] == '/';
}

static size_t depth_of(const char *path)
{
    size_t depth = 0;
    for (const char *p = path; *p; p++)
        depth += *p == '/';
    return depth;
}

enum cl_match cl_wanted_match(const struct cl_wanted *wanted, size_t n, const char *path,
                              size_t *which)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    if (depth_of(path) > CL_MAX_DEPTH || strncmp(path, "__MACOSX/", 9) == 0)
        return CL_NO_MATCH;
    for (size_t i = 0; i < n; i++) {
        const char *file, *folder;
        if (!last_is(path, path + strlen(path), wanted[i].file, &file))
            continue;
        *which = i;
        if (file > path && (last_is(path, file - 1, wanted[i].folder, &folder) ||
                            last_is(path, file - 1, wanted[i].id, &folder)))
            return CL_IN_ITS_FOLDER;
        if (n == 1)
            return CL_LONE_FILE;
    }
    return CL_NO_MATCH;
}

bool cl_file_is_cuda(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".cu") == 0;
}

const char *cl_path_refused(const char *path)
{
    if (!path || !path[0])
        return "an entry without a name";
    if (path[0] == '/' || (path[0] && path[1] == ':'))
        return "an absolute path";
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, "/\\");
        if (length == 2 && p[0] == '.' && p[1] == '.')
            return "a path with ..";
        p += length;
        p += *p != '\0';
    }
    return NULL;
}
