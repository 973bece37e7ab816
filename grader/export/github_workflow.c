/* The workflow of a GitHub Classroom assignment, .github/workflows/classroom.yml of its template
 * repository.
 *
 *   https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
 *   https://github.com/classroom-resources/autograding-grading-reporter (README.md)
 *
 * Each milestone is a step of its own that runs the grader and hands its result, as the reporter
 * takes it, to the last step. The reporter finds the run by the job's name: run-autograding-tests.
 */
#include "grader/export/autograders.h"

#include "base/checkout.h"
#include "base/files.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

static const char head[] =
    "# Grades each push with ConvLab and reports the points to GitHub Classroom.\n"
    "name: Autograding Tests\n"
    "'on':\n"
    "  - push\n"
    "  - workflow_dispatch\n"
    "  - repository_dispatch\n"
    "permissions:\n"
    "  checks: write\n"
    "  actions: read\n"
    "  contents: read\n"
    "jobs:\n"
    "  run-autograding-tests:\n"
    "    runs-on: ubuntu-24.04\n"
    "    if: github.actor != 'github-classroom[bot]'\n"
    "    timeout-minutes: 60\n"
    "    steps:\n"
    "      - name: Checkout code\n"
    "        uses: actions/checkout@v4\n";

static void put_unpack(FILE *out, const char *url)
{
    fputs("      - name: Unpack ConvLab\n"
          "        run: |\n"
          "          mkdir -p \"$RUNNER_TEMP/convlab\"\n",
          out);
    if (url)
        fprintf(out,
                "          curl --fail --silent --show-error --location --output \\\n"
                "            \"$RUNNER_TEMP/convlab.tar.gz\" '%s'\n",
                url);
    else
        fputs("          cp .convlab/convlab-handout.tar.gz \"$RUNNER_TEMP/convlab.tar.gz\"\n",
              out);
    fputs("          tar -xzf \"$RUNNER_TEMP/convlab.tar.gz\" --strip-components=1 \\\n"
          "            -C \"$RUNNER_TEMP/convlab\"\n",
          out);
}

/* Exit status 0 also when checks failed: the reporter says so, after all milestones. */
static void put_milestone(FILE *out, const char *milestone, const char *options)
{
    fprintf(out,
            "      - name: Grade %s\n"
            "        id: %s\n"
            "        run: |\n"
            "          status=0\n"
            "          sh .convlab/grade.sh \"$RUNNER_TEMP/convlab\" %s . \\\n"
            "            \"$RUNNER_TEMP/%s.json\"%s%s || status=$?\n"
            "          result=$(\"$RUNNER_TEMP/convlab/build/grader\" export github \\\n"
            "            \"$RUNNER_TEMP/%s.json\")\n"
            "          echo \"result=$result\" >> \"$GITHUB_OUTPUT\"\n"
            "          [ \"$status\" -lt 2 ]\n",
            milestone, milestone, milestone, milestone, *options ? " " : "", options, milestone);
}

static void put_reporter(FILE *out, const char *milestones)
{
    fputs("      - name: Autograding Reporter\n"
          "        uses: classroom-resources/autograding-grading-reporter@v1\n"
          "        env:\n",
          out);
    for (const char *m = milestones; *m; m += m[2] ? 3 : 2)
        fprintf(out, "          M%c_RESULTS: ${{ steps.m%c.outputs.result }}\n", m[1], m[1]);
    fprintf(out, "        with:\n          runners: %s\n", milestones);
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
    fputs(head, out.f);
    put_unpack(out.f, of->url);
    for (const char *m = of->milestone; *m; m += m[2] ? 3 : 2)
        put_milestone(out.f, (const char[]){m[0], m[1], '\0'}, of->options);
    put_reporter(out.f, of->milestone);
    return file_out_commit(&out, err);
}
