#include "grader/export/autograders.h"

#include "base/checkout.h"
#include "base/files.h"
#include "grader/export/container.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PART_BYTES = 512 << 20 };

/* ---- the parts ------------------------------------------------------------------------------ */

static enum st_code handout_path(const struct gx_autograder *of, char *path, size_t room,
                                 struct st_error *err)
{
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    if (of->handout)
        path_format(path, room, "%s", of->handout);
    else
        path_format(path, room, "%s/convlab-handout.tar.gz", build);
    if (file_exists(path))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND,
            "the students' archive, which the autograder is made of, is missing");
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "run: make handout");
}

static enum st_code platform_path(const char *name, char *path, size_t room, struct st_error *err)
{
    const char *root = checkout_root(err);
    if (!root)
        return err->code;
    path_format(path, room, "%s/grader/export/platform/%s", root, name);
    return ST_OK;
}

/* One word or list of words for a shell: what a milestone's name and options may hold. */
static enum st_code check_words(const struct gx_autograder *of, bool list, struct st_error *err)
{
    const char *m = of->milestone;
    bool right = *m == 'm';
    for (; right && *m; m += *m == ',') {
        right = *m == 'm' && m[1] >= '1' && m[1] <= '9' && (!m[2] || (list && m[2] == ',' && m[3]));
        m += 2;
    }
    if (!right) {
        st_fail(err, ST_USAGE, "an autograder is made for a milestone");
        st_detail(err, ST_EXPECTED, "%s",
                  list ? "m1 ... m9, with commas between" : "one of m1 ... m9");
        return st_detail(err, ST_GOT, "'%s'", of->milestone);
    }
    for (const char *c = of->options; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(" -=,.:/_+", *c)) {
            st_fail(err, ST_USAGE,
                    "options of an autograder have no characters that a shell reads");
            return st_detail(err, ST_GOT, "'%s'", of->options);
        }
    return ST_OK;
}

/* ---- the platforms
 * --------------------------------------------------------------------------------- */

/* What the scripts read: shell assignments. */
static void settings_text(const struct gx_autograder *of, char *text, size_t room)
{
    snprintf(text, room, "MILESTONE=%s\nGRADER_OPTIONS='%s'\n", of->milestone, of->options);
}

enum st_code gx_gradescope_autograder(const struct gx_autograder *of, const char *path,
                                      struct st_error *err)
{
    char settings[512], handout[PATH_MAX], setup[PATH_MAX], run[PATH_MAX], grade[PATH_MAX];
    enum st_code code = check_words(of, false, err);
    if (!code)
        code = handout_path(of, handout, sizeof handout, err);
    if (!code)
        code = platform_path("gradescope-setup.sh", setup, sizeof setup, err);
    if (!code)
        code = platform_path("gradescope-run_autograder", run, sizeof run, err);
    if (!code)
        code = platform_path("grade.sh", grade, sizeof grade, err);
    if (code)
        return code;
    settings_text(of, settings, sizeof settings);
    const struct gx_part parts[] = {{"setup.sh", setup, NULL, 0755},
                                    {"run_autograder", run, NULL, 0755},
                                    {"grade.sh", grade, NULL, 0755},
                                    {"settings", NULL, settings, 0644},
                                    {"convlab-handout.tar.gz", handout, NULL, 0644}};
    return gx_container_write(GX_ZIP, parts, sizeof parts / sizeof *parts, path, err);
}

enum st_code gx_autolab_autograder(const struct gx_autograder *of, const char *folder,
                                   struct st_error *err)
{
    char settings[512], handout[PATH_MAX], makefile[PATH_MAX], run[PATH_MAX], grade[PATH_MAX];
    char to[PATH_MAX];
    enum st_code code = check_words(of, false, err);
    if (!code)
        code = handout_path(of, handout, sizeof handout, err);
    if (!code)
        code = platform_path("autolab-Makefile", makefile, sizeof makefile, err);
    if (!code)
        code = platform_path("autolab-driver.sh", run, sizeof run, err);
    if (!code)
        code = platform_path("grade.sh", grade, sizeof grade, err);
    if (!code)
        code = dir_make(folder, err);
    if (code)
        return code;
    settings_text(of, settings, sizeof settings);
    const struct gx_part parts[] = {{"autograde/driver.sh", run, NULL, 0755},
                                    {"autograde/grade.sh", grade, NULL, 0755},
                                    {"autograde/settings", NULL, settings, 0644},
                                    {"autograde/convlab-handout.tar.gz", handout, NULL, 0644}};
    path_format(to, sizeof to, "%s/autograde.tar", folder);
    code = gx_container_write(GX_TAR, parts, sizeof parts / sizeof *parts, to, err);
    path_format(to, sizeof to, "%s/autograde-Makefile", folder);
    return code ? code : file_copy(makefile, to, MAX_PART_BYTES, err);
}

enum st_code gx_github_classroom(const struct gx_autograder *of, const char *folder,
                                 struct st_error *err)
{
    char handout[PATH_MAX], grade[PATH_MAX], to[PATH_MAX];
    enum st_code code = check_words(of, true, err);
    if (!code && !of->url)
        code = handout_path(of, handout, sizeof handout, err);
    if (!code)
        code = platform_path("grade.sh", grade, sizeof grade, err);
    path_format(to, sizeof to, "%s/.github/workflows", folder);
    if (!code)
        code = dir_make(to, err);
    path_format(to, sizeof to, "%s/.convlab", folder);
    if (!code)
        code = dir_make(to, err);
    path_format(to, sizeof to, "%s/.convlab/grade.sh", folder);
    if (!code)
        code = file_copy(grade, to, MAX_PART_BYTES, err);
    path_format(to, sizeof to, "%s/.convlab/convlab-handout.tar.gz", folder);
    if (!code && !of->url)
        code = file_copy(handout, to, MAX_PART_BYTES, err);
    path_format(to, sizeof to, "%s/.github/workflows/classroom.yml", folder);
    return code ? code : gx_github_workflow(of, to, err);
}
