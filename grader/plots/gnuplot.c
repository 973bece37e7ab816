#include "grader/plots/report_plots.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000 };

/* @return a descriptor from which the script is read, or -1. A file in memory rather than a pipe:
 * gnuplot can end early without leaving us with a broken pipe. */
static int script_open(const char *script, size_t bytes)
{
    int fd = memfd_create("plot", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(fd, script + done, bytes - done);
        if (n < 0) {
            close(fd);
            return -1;
        }
        done += (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Starts gnuplot. @return 0 or an errno. */
static int spawn(pid_t *pid, int script, int output)
{
    static const char *const arguments[] = {"gnuplot", "--default-settings", "-", NULL};
    /* The same numbers and letters for everyone; HOME is where fonts are cached. */
    char path[8192], home[PATH_MAX + 8];
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    snprintf(home, sizeof home, "HOME=%s", getenv("HOME") ? getenv("HOME") : "/");
    char locale[] = "LC_ALL=C.UTF-8";
    char *const environment[] = {path, home, locale, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
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

/* gnuplot ends with status 0 after some errors, so the end of the picture is looked for. */
static bool is_whole(int fd)
{
    static const unsigned char png_end[] = {'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    char tail[64];
    struct stat info;
    if (fstat(fd, &info) || info.st_size < 64 ||
        pread(fd, tail, sizeof tail, info.st_size - 64) != (ssize_t)sizeof tail)
        return false;
    return memmem(tail, sizeof tail, "</svg>", 6) ||
           memcmp(tail + sizeof tail - sizeof png_end, png_end, sizeof png_end) == 0;
}

/* gnuplot prints into memory, and only a whole picture goes to the file: so that a full disk is
 * noticed by the one who can tell of it. */
enum st_code gr_gnuplot_run(const char *script, size_t bytes, const char *path,
                            struct st_error *err)
{
    enum st_code code;
    pid_t pid;
    int input = script_open(script, bytes);
    int output = input < 0 ? -1 : memfd_create("picture", MFD_CLOEXEC);
    if (output < 0) {
        code = st_fail_errno(err, errno, "cannot hold a plot in memory");
        goto cleanup;
    }
    int failed = spawn(&pid, input, output);
    if (failed) {
        code = failed == ENOENT
                   ? st_fail(err, ST_MISSING_TOOL, "gnuplot is not installed")
                   : st_fail(err, ST_CHILD, "cannot run gnuplot: %s", strerror(failed));
        goto cleanup;
    }
    if (!wait_for(pid) || !is_whole(output)) {
        code = st_fail(err, ST_CHILD, "gnuplot failed");
        goto cleanup;
    }
    struct file_out out;
    code = file_out_open(&out, path, err);
    if (code)
        goto cleanup;
    char buffer[8192];
    off_t at = 0;
    for (ssize_t n; (n = pread(output, buffer, sizeof buffer, at)) > 0; at += n)
        fwrite(buffer, 1, (size_t)n, out.f);
    code = file_out_commit(&out, err);
cleanup:
    if (input >= 0)
        close(input);
    if (output >= 0)
        close(output);
    return code;
}
