#include "grader/course/milestone.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/process.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX_BYTES = 1 << 16 };

static int is_milestone(const struct dirent *entry)
{
    return entry->d_name[0] == 'm' && strspn(entry->d_name + 1, "0123456789") > 0 &&
           strchr(entry->d_name, '-');
}

enum st_code gr_milestone_find(struct gr_milestone *milestone, const char *id, struct st_error *err)
{
    memset(milestone, 0, sizeof *milestone);
    const char *root = checkout_root(err), *build = checkout_build(err);
    if (!root || !build)
        return err->code;
    char labs[PATH_MAX], known[200] = "";
    path_format(labs, sizeof labs, "%s/labs", root);
    struct dirent **entries;
    int n = scandir(labs, &entries, is_milestone, versionsort);
    if (n < 0) {
        st_fail(err, ST_NOT_FOUND, "cannot read the folder of labs");
        return st_detail(err, ST_WHERE, "%s", labs);
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        int length = (int)strcspn(name, "-");
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%.*s", used ? ", " : "", length, name);
        if ((int)strlen(id) == length && strncmp(name, id, (size_t)length) == 0) {
            snprintf(milestone->folder, sizeof milestone->folder, "%s", name);
            snprintf(milestone->id, sizeof milestone->id, "%s", id);
        }
        free(entries[i]);
    }
    free(entries);
    if (!milestone->id[0]) {
        st_fail(err, ST_USAGE, "unknown milestone");
        st_detail(err, ST_EXPECTED, "%s", known);
        return st_detail(err, ST_GOT, "%s", id);
    }
    const char *folder = milestone->folder;
    milestone->libraries = strcmp(milestone->id, "m0") == 0;
    path_format(milestone->rubric, PATH_MAX, "%s/labs/%s/rubric.yaml", root, folder);
    /* The skeleton's language is told by the rubric's folder in reference/ too, in case a student
     * has removed the file. */
    char cuda[2][PATH_MAX];
    path_format(cuda[0], PATH_MAX, "%s/labs/%s/conv.cu", root, folder);
    path_format(cuda[1], PATH_MAX, "%s/reference/%s/conv.cu", root, folder);
    milestone->cuda = file_exists(cuda[0]) || file_exists(cuda[1]);
    const char *source = milestone->cuda ? "conv.cu" : "conv.c";
    path_format(milestone->lab_source, PATH_MAX, "%s/labs/%s/%s", root, folder, source);
    path_format(milestone->lab_library, PATH_MAX, "%s/labs/%s/libconv.so", build, id);
    path_format(milestone->reference_source, PATH_MAX, "%s/reference/%s/%s", root, folder, source);
    path_format(milestone->reference_library, PATH_MAX, "%s/reference/%s/libconv.so", build, id);
    path_format(milestone->plain_library, PATH_MAX, "%s/reference/%s/libconv-plain.so", build, id);
    return ST_OK;
}

/* Runs make in the checkout, without the jobserver or the flags of a make that may be running us,
 * and for the build folder that this program lies in. */
static enum st_code run_make(const char *target, const char *setting, struct process_end *result,
                             struct st_error *err)
{
    const char *root = checkout_root(err);
    if (!root)
        return err->code;
    unsetenv("MAKEFLAGS");
    unsetenv("MFLAGS");
    unsetenv("MAKELEVEL");
    const char *build = strrchr(checkout_build(err), '/') + 1;
    char san[64];
    snprintf(san, sizeof san, "SAN=%s", strncmp(build, "san-", 4) == 0 ? build + 4 : "");
    for (char *p = san; *p; p++)
        *p = *p == '-' ? ',' : *p;
    const char *argv[] = {"make", "--no-print-directory", "-s", target, san, setting, NULL};
    const struct process_options options = {
        .argv = argv, .folder = root, .output_bytes = OUTPUT_MAX_BYTES};
    return process_run(&options, result, err);
}

/* What the program that compiles labs says when it is not the lab's fault (compile-lab_main.c). */
static const char *fault_of_ours(const char *output)
{
    static const char begin[] = "compile-lab: ";
    for (const char *line = output; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, begin, sizeof begin - 1) == 0)
            return line + sizeof begin - 1;
    }
    return NULL;
}

enum st_code gr_milestone_build(const char *target, enum gr_sandbox_wish sandbox, bool *compiles,
                                char **output, struct st_error *err)
{
    *compiles = false;
    *output = NULL;
    struct process_end result;
    enum st_code code =
        run_make(target, sandbox == GR_SANDBOX_NEVER ? "NO_SANDBOX=1" : NULL, &result, err);
    if (code)
        return code;
    const char *fault = result.exit_status ? fault_of_ours(result.output) : NULL;
    if (fault) {
        st_fail(err, ST_CHILD, "the lab cannot be compiled here: %.*s", (int)strcspn(fault, "\n"),
                fault);
        free(result.output);
        return err->code;
    }
    *compiles = result.exit_status == 0;
    *output = result.output;
    return ST_OK;
}

enum st_code gr_milestone_compiler(const struct gr_milestone *milestone, char **command,
                                   struct st_error *err)
{
    struct process_end result;
    const char *target = milestone->cuda ? "print-lab-command-cu" : "print-lab-command-c";
    *command = NULL;
    enum st_code code = run_make(target, NULL, &result, err);
    if (code)
        return code;
    *command = result.output;
    if (result.exit_status == 0)
        return ST_OK;
    st_fail(err, ST_CHILD, "make does not tell how labs are compiled");
    return st_detail(err, ST_GOT, "%.200s", result.output);
}
