/* Makes a workflow of GitHub Actions, .github/workflows/convlab.yml of any repository, from the
 * template actions-workflow.yml, with an actions-step.yml for each milestone.
 *
 *   https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
 *
 * Each milestone is a separate step, which fails if one of its checks fails; later steps still run.
 * The workflow needs no secret, and no permission except to read the repository. */
#include "grader/export/autograders.h"

#include "base/files.h"
#include "base/page_template.h"
#include "grader/export/format_parts.h"

#include <ctype.h>
#include <string.h>

extern const char actions_workflow_yml[], actions_step_yml[];

static void put_fetch(FILE *out, const char *url)
{
    if (url)
        fprintf(out,
                "          archive=$RUNNER_TEMP/convlab.tar.gz\n"
                "          curl --fail --silent --show-error --location --output \"$archive\" \\\n"
                "            '%s'\n",
                url);
    else
        fputs("          archive=.convlab/convlab-handout.tar.gz\n", out);
}

static void put_step(FILE *out, const char *milestone, const char *options)
{
    char room[PAGE_NAME_CHARS];
    for (const char *at = actions_step_yml, *name; (name = page_template_next(out, &at, room));)
        if (strcmp(name, "milestone") == 0)
            fputs(milestone, out);
        else if (*options)
            fprintf(out, " %s", options);
}

static void put_workflow(FILE *out, const struct gx_autograder *of)
{
    char room[PAGE_NAME_CHARS], milestone[GX_MILESTONE_CHARS];
    for (const char *at = actions_workflow_yml, *name; (name = page_template_next(out, &at, room));)
        if (strcmp(name, "fetch") == 0)
            put_fetch(out, of->url);
        else
            for (const char *list = of->milestone; gx_milestone_next(&list, milestone);)
                if (strcmp(name, "steps") == 0)
                    put_step(out, milestone, of->options);
                else
                    fprintf(out, "%s%s", milestone, *list ? " " : "");
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

enum st_code gx_actions_workflow(const struct gx_autograder *of, const char *path,
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
