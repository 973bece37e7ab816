/* What a killed run may leave running. Its graders die with it, and what they have started with
 * them; but a sandbox that was just being made has a moment in which its second process waits for
 * its first, which is dead by then. Such a process runs nothing, and waits for ever. */
#include "grader/class/class.h"

#include "base/files.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 16 };

/* Reads /proc/PID/NAME. @return bytes, NULs between the words of a command line made blanks. */
static size_t read_proc(const char *pid, const char *name, char text[MAX_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    for (ssize_t n; fd >= 0 && used < MAX_BYTES - 1; used += (size_t)n)
        if ((n = read(fd, text + used, MAX_BYTES - 1 - used)) <= 0)
            break;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < used; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[used] = '\0';
    return used;
}

/* A sandbox of ours whose parent is gone: its command line binds a folder of this gradebook. */
static bool is_leftover(const char *pid, const char *folder)
{
    static char text[MAX_BYTES];
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%.20s", pid);
    if (stat(path, &info) || info.st_uid != geteuid() || !read_proc(pid, "status", text))
        return false;
    const char *parent = strstr(text, "\nPPid:");
    if (strncmp(text, "Name:\tbwrap\n", 12) != 0 || !parent || atoi(parent + 6) != 1)
        return false;
    return read_proc(pid, "cmdline", text) && strstr(text, folder);
}

void cl_leftovers_end(const struct cl_class *class)
{
    char folder[PATH_MAX];
    DIR *proc = opendir("/proc");
    if (!proc || !path_format(folder, sizeof folder, " --bind %s/tmp/", class->files))
        return;
    for (struct dirent *e; (e = readdir(proc));)
        if (isdigit((unsigned char)e->d_name[0]) && is_leftover(e->d_name, folder))
            kill(atoi(e->d_name), SIGKILL);
    closedir(proc);
}
