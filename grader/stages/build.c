/* The check "builds": the submission is compiled, or taken as it is, and loaded. */
#include "grader/stages/grading.h"

#include "base/checkout.h"
#include "base/files.h"
#include "grader/sandbox/library_check.h"

#include <stdlib.h>
#include <string.h>

void gr_source_describe(struct grading *g)
{
    const struct gr_options *o = g->options;
    struct gr_result *r = g->result;
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    const char *source = o->lib         ? o->lib
                         : o->file      ? o->file
                         : o->reference ? g->milestone.reference_source
                                        : g->milestone.lab_source;
    size_t skip = root && strncmp(source, root, strlen(root)) == 0 ? strlen(root) + 1 : 0;
    snprintf(r->source, sizeof r->source, "%s", source + skip);
    snprintf(r->subject, sizeof r->subject, "%s",
             o->lib         ? "library"
             : o->reference ? "reference"
                            : "submission");
}

/* Leaves the compiler's lines, takes make's own out, and what has been said already; in place. */
static void drop_make_lines(char *text)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (line[length - 1] == '\0')
            length--;
        bool drop = strncmp(line, "make: ", 6) == 0 || strncmp(line, "make[", 5) == 0 ||
                    strncmp(line, "not sandboxed: ", 15) == 0;
        if (!drop) {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    *to = '\0';
}

/* --source: the file is built by itself. */
static enum st_code build_source(struct grading *g, struct gr_check *check, struct st_error *err)
{
    char header[PATH_MAX], *command;
    path_format(header, sizeof header, "%s/common/conv.h", checkout_root(err));
    enum st_code code = gr_milestone_compiler(&g->milestone, &command, err);
    if (code)
        return code;
    const char *name = g->milestone.cuda ? "conv.cu" : "conv.c";
    code =
        gr_source_build(&g->built, &g->host.sandbox, g->options->file, name, header, command, err);
    free(command);
    if (code)
        return code;
    path_format(g->library, sizeof g->library, "%s", g->built.library);
    if (g->built.built)
        return ST_OK;
    const bool error = strcmp(g->built.pattern, "compile_error") == 0;
    gr_check_pattern(check, g->built.pattern);
    gr_check_set(check, GR_FAIL, "%s%.1900s", error ? "does not compile:\n" : "", g->built.said);
    gr_check_hint(check,
                  error ? "fix the first error first: those after it are often its consequences"
                        : "hand in one regular file that compiles in seconds");
    return ST_OK;
}

enum st_code gr_build_check(struct grading *g, struct st_error *err)
{
    const struct gr_options *o = g->options;
    struct gr_check *check = gr_check_add(g, "builds");
    if (o->lib) {
        if (!file_exists(o->lib)) {
            st_fail(err, ST_NOT_FOUND, "no library to grade");
            st_detail(err, ST_WHERE, "%s", o->lib);
            return st_detail(err, ST_HINT, "--lib takes the path of a built libconv.so");
        }
        if (!realpath(o->lib, g->library))
            return st_fail(err, ST_NOT_FOUND, "no library to grade: %s", o->lib);
        return ST_OK;
    }
    if (o->file)
        return build_source(g, check, err);
    const char *source = o->reference ? g->milestone.reference_source : g->milestone.lab_source;
    if (!file_exists(source)) {
        if (o->reference) {
            st_fail(err, ST_NOT_FOUND, "there is no reference solution here");
            return st_detail(err, ST_WHERE, "%s", source);
        }
        const char *name = strrchr(source, '/') + 1;
        gr_check_set(check, GR_FAIL, "there is no file %s to compile", name);
        gr_check_hint(check, "put your solution into labs/%s/%s", g->milestone.folder, name);
        return ST_OK;
    }
    char target[64], *output;
    bool compiles;
    snprintf(target, sizeof target, "%s-%s", o->reference ? "reference" : "lab", g->milestone.id);
    enum st_code code = gr_milestone_build(target, o->sandbox, &compiles, &output, err);
    if (code)
        return code;
    path_format(g->library, sizeof g->library, "%s",
                o->reference ? g->milestone.reference_library : g->milestone.lab_library);
    if (!compiles) {
        drop_make_lines(output);
        gr_check_pattern(check, "compile_error");
        gr_check_set(check, GR_FAIL, "does not compile:\n%.1900s", output);
        gr_check_hint(check,
                      "fix the first error first: those after it are often its consequences");
    } else if (!file_exists(g->library)) {
        gr_check_set(check, GR_FAIL, "make built nothing:\n%.1900s", output);
    }
    free(output);
    return ST_OK;
}

enum st_code gr_load_check(struct grading *g, struct st_error *err)
{
    struct gr_check *check = gr_check_add(g, "builds");
    struct gr_run run;
    char message[400];
    if (!gr_library_is_plain(&g->host.sandbox, g->library, message, sizeof message)) {
        gr_check_pattern(check, "not_own_work");
        gr_check_set(check, GR_FAIL, "%s", message);
        gr_check_hint(check, "use memory, arithmetic, threads and, in GPU milestones, kernels");
        return ST_OK;
    }
    enum st_code code = arena_open(&g->arena, err);
    if (!code)
        code = gr_session_start(&g->session, &g->host, g->library, &g->arena, &run, err);
    if (code)
        return code;
    if (run.outcome == GR_NOT_LOADED || run.message[0]) {
        gr_check_pattern(check, "not_loaded");
        gr_check_set(check, GR_FAIL, "%s", run.message);
        gr_check_hint(check, "%s", run.hint);
    } else {
        gr_check_set(check, GR_PASS, "compiles and exports conv_forward");
        if (g->host.device == RUNNER_ON_GPU) {
            snprintf(g->result->profile, sizeof g->result->profile, "%s", g->session.device_name);
            snprintf(g->result->machine, sizeof g->result->machine, "%s", g->session.device_name);
            snprintf(g->result->timed_on, sizeof g->result->timed_on, "%s", g->session.device_id);
        }
    }
    return ST_OK;
}
