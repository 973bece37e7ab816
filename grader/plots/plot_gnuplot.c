#include "grader/plots/plot_gnuplot.h"

#include "base/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_S = 60, SCRIPTS_MAX = 64 };

enum st_code gnuplot_run(const char *folder, const char *const *scripts, struct st_error *err)
{
    const char *arguments[SCRIPTS_MAX + 3] = {"gnuplot", "--default-settings"};
    for (size_t i = 0; i < SCRIPTS_MAX && scripts[i]; i++)
        arguments[i + 2] = scripts[i];
    /* A fixed locale, and a fixed date in PDF files; fonts are cached in HOME. */
    char path[8192], home[PATH_MAX + 8], program[PATH_MAX];
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    snprintf(home, sizeof home, "HOME=%s", getenv("HOME") ? getenv("HOME") : "/");
    char locale[] = "LC_ALL=C.UTF-8", date[] = "SOURCE_DATE_EPOCH=0";
    char *const environment[] = {path, home, locale, date, NULL};
    const struct process_options options = {
        .argv = arguments, .folder = folder, .environment = environment, .limit_s = PATIENCE_S};
    struct process_end end;
    if (!process_find(path + strlen("PATH="), "gnuplot", program))
        return st_fail(err, ST_MISSING_TOOL, "gnuplot is not installed");
    if (process_run(&options, &end, err))
        return err->code;
    return end.exit_status ? st_fail(err, ST_CHILD, "gnuplot failed") : ST_OK;
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
