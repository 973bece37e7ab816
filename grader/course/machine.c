#include "grader/course/machine.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Copies what follows "key : " in a file of the kernel's; false if there is no such line. */
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

size_t gr_memory_available_bytes(void)
{
    char text[64];
    if (!find_line("/proc/meminfo", "MemAvailable", text, sizeof text))
        return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return strtoull(text, NULL, 10) * 1024;
}

/* The first line a program prints, or the fallback. */
static void first_line(const char *const *argv, const char *folder, const char *fallback, char *to,
                       size_t room)
{
    const struct process_options options = {.argv = argv, .folder = folder, .output_bytes = 1024};
    struct process_end result;
    struct st_error err;
    snprintf(to, room, "%s", fallback);
    if (process_run(&options, &result, &err))
        return;
    if (result.exit_status == 0 && result.output[0])
        snprintf(to, room, "%.*s", (int)strcspn(result.output, "\n"), result.output);
    free(result.output);
}

/* In an archive of ours there is no git, or that of the folder that it was unpacked in. */
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

void gr_version(char *to, size_t room)
{
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    const char *git[] = {"git", "describe", "--always", "--dirty", "--tags", NULL};
    if (!root || !packed_version(root, to, room))
        first_line(git, root, "unknown", to, room);
}

void gr_machine_describe(struct gr_result *result, bool cuda)
{
    struct st_error err;
    const char *root = checkout_root(&err);
    char cpu[100] = "unknown processor", compiler[64];
    find_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    int cores = parallel_cores();
    double memory_gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 0x1p30;
    snprintf(result->machine, sizeof result->machine, "%s, %d core%s, %.0f GiB", cpu, cores,
             cores == 1 ? "" : "s", memory_gib);
    const char *gcc[] = {"gcc", "--version", NULL};
    first_line(gcc, NULL, "unknown compiler", compiler, sizeof compiler);
    const char *make[] = {"make", "--no-print-directory", "-s",
                          cuda ? "print-lab-nvccflags" : "print-lab-flags", NULL};
    const size_t used = (size_t)snprintf(result->compiler, sizeof result->compiler, "%s, ",
                                         cuda ? "nvcc" : compiler);
    first_line(make, root, "", result->compiler + used, sizeof result->compiler - used);
    gr_version(result->version, sizeof result->version);
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(result->date, sizeof result->date, "%Y-%m-%d %H:%M UTC", &utc);
}
