/* Makes report.pdf: with pdflatex from report.tex or, if pdflatex is missing or fails, with a
 * browser that prints report.html. Both run in a separate folder with a time limit, and only a
 * finished file replaces an earlier file. */
#include "grader/paper/render.h"

#include "base/files.h"
#include "base/process.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LOG_BYTES = 16 << 20, LATEX_RUNS = 3, PATIENCE_S = 120 };

static bool is_installed(const char *program)
{
    char path[PATH_MAX];
    return process_find(getenv("PATH"), program, path);
}

/* Runs a program to its end or to the time limit. In TeX's output, the first line that begins with
 * '!' names the error. */
static enum st_code run(const char *const *argv, const char *folder, struct st_error *err)
{
    const struct process_options options = {
        .argv = argv, .folder = folder, .output_bytes = MAX_LOG_BYTES, .limit_s = PATIENCE_S};
    struct process_end end;
    enum st_code code = process_run(&options, &end, err);
    if (code)
        return code;
    if (end.exit_status) {
        code = st_fail(err, ST_CHILD, "%s produced no PDF%s", argv[0],
                       end.late ? ": it took too long" : "");
        const char *fault = strstr(end.output, "\n!");
        if (fault)
            st_detail(err, ST_GOT, "%.*s", (int)strcspn(fault + 1, "\n"), fault + 1);
    }
    free(end.output);
    return code;
}

/* Runs pdflatex until references and the widths of tables no longer change. */
static enum st_code run_latex(const char *folder, const char *to, struct st_error *err)
{
    char output[PATH_MAX + 32];
    snprintf(output, sizeof output, "-output-directory=%s", to);
    setenv("HOME", to, 0); /* without a home directory (cron), TeX puts fonts that it makes there */
    const char *argv[] = {"pdflatex",
                          "-no-shell-escape",
                          "-interaction=nonstopmode",
                          "-halt-on-error",
                          output,
                          "report.tex",
                          NULL};
    enum st_code code = ST_OK;
    for (int i = 0; i < LATEX_RUNS && !code; i++)
        code = run(argv, folder, err);
    return code;
}

/* The URL of a folder's page: a path may contain any characters, a URL only letters, digits and a
 * few others. */
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
    return run(argv, folder, err);
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
        return st_fail_errno(err, errno, "cannot create a folder in /tmp");
    enum st_code code = latex ? run_latex(folder, to, err) : ST_OK;
    if (browser && (!latex || code)) { /* TeX may fail because of a text */
        *how = browser;
        code = run_browser(browser, folder, to, err);
    }
    path_format(made, sizeof made, "%s/report.pdf", to);
    if (!code && !(code = path_make(path, sizeof path, err, "%s/report.pdf", folder)))
        code = file_copy(made, path, (size_t)256 << 20, err);
    tree_remove(to);
    return code;
}
