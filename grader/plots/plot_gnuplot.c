#include "grader/plots/plot_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, SCRIPTS_MAX = 64 };

/* Starts gnuplot. @return 0 or an errno. */
static int spawn(pid_t *pid, const char *folder, const char *const *scripts)
{
    const char *arguments[SCRIPTS_MAX + 3] = {"gnuplot", "--default-settings"};
    for (size_t i = 0; i < SCRIPTS_MAX && scripts[i]; i++)
        arguments[i + 2] = scripts[i];
    /* The same numbers and letters for everyone, and the same date in a PDF; HOME is where fonts
     * are cached. */
    char path[8192], home[PATH_MAX + 8];
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    snprintf(home, sizeof home, "HOME=%s", getenv("HOME") ? getenv("HOME") : "/");
    char locale[] = "LC_ALL=C.UTF-8", date[] = "SOURCE_DATE_EPOCH=0";
    char *const environment[] = {path, home, locale, date, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    sigfillset(&defaults);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failed =
        posix_spawnp(pid, "gnuplot", &actions, &attributes, (char *const *)arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* @return whether the child ended by itself with status 0. */
static bool wait_for(pid_t pid)
{
    int pidfd = pidfd_open(pid, 0);
    if (pidfd >= 0) { /* without: an old kernel; then without patience's end */
        struct pollfd end = {.fd = pidfd, .events = POLLIN};
        int ready;
        do {
            ready = poll(&end, 1, PATIENCE_MS);
        } while (ready < 0 && errno == EINTR);
        if (ready == 0)
            kill(pid, SIGKILL);
        close(pidfd);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum st_code gnuplot_run(const char *folder, const char *const *scripts, struct st_error *err)
{
    pid_t pid;
    int failed = spawn(&pid, folder, scripts);
    if (failed == ENOENT)
        return st_fail(err, ST_MISSING_TOOL, "gnuplot is not installed");
    if (failed)
        return st_fail(err, ST_CHILD, "cannot run gnuplot: %s", strerror(failed));
    return wait_for(pid) ? ST_OK : st_fail(err, ST_CHILD, "gnuplot failed");
}

bool gnuplot_picture_is_whole(const char *path)
{
    static const char png_end[] = {'I', 'E', 'N', 'D', '\xae', 'B', '`', '\x82'};
    char tail[64];
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool read = fd >= 0 && !fstat(fd, &info) && info.st_size >= (off_t)sizeof tail &&
                pread(fd, tail, sizeof tail, info.st_size - (off_t)sizeof tail) == sizeof tail;
    if (fd >= 0)
        close(fd);
    return read &&
           (memmem(tail, sizeof tail, "</svg>", 6) || memmem(tail, sizeof tail, "%%EOF", 5) ||
            memcmp(tail + sizeof tail - sizeof png_end, png_end, sizeof png_end) == 0);
}
