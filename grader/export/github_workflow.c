/* The workflow of a GitHub Classroom assignment, .github/workflows/classroom.yml of its template
 * repository: from the template classroom.yml, with a classroom-step.yml for each milestone.
 *
 *   https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
 *   https://github.com/classroom-resources/autograding-grading-reporter (README.md)
 *
 * Each milestone is a step of its own that runs the grader and hands its result, as the reporter
 * takes it, to the last step. The reporter finds the run by the job's name: run-autograding-tests.
 */
#include "grader/export/autograders.h"

#include "base/files.h"
#include "base/page_template.h"

#include <ctype.h>
#include <string.h>

extern const char classroom_yml[], classroom_step_yml[];

static void put_fetch(FILE *out, const char *url)
{
    if (url)
        fprintf(out,
                "          curl --fail --silent --show-error --location --output \\\n"
                "            \"$RUNNER_TEMP/convlab.tar.gz\" '%s'\n",
                url);
    else
        fputs("          cp .convlab/convlab-handout.tar.gz \"$RUNNER_TEMP/convlab.tar.gz\"\n",
              out);
}

/* The step's exit status is 0 also when checks failed: the reporter says so, after all milestones. */
static void put_step(FILE *out, int digits, const char *number, const char *options)
{
    char room[PAGE_NAME_CHARS];
    for (const char *at = classroom_step_yml, *name; (name = page_template_next(out, &at, room));)
        if (strcmp(name, "milestone") == 0)
            fprintf(out, "m%.*s", digits, number);
        else if (*options)
            fprintf(out, " %s", options);
}

static void put_workflow(FILE *out, const struct gx_autograder *of)
{
    char room[PAGE_NAME_CHARS];
    for (const char *at = classroom_yml, *name; (name = page_template_next(out, &at, room));)
        if (strcmp(name, "fetch") == 0)
            put_fetch(out, of->url);
        else if (strcmp(name, "milestones") == 0)
            fputs(of->milestone, out);
        else
            for (const char *m = of->milestone; *m; m += strcspn(m, ","), m += *m == ',') {
                const int digits = (int)strcspn(m + 1, ",");
                if (strcmp(name, "steps") == 0)
                    put_step(out, digits, m + 1, of->options);
                else
                    fprintf(out, "          M%.*s_RESULTS: ${{ steps.m%.*s.outputs.result }}\n",
                            digits, m + 1, digits, m + 1);
            }
}

static enum st_code check_url(const char *url, struct st_error *err)
{
    bool right = strncmp(url, "https://", 8) == 0;
    for (const char *c = url; *c; c++)
        right = right && (isalnum((unsigned char)*c) || strchr("-._~:/?=&%+@", *c));
    if (right)
        return ST_OK;
    st_fail(err, ST_USAGE, "not an address that the workflow can fetch");
    st_detail(err, ST_EXPECTED, "https://... without quotes and blanks");
    return st_detail(err, ST_GOT, "'%s'", url);
}

enum st_code gx_github_workflow(const struct gx_autograder *of, const char *path,
                                struct st_error *err)
{
    struct file_out out;
    enum st_code code = of->url ? check_url(of->url, err) : ST_OK;
    if (!code)
        code = file_out_open(&out, path, err);
    if (code)
        return code;
    put_workflow(out.f, of);
    return file_out_commit(&out, err);
}
