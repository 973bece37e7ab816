/* report.pdf: by pdflatex from report.tex, else, or if that fails, by a browser that prints
 * report.html. Either works
 * in a folder of its own, within bounded time, and only a finished file takes the place of an
 * earlier one. */
#include "grader/paper/render.h"

#include "base/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LOG_BYTES = 16 << 20, LATEX_RUNS = 3, PATIENCE_MS = 120000 };

static bool is_installed(const char *program)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at; at += strspn(at, ":")) {
        char file[PATH_MAX];
        const size_t length = strcspn(at, ":");
        if (length && path_format(file, sizeof file, "%.*s/%s", (int)length, at, program) &&
            access(file, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

/* The first line of TeX's that begins with '!', which names the fault. */
static void say_why(struct st_error *err, const char *program, const char *log, bool late)
{
    char *said = NULL;
    size_t bytes;
    st_fail(err, ST_CHILD, "%s made no PDF%s", program, late ? ": it took too long" : "");
    if (file_read(log, MAX_LOG_BYTES, &said, &bytes, NULL))
        return;
    const char *fault = strstr(said, "\n!");
    if (fault)
        st_detail(err, ST_GOT, "%.*s", (int)strcspn(fault + 1, "\n"), fault + 1);
    free(said);
}

/* Starts a program of PATH in a folder, in a process group of its own; what it says goes to a file.
 */
static int start(pid_t *pid, const char *const *argv, const char *folder, const char *log)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed =
        posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* Runs a program to its end, or to that of our patience, and leaves nothing of it running. */
static enum st_code run(const char *const *argv, const char *folder, const char *to,
                        struct st_error *err)
{
    char log[PATH_MAX];
    pid_t pid;
    int status = 0;
    path_format(log, sizeof log, "%s/said", to);
    const int failed = start(&pid, argv, folder, log);
    if (failed)
        return st_fail_errno(err, failed, "cannot run %s", argv[0]);
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    const bool late = end.fd >= 0 && poll(&end, 1, PATIENCE_MS) == 0;
    if (end.fd >= 0)
        close(end.fd);
    if (late)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL); /* what it started */
    if (!late && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ST_OK;
    say_why(err, argv[0], log, late);
    return ST_CHILD;
}

/* Runs until references and the widths of tables have settled. */
static enum st_code run_latex(const char *folder, const char *to, struct st_error *err)
{
    char output[PATH_MAX + 32];
    snprintf(output, sizeof output, "-output-directory=%s", to);
    setenv("HOME", to, 0); /* without one (cron), the fonts that TeX has to make go there */
    const char *argv[] = {"pdflatex",
                          "-no-shell-escape",
                          "-interaction=nonstopmode",
                          "-halt-on-error",
                          output,
                          "report.tex",
                          NULL};
    enum st_code code = ST_OK;
    for (int i = 0; i < LATEX_RUNS && !code; i++)
        code = run(argv, folder, to, err);
    return code;
}

/* The address of a folder's page: a path may hold anything, an address letters, digits and little
 * else. */
static void page_address(char to[3 * PATH_MAX + 32], const char *folder)
{
    char *at = stpcpy(to, "file://");
    for (; *folder; folder++)
        at += sprintf(at,
                      isalnum((unsigned char)*folder) || strchr("/-._~", *folder) ? "%c" : "%%%02X",
                      (unsigned char)*folder);
    strcpy(at, "/report.html");
}

static enum st_code run_browser(const char *program, const char *folder, const char *to,
                                struct st_error *err)
{
    char print[PATH_MAX + 32], profile[PATH_MAX + 32], page[3 * PATH_MAX + 32], absolute[PATH_MAX];
    if (!realpath(folder, absolute))
        return st_fail_errno(err, errno, "cannot find the report's folder");
    snprintf(print, sizeof print, "--print-to-pdf=%s/report.pdf", to);
    snprintf(profile, sizeof profile, "--user-data-dir=%s/browser", to);
    page_address(page, absolute);
    const char *argv[] = {program,
                          "--headless",
                          "--disable-gpu",
                          "--no-pdf-header-footer",
                          profile,
                          print,
                          geteuid() ? "--hide-scrollbars" : "--no-sandbox",
                          page,
                          NULL};
    return run(argv, folder, to, err);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

enum st_code pp_pdf_write(const char *folder, bool have_tex, bool have_html, const char **how,
                          struct st_error *err)
{
    static const char *const browsers[] = {"chromium", "chromium-browser", "google-chrome"};
    char to[] = "/tmp/convlab-pdf-XXXXXX", made[PATH_MAX], path[PATH_MAX];
    const char *browser = NULL;
    for (size_t i = 0; i < sizeof browsers / sizeof *browsers && !browser; i++)
        browser = have_html && is_installed(browsers[i]) ? browsers[i] : NULL;
    const bool latex = have_tex && is_installed("pdflatex");
    *how = latex ? "pdflatex" : browser;
    if (!*how) {
        st_fail(err, ST_MISSING_TOOL, "neither pdflatex nor chromium is installed");
        return st_detail(err, ST_HINT,
                         "install texlive-latex-recommended, or print report.html "
                         "from a browser");
    }
    if (!mkdtemp(to))
        return st_fail_errno(err, errno, "cannot make a folder in /tmp");
    enum st_code code = latex ? run_latex(folder, to, err) : ST_OK;
    if (browser && (!latex || code)) { /* a text may be too much for TeX */
        *how = browser;
        code = run_browser(browser, folder, to, err);
    }
    path_format(made, sizeof made, "%s/report.pdf", to);
    if (!code && !path_format(path, sizeof path, "%s/report.pdf", folder))
        code = st_fail(err, ST_TOO_LARGE, "path is too long");
    if (!code)
        code = file_copy(made, path, (size_t)256 << 20, err);
    nftw(to, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}
