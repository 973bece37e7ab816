#include "grader/course/machine.h"

#include "base/cgroup.h"
#include "base/checkout.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/process.h"
#include "grader/course/lab_make.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Copies the text after "key : " in one of the kernel's files; returns false if no line has the
 * key. */
static bool find_line(const char *path, const char *key, char *to, size_t room)
{
    char line[256];
    bool found = false;
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    while (!found && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) == 0 && strchr(line, ':')) {
            const char *value = strchr(line, ':') + 1;
            value += strspn(value, " \t");
            snprintf(to, room, "%.*s", (int)strcspn(value, "\n"), value);
            found = true;
        }
    }
    fclose(f);
    return found;
}

/* The unused part of this process's address space (ulimit -v). */
static size_t address_space_left(void)
{
    struct rlimit limit;
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%zu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    const size_t used = pages * (size_t)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

size_t gr_memory_available_bytes(void)
{
    char text[64];
    const size_t left = address_space_left();
    const size_t memory = find_line("/proc/meminfo", "MemAvailable", text, sizeof text)
                              ? strtoull(text, NULL, 10) * 1024
                              : (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    const size_t group = cgroup_memory_left_bytes(CGROUPS), most = memory < left ? memory : left;
    return most < group ? most : group;
}

/* Reads the version from an unpacked archive of ConvLab, which has no git, or is inside another
 * project's checkout. */
static bool packed_version(const char *root, char *to, size_t room)
{
    char path[PATH_MAX];
    FILE *f = path_format(path, sizeof path, "%s/VERSION", root) ? fopen(path, "re") : NULL;
    if (!f)
        return false;
    const bool read = fgets(to, (int)room, f) != NULL;
    fclose(f);
    to[read ? strcspn(to, "\n") : 0] = '\0';
    return read;
}

/* Gets git's description of the checkout. @return false if there is no checkout or no git */
static bool described_version(const char *root, char *to, size_t room)
{
    const char *const argv[] = {"git", "describe", "--always", "--dirty", "--tags", NULL};
    const struct process_options options = {
        .argv = argv, .folder = root, .output_bytes = 256, .stdout_only = true};
    struct process_end end;
    struct st_error ignored;
    if (process_run(&options, &end, &ignored))
        return false;
    const bool good = end.exit_status == 0 && end.output[0];
    if (good)
        snprintf(to, room, "%.*s", (int)strcspn(end.output, "\n"), end.output);
    free(end.output);
    return good;
}

void gr_version(char *to, size_t room)
{
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    if ((!root || !packed_version(root, to, room)) && !described_version(root, to, room))
        snprintf(to, room, "unknown");
}

void gr_machine_describe(struct gr_result *result, const char *milestone)
{
    struct st_error ignored;
    char cpu[100] = "unknown processor", *compiler;
    find_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    int cores = parallel_cores();
    double memory_gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30;
    snprintf(result->machine, sizeof result->machine, "%s, %d core%s, %.0f GiB", cpu, cores,
             cores == 1 ? "" : "s", memory_gib);
    if (gr_make_print("print-lab-compiler", milestone, &compiler, &ignored))
        snprintf(result->compiler, sizeof result->compiler, "unknown compiler");
    else
        snprintf(result->compiler, sizeof result->compiler, "%.*s", (int)strcspn(compiler, "\n"),
                 compiler);
    free(compiler);
    gr_version(result->version, sizeof result->version);
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(result->date, sizeof result->date, "%Y-%m-%d %H:%M UTC", &utc);
}
