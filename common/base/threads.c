#include "base/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool threads_each(pid_t pid, bool (*call)(pid_t pid, const char *thread, void *context),
                  void *context)
{
    char path[64];
    bool good = true;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; good && threads && (entry = readdir(threads));)
        if (isdigit((unsigned char)entry->d_name[0]))
            good = call(pid, entry->d_name, context);
    if (threads)
        closedir(threads);
    return good;
}

bool thread_stat_read(pid_t pid, const char *thread, struct thread_stat *to)
{
    char path[128], text[1024];
    unsigned long long ticks[4];
    memset(to, 0, sizeof *to);
    if (thread)
        snprintf(path, sizeof path, "/proc/%ld/task/%s/stat", (long)pid, thread);
    else
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    /* The name, which may contain any character, is in parentheses. The times are fields 14 to
     * 17. */
    const char *name = strchr(text, '('), *rest = strrchr(text, ')');
    if (!name || !rest ||
        sscanf(rest + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu",
               &to->state, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 5)
        return false;
    snprintf(to->name, sizeof to->name, "%.*s", (int)(rest - name - 1), name + 1);
    const double second = (double)sysconf(_SC_CLK_TCK);
    to->cpu_s = (double)(ticks[0] + ticks[1]) / second;
    to->children_s = (double)(ticks[2] + ticks[3]) / second;
    return true;
}
