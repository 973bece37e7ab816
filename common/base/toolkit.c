#include "base/toolkit.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int toolkit_version(const char *folder)
{
    static const char start[] = "#define CUDART_VERSION";
    char path[PATH_MAX], line[256];
    int version = 0;
    if (!path_format(path, sizeof path, "%s/bin/nvcc", folder) || access(path, X_OK) != 0 ||
        !path_format(path, sizeof path, "%s/include/cuda_runtime_api.h", folder))
        return 0;
    FILE *header = fopen(path, "r");
    while (header && !version && fgets(line, sizeof line, header))
        if (strncmp(line, start, sizeof start - 1) == 0)
            version = atoi(line + sizeof start - 1);
    if (header)
        fclose(header);
    return version;
}

/* Takes a folder if it contains a sufficiently new toolkit. */
static bool take(char to[PATH_MAX], const char *folder)
{
    return toolkit_version(folder) >= TOOLKIT_OLDEST && path_format(to, PATH_MAX, "%s", folder);
}

/* Takes the parent of a program's folder bin/. */
static bool take_above(char to[PATH_MAX], const char *program)
{
    static const char end[] = "/bin/nvcc";
    char folder[PATH_MAX];
    const size_t length = strlen(program);
    return length >= sizeof end - 1 && strcmp(program + length - (sizeof end - 1), end) == 0 &&
           path_format(folder, sizeof folder, "%.*s", (int)(length - (sizeof end - 1)), program) &&
           take(to, folder);
}

const char *toolkit_find(void)
{
    static char found[PATH_MAX];
    char path[PATH_MAX], real[PATH_MAX];
    const char *named = getenv("CUDA_HOME"), *installed = getenv("CONVLAB_INSTALLED_CUDA");
    if (named && *named)
        return path_format(found, sizeof found, "%s", named) ? found : NULL;
    if (process_find(getenv("PATH"), "nvcc", path) &&
        (take_above(found, path) || (realpath(path, real) && take_above(found, real))))
        return found;
    if (take(found, installed && *installed ? installed : "/usr/local/cuda"))
        return found;
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    return root && path_format(path, sizeof path, "%s/toolkit/cuda", root) && take(found, path)
               ? found
               : NULL;
}
