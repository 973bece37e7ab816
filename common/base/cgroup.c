#include "base/cgroup.h"

#include "base/files.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files of a group ------------------------------------------------------------------------ */

/* The number after a key in a group's file, or the file's only number. "max" is not a number. */
static bool read_number(const char *group, const char *name, const char *key, double *to)
{
    char path[PATH_MAX], line[256];
    const size_t length = strlen(key);
    bool found = false;
    FILE *f = path_format(path, sizeof path, "%s/%s", group, name) ? fopen(path, "re") : NULL;
    while (f && !found && fgets(line, sizeof line, f)) {
        char *end = line + length;
        found = strncmp(line, key, length) == 0 && (*to = strtod(line + length, &end), end) &&
                end > line + length;
    }
    if (f)
        fclose(f);
    return found;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Version 1 has one hierarchy per kind of resource, version 2 has a single one. */
enum version { V1, V2 };

typedef void group_visitor(enum version version, const char *group, void *context);

/* Visits a group and its ancestors. */
static void visit_up(enum version version, const char *root, const char *group,
                     group_visitor *visit, void *context)
{
    char path[PATH_MAX];
    if (!path_format(path, sizeof path, "%s%s", root, group))
        return;
    for (char *slash = path + strlen(path); slash && strlen(path) >= strlen(root);) {
        visit(version, path, context);
        if ((slash = strrchr(path, '/')))
            *slash = '\0';
    }
}

/* Lines are "4:memory:/slurm/job_7" or "0::/slurm/job_7". */
static void visit_groups(const char *cgroups, const char *folder, const char *kind,
                         group_visitor *visit, void *context)
{
    char line[PATH_MAX], word[32], v1[PATH_MAX];
    FILE *f = fopen(cgroups, "re");
    snprintf(word, sizeof word, ":%s:", kind);
    path_format(v1, sizeof v1, "%s/%s", folder, kind);
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        const char *const at = strchr(line, ':'), *const group = at ? strchr(at + 1, ':') : NULL;
        if (group && strncmp(at, word, strlen(word)) == 0)
            visit_up(V1, v1, group + 1, visit, context);
        else if (group && group == at + 1)
            visit_up(V2, folder, group + 1, visit, context);
    }
    if (f)
        fclose(f);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void lower_memory(enum version v, const char *group, void *context)
{
    static const char *const limit[] = {"memory.limit_in_bytes", "memory.max"};
    static const char *const usage[] = {"memory.usage_in_bytes", "memory.current"};
    static const char *const cached[] = {"total_inactive_file ", "inactive_file "};
    double most, used, free_again = 0, *left = context;
    if (!read_number(group, limit[v], "", &most) || !read_number(group, usage[v], "", &used))
        return;
    read_number(group, "memory.stat", cached[v], &free_again);
    *left = fmin(*left, fmax(0, most - used + free_again));
}

size_t cgroup_memory_left_bytes(const char *cgroups, const char *folder)
{
    double left = INFINITY;
    visit_groups(cgroups, folder, "memory", lower_memory, &left);
    return left < 0x1p62 ? (size_t)left : SIZE_MAX; /* version 1 writes 2^63 for no limit */
}

/* Reads "50000 100000": microseconds per period. */
static void lower_cores(enum version v, const char *group, void *context)
{
    double quota, period = 100000, *cores = context;
    char key[32];
    if (!read_number(group, v == V1 ? "cpu.cfs_quota_us" : "cpu.max", "", &quota) || quota <= 0)
        return;
    snprintf(key, sizeof key, "%.0f ", quota);
    read_number(group, v == V1 ? "cpu.cfs_period_us" : "cpu.max", v == V1 ? "" : key, &period);
    *cores = fmin(*cores, quota / period);
}

double cgroup_cores(const char *cgroups, const char *folder)
{
    double cores = INFINITY;
    visit_groups(cgroups, folder, "cpu", lower_cores, &cores);
    return cores;
}

/* Takes the kills of this process's own group only: the first visited group with the file. */
static void take_kills(enum version v, const char *group, void *context)
{
    double kills, *sum = context;
    if (isnan(*sum) &&
        read_number(group, v == V1 ? "memory.oom_control" : "memory.events", "oom_kill ", &kills))
        *sum = kills;
}

size_t cgroup_memory_kills(const char *cgroups, const char *folder)
{
    double kills = NAN;
    visit_groups(cgroups, folder, "memory", take_kills, &kills);
    return isnan(kills) ? 0 : (size_t)kills;
}
