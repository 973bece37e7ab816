#include "grader/sandbox/environment.h"

#include "vgpu/device/device_protocol.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts that end with '=' are whole names; the others are prefixes of names. */
static const char *const kept[] = {"LANG=",
                                   "LANGUAGE=",
                                   "LC_",
                                   "OMP_",
                                   "GOMP_",
                                   "CUDA_",
                                   "NVCC_",
                                   "NVIDIA_",
                                   "LD_LIBRARY_PATH=",
                                   VP_DOOR_VARIABLE "=",
                                   "ASAN_OPTIONS=",
                                   "UBSAN_OPTIONS=",
                                   "LSAN_OPTIONS=",
                                   "TSAN_OPTIONS="};

static bool is_kept(const char *variable)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
            return true;
    return false;
}

char **gr_environment(char *const *from, const char *path)
{
    size_t n = 0, at = 0;
    while (from[n])
        n++;
    const size_t bytes = strlen(path) + sizeof "PATH=";
    char **list = malloc((n + 4) * sizeof *list + bytes);
    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (is_kept(from[i]))
            list[at++] = from[i];
    char *text = (char *)(list + n + 4);
    snprintf(text, bytes, "PATH=%s", path);
    list[at++] = text;
    list[at++] = "HOME=/tmp";
    list[at++] = "TMPDIR=/tmp";
    list[at] = NULL;
    return list;
}
