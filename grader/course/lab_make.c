#include "grader/course/lab_make.h"

#include "base/checkout.h"
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUTPUT_MAX_BYTES = 1 << 16 };

/* Makes an environment without the flags and the jobserver of a make that runs this program,
 * because the make that we start would warn about them. @return malloc'd, or NULL */
static char **without_make(char *const *environment)
{
    static const char *const names[] = {"MAKEFLAGS=", "MFLAGS=", "MAKELEVEL=", "MAKEOVERRIDES="};
    size_t n = 0, kept = 0;
    while (environment[n])
        n++;
    char **list = malloc((n + 1) * sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        bool drop = false;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            drop |= strncmp(environment[i], names[k], strlen(names[k])) == 0;
        if (!drop)
            list[kept++] = environment[i];
    }
    if (list)
        list[kept] = NULL;
    return list;
}

/* Runs make in the checkout, for the build folder of this program. */
static enum st_code run_make(const char *target, bool stdout_only, struct process_end *end,
                             struct st_error *err)
{
    const char *root = checkout_root(err), *build = root ? checkout_build(err) : NULL;
    if (!build)
        return err->code;
    build = strrchr(build, '/') + 1;
    char san[64];
    snprintf(san, sizeof san, "SAN=%s", strncmp(build, "san-", 4) == 0 ? build + 4 : "");
    for (char *p = san; *p; p++)
        *p = *p == '-' ? ',' : *p;
    const char *const argv[] = {"make", "--no-print-directory", "-s", target, san, NULL};
    char **environment = without_make(environ);
    if (!environment)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the environment of make");
    const struct process_options options = {.argv = argv,
                                            .folder = root,
                                            .environment = environment,
                                            .output_bytes = OUTPUT_MAX_BYTES,
                                            .stdout_only = stdout_only};
    const enum st_code code = process_run(&options, end, err);
    free(environment);
    return code;
}

enum st_code gr_make_print(const char *what, const char *milestone, char **text,
                           struct st_error *err)
{
    char target[64];
    struct process_end end;
    *text = NULL;
    snprintf(target, sizeof target, "%s-%s", what, milestone);
    const enum st_code code = run_make(target, true, &end, err);
    if (code)
        return code;
    *text = end.output;
    if (end.exit_status == 0)
        return ST_OK;
    st_fail(err, ST_CHILD, "make did not print the compile command for labs");
    return st_detail(err, ST_HINT, "run: make %s", target);
}

enum st_code gr_make_reference(const struct gr_milestone *milestone, struct st_error *err)
{
    char target[64];
    struct process_end end;
    snprintf(target, sizeof target, "reference-%s", milestone->id);
    enum st_code code = run_make(target, false, &end, err);
    if (code)
        return code;
    if (end.exit_status) {
        code = st_fail(err, ST_CHILD, "the reference cannot be compiled on this machine");
        st_detail(err, ST_GOT, "%.200s", end.output);
        st_detail(err, ST_HINT, "run: make %s", target);
    }
    free(end.output);
    return code;
}
