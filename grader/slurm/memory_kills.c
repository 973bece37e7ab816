#include "grader/slurm/slurm.h"

#include "base/files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The number behind "oom_kill" in a file of a control group. */
static size_t kills_in(const char *folder, const char *group, const char *name)
{
    char path[PATH_MAX], line[256];
    size_t n = 0;
    FILE *f =
        path_format(path, sizeof path, "%s%s/%s", folder, group, name) ? fopen(path, "re") : NULL;
    while (f && fgets(line, sizeof line, f) && sscanf(line, "oom_kill %zu", &n) != 1)
        continue;
    if (f)
        fclose(f);
    return n;
}

size_t sl_memory_kills(const char *cgroups, const char *folder)
{
    char line[PATH_MAX], v1[PATH_MAX];
    size_t n = 0;
    FILE *f = fopen(cgroups, "re");
    path_format(v1, sizeof v1, "%s/memory", folder);
    while (f && fgets(line, sizeof line, f)) { /* "4:memory:/slurm/...", or "0::/slurm/..." */
        line[strcspn(line, "\n")] = '\0';
        const char *const kind = strchr(line, ':'), *const group =
                                                        kind ? strchr(kind + 1, ':') : NULL;
        if (group && strncmp(kind, ":memory:", 8) == 0)
            n += kills_in(v1, group + 1, "memory.oom_control");
        else if (group == kind + 1)
            n += kills_in(folder, group + 1, "memory.events");
    }
    if (f)
        fclose(f);
    return n;
}
