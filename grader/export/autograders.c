#include "grader/export/autograders.h"

#include "base/checkout.h"
#include "base/files.h"
#include "exercise/exercise.h"
#include "grader/export/container.h"
#include "grader/export/format_parts.h"

#include <ctype.h>
#include <stdbool.h>
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
            "the students' archive, which every autograder contains, is missing");
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "run: make handout");
}

/* Checks that a word (or a list of words) is safe in a shell: it has only characters that a
 * milestone's name and options may have. */
static enum st_code check_words(const struct gx_autograder *of, bool list, struct st_error *err)
{
    const char *m = of->milestone;
    bool right = *m != '\0';
    for (; right && *m; m += *m == ',') {
        const size_t digits = strspn(m + 1, "0123456789");
        right = exercise_of(m)->letter == *m && digits >= 1 && digits <= 3 && m[1] != '0';
        m += right ? 1 + digits : 0;
        right = right && (!*m || (list && *m == ',' && m[1]));
    }
    if (!right) {
        st_fail(err, ST_USAGE, "an autograder needs a milestone");
        st_detail(err, ST_EXPECTED, "%s",
                  list ? "mN, or several separated by commas, such as m1,m3" : "mN, as m1");
        return st_detail(err, ST_GOT, "'%s'", of->milestone);
    }
    for (const char *c = of->options; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(" -=,.:/_+", *c)) {
            st_fail(err, ST_USAGE,
                    "options of an autograder must not contain special characters of a shell");
            return st_detail(err, ST_GOT, "'%s'", of->options);
        }
    return ST_OK;
}

/* ---- kits: the files of an autograder ------------------------------------------------------- */

enum source { SCRIPT, SETTINGS, HANDOUT };

/* A file of a kit, and where it comes from. */
struct kit_file {
    const char *name;
    enum source source;
    const char *script; /* name in platform/ */
    unsigned mode;
};

enum { MAX_FILES = 7 };

/* The files found for a kit. */
struct kit {
    char settings[512];
    char path[MAX_FILES][PATH_MAX];
    struct gx_part part[MAX_FILES];
};

static enum st_code script_path(const char *script, char path[PATH_MAX], struct st_error *err)
{
    const char *root = checkout_root(err);
    if (!root)
        return err->code;
    path_format(path, PATH_MAX, "%s/grader/export/platform/%s", root, script);
    return ST_OK;
}

/* @param list  whether several milestones are allowed */
static enum st_code kit_find(struct kit *kit, const struct gx_autograder *of, bool list,
                             const struct kit_file *file, size_t files, struct st_error *err)
{
    enum st_code code = check_words(of, list, err);
    /* Shell assignments, which the scripts read. */
    snprintf(kit->settings, sizeof kit->settings, "MILESTONE=%s\nGRADER_OPTIONS='%s'\n",
             of->milestone, of->options);
    for (size_t i = 0; !code && i < files; i++) {
        kit->part[i] = (struct gx_part){.name = file[i].name,
                                        .path = kit->path[i],
                                        .text = kit->settings,
                                        .mode = file[i].mode};
        if (file[i].source == SETTINGS)
            kit->part[i].path = NULL;
        else if (file[i].source == HANDOUT)
            code = handout_path(of, kit->path[i], PATH_MAX, err);
        else
            code = script_path(file[i].script, kit->path[i], err);
    }
    return code;
}

/* ---- the platforms -------------------------------------------------------------------------- */

enum st_code gx_gradescope_autograder(const struct gx_autograder *of, const char *path,
                                      struct st_error *err)
{
    static const struct kit_file files[] = {
        {"setup.sh", SCRIPT, "gradescope-setup.sh", 0755},
        {"install.sh", SCRIPT, "install.sh", 0755},
        {"run_autograder", SCRIPT, "gradescope-run_autograder", 0755},
        {"results.sh", SCRIPT, "results.sh", 0755},
        {"grade.sh", SCRIPT, "grade.sh", 0755},
        {"settings", SETTINGS, NULL, 0644},
        {"convlab-handout.tar.gz", HANDOUT, NULL, 0644}};
    struct kit kit;
    enum st_code code = kit_find(&kit, of, false, files, 7, err);
    return code ? code : gx_container_write(GX_ZIP, kit.part, 7, path, err);
}

enum st_code gx_autolab_autograder(const struct gx_autograder *of, const char *folder,
                                   struct st_error *err)
{
    static const struct kit_file files[] = {
        {"autograde/driver.sh", SCRIPT, "autolab-driver.sh", 0755},
        {"autograde/grade.sh", SCRIPT, "grade.sh", 0755},
        {"autograde/settings", SETTINGS, NULL, 0644},
        {"autograde/convlab-handout.tar.gz", HANDOUT, NULL, 0644}};
    struct kit kit;
    char makefile[PATH_MAX], to[PATH_MAX];
    enum st_code code = kit_find(&kit, of, false, files, 4, err);
    if (!code)
        code = script_path("autolab-Makefile", makefile, err);
    if (!code)
        code = dir_make(folder, err);
    path_format(to, sizeof to, "%s/autograde.tar", folder);
    if (!code)
        code = gx_container_write(GX_TAR, kit.part, 4, to, err);
    path_format(to, sizeof to, "%s/autograde-Makefile", folder);
    return code ? code : file_copy(makefile, to, MAX_PART_BYTES, err);
}

/* Writes a kit's files into a folder. */
static enum st_code kit_write(const struct kit *kit, size_t files, const char *folder,
                              struct st_error *err)
{
    char to[PATH_MAX];
    enum st_code code = ST_OK;
    for (size_t i = 0; !code && i < files; i++) {
        path_format(to, sizeof to, "%s/%s", folder, kit->part[i].name);
        code = kit->part[i].path
                   ? file_copy(kit->part[i].path, to, MAX_PART_BYTES, err)
                   : file_write(to, kit->part[i].text, strlen(kit->part[i].text), err);
    }
    return code;
}

enum st_code gx_github_actions(const struct gx_autograder *of, const char *folder,
                               struct st_error *err)
{
    static const struct kit_file files[] = {
        {".convlab/install.sh", SCRIPT, "install.sh", 0},
        {".convlab/grade.sh", SCRIPT, "grade.sh", 0},
        {".convlab/actions-grade.sh", SCRIPT, "actions-grade.sh", 0},
        {".convlab/convlab-handout.tar.gz", HANDOUT, NULL, 0}};
    static const char *const folders[] = {".github/workflows", ".convlab"};
    const size_t n = of->url ? 3 : 4; /* with a URL, the workflow fetches the archive */
    struct kit kit;
    char to[PATH_MAX];
    enum st_code code = kit_find(&kit, of, true, files, n, err);
    for (size_t i = 0; !code && i < 2; i++) {
        path_format(to, sizeof to, "%s/%s", folder, folders[i]);
        code = dir_make(to, err);
    }
    if (!code)
        code = kit_write(&kit, n, folder, err);
    path_format(to, sizeof to, "%s/.github/workflows/convlab.yml", folder);
    return code ? code : gx_actions_workflow(of, to, err);
}

enum st_code gx_classroom50_autograder(const struct gx_autograder *of, const char *folder,
                                       struct st_error *err)
{
    static const struct kit_file files[] = {
        {"autograder.py", SCRIPT, "classroom50-autograder.py", 0},
        {"install.sh", SCRIPT, "install.sh", 0},
        {"grade.sh", SCRIPT, "grade.sh", 0},
        {"settings", SETTINGS, NULL, 0},
        {"convlab-handout.tar.gz", HANDOUT, NULL, 0}};
    struct kit kit;
    enum st_code code = kit_find(&kit, of, false, files, 5, err);
    if (!code)
        code = dir_make(folder, err);
    return code ? code : kit_write(&kit, 5, folder, err);
}

/* Checks the name of an image, such as registry.example.org:5000/course/convlab:2026. */
static enum st_code check_image(const char *image, struct st_error *err)
{
    bool right = image && isalnum((unsigned char)*image);
    for (const char *c = right ? image : ""; *c; c++)
        right = right && (isalnum((unsigned char)*c) || strchr("-._/:@", *c));
    if (right)
        return ST_OK;
    st_fail(err, ST_USAGE, "prairielearn-autograder needs a name for its image");
    st_detail(err, ST_GOT, "%s", image ? image : "no --image");
    return st_detail(err, ST_EXPECTED, "--image such as example/convlab:2026");
}

/* Writes a question for each milestone, and its settings in tests/. */
static enum st_code write_questions(const struct gx_autograder *of, const char *folder,
                                    struct st_error *err)
{
    static const struct kit_file settings = {"tests/settings", SETTINGS, NULL, 0};
    enum st_code code = ST_OK;
    char name[GX_MILESTONE_CHARS];
    for (const char *list = of->milestone; !code && gx_milestone_next(&list, name);) {
        struct gx_autograder one = *of;
        struct kit kit;
        char question[PATH_MAX], tests[PATH_MAX];
        one.milestone = name;
        path_format(question, sizeof question, "%s/question-%s", folder, name);
        path_format(tests, sizeof tests, "%s/tests", question);
        code = dir_make(tests, err);
        if (!code)
            code = kit_find(&kit, &one, false, &settings, 1, err);
        if (!code)
            code = kit_write(&kit, 1, question, err);
        if (!code)
            code = gx_prairielearn_question(&one, question, err);
    }
    return code;
}

enum st_code gx_prairielearn_autograder(const struct gx_autograder *of, const char *folder,
                                        struct st_error *err)
{
    static const struct kit_file files[] = {
        {"image/Dockerfile", SCRIPT, "prairielearn-Dockerfile", 0},
        {"image/run", SCRIPT, "prairielearn-run", 0},
        {"image/install.sh", SCRIPT, "install.sh", 0},
        {"image/results.sh", SCRIPT, "results.sh", 0},
        {"image/grade.sh", SCRIPT, "grade.sh", 0},
        {"image/settings", SETTINGS, NULL, 0},
        {"image/convlab-handout.tar.gz", HANDOUT, NULL, 0}};
    struct kit kit;
    char image[PATH_MAX];
    enum st_code code = check_image(of->image, err);
    if (!code)
        code = kit_find(&kit, of, true, files, 7, err);
    path_format(image, sizeof image, "%s/image", folder);
    if (!code)
        code = dir_make(image, err);
    if (!code)
        code = kit_write(&kit, 7, folder, err);
    return code ? code : write_questions(of, folder, err);
}
