/* The check "builds": compiles the submission, or takes a library, and loads it. */
#include "grader/stages/grading.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/sha256.h"
#include "grader/course/lab_make.h"
#include "grader/place/turn.h"
#include "grader/sandbox/library_check.h"
#include "grader/stages/work_proof.h"
#include "base/shown_path.h"
#include "grader/session/source_place.h"
#include "grader/stages/tensors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Sets the file's path for messages: relative to the student's folder, where an editor opens it.
 * Students must not see where a class keeps its submissions. */
static void describe_for_findings(struct grading *g)
{
    const struct gr_options *o = g->options;
    char path[PATH_MAX];
    if (o->lib || o->reference || g->milestone.libraries || g->handed_in[0] ||
        (o->file && o->file[0] == '/' && getenv(GR_TIMING_WAITS)))
        return;
    snprintf(g->host.source, sizeof g->host.source, "%s",
             checkout_from_here(o->file ? o->file : g->milestone.lab_source, path));
}

static const char *graded_file(const struct grading *g)
{
    const struct gr_options *o = g->options;
    return o->lib         ? o->lib
           : o->file      ? (g->handed_in[0] ? g->handed_in : o->file)
           : o->reference ? g->milestone.reference_source
                          : g->milestone.lab_source;
}

void gr_source_describe(struct grading *g)
{
    describe_for_findings(g);
    const struct gr_options *o = g->options;
    struct gr_result *r = g->result;
    snprintf(r->source, sizeof r->source, "%s", checkout_relative(graded_file(g)));
    snprintf(r->subject, sizeof r->subject, "%s",
             o->lib         ? "library"
             : o->reference ? "reference"
                            : "submission");
}

void gr_source_take(struct grading *g, const char *path)
{
    enum { MOST_BYTES = 1 << 29 };
    free(g->source);
    g->source = NULL;
    g->result->source_hash[0] = '\0';
    if (file_read(path, MOST_BYTES, &g->source, &g->source_bytes, NULL))
        return;
    sha256_hex(g->source, g->source_bytes, g->result->source_hash);
    if (g->options->lib || g->milestone.libraries || g->source_bytes > GR_SOURCE_MAX_BYTES) {
        free(g->source);
        g->source = NULL;
    }
}

/* Reads the source again. Its version is unknown if the file was saved between reading and
 * compiling. */
static void take_again(struct grading *g, const char *path)
{
    char before[sizeof g->result->source_hash];
    memcpy(before, g->result->source_hash, sizeof before);
    gr_source_take(g, path);
    if (strcmp(before, g->result->source_hash) != 0)
        g->result->source_hash[0] = '\0';
}

/* ---- compiling ------------------------------------------------------------------------------ */

/* Builds the graded file separately. */
static enum st_code build_apart(struct grading *g, struct gr_source_build *to, struct st_error *err)
{
    char header[PATH_MAX], *command;
    path_format(header, sizeof header, "%s/common/%s.h", checkout_root(err),
                g->milestone.exercise->file);
    enum st_code code = gr_make_print("print-lab-command", g->milestone.id, &command, err);
    if (!code)
        code = gr_source_build(to, &g->host.sandbox, graded_file(g), g->milestone.file, header,
                               command, err);
    free(command);
    return code;
}

/* --source */
static enum st_code build_source(struct grading *g, struct st_error *err)
{
    const enum st_code code = build_apart(g, &g->built, err);
    path_format(g->library, sizeof g->library, "%s", g->built.library);
    return code;
}

const char *gr_build_said(struct grading *g)
{
    const bool own = !g->options->lib && !g->options->reference && !g->milestone.libraries;
    struct gr_source_build *again = NULL;
    struct st_error ignored;
    if (own && g->built.built && !g->built.said[0] && !g->milestone.cuda)
        again = calloc(1, sizeof *again);
    if (again && !build_apart(g, again, &ignored))
        memcpy(g->built.said, again->said, sizeof again->said);
    if (again)
        gr_source_build_free(again);
    free(again);
    return g->built.said;
}

/* Builds the lab in its own folder of the checkout. */
static enum st_code build_in_place(struct grading *g, const struct gr_lab_files *lab,
                                   struct st_error *err)
{
    const char *argv[GR_COMMAND_ARGUMENTS + 1];
    char folder[PATH_MAX], *command;
    path_format(folder, sizeof folder, "%.*s", (int)(strrchr(g->library, '/') - g->library),
                g->library);
    enum st_code code = gr_make_print("print-lab", g->milestone.id, &command, err);
    if (!code)
        code = gr_command_split(command, argv, err);
    if (!code)
        code = dir_make(folder, err);
    if (!code)
        code = gr_lab_build(&g->built, &g->host.sandbox, lab, argv, 0, err);
    if (!code)
        code = gr_lab_install(&g->built, &g->host.sandbox, lab, err);
    free(command);
    return code;
}

/* Whether the lab's library is newer than its sources, by make's rule. */
static bool is_current(const char *library, const struct gr_milestone *m, const char *root)
{
    char header[PATH_MAX];
    struct stat own, of[2];
    path_format(header, sizeof header, "%s/common/%s.h", root, m->exercise->file);
    if (stat(library, &own) || stat(m->lab_source, &of[0]) || stat(header, &of[1]))
        return false;
    for (int i = 0; i < 2; i++)
        if (of[i].st_mtim.tv_sec > own.st_mtim.tv_sec ||
            (of[i].st_mtim.tv_sec == own.st_mtim.tv_sec &&
             of[i].st_mtim.tv_nsec > own.st_mtim.tv_nsec))
            return false;
    return true;
}

static enum st_code build_lab(struct grading *g, struct st_error *err)
{
    const struct gr_milestone *m = &g->milestone;
    const char *root = checkout_root(err);
    const struct gr_lab_files lab = {root, checkout_relative(m->lab_source),
                                     checkout_relative(m->lab_library)};
    path_format(g->library, sizeof g->library, "%s", m->lab_library);
    if (is_current(g->library, m, root)) {
        g->built.built = true;
        return ST_OK;
    }
    const enum st_code code = build_in_place(g, &lab, err);
    if (code) {
        const struct st_error why = *err;
        snprintf(err->what, sizeof err->what, "the lab cannot be compiled on this machine: %.150s",
                 why.what);
    }
    return code;
}

/* The hint for a compiler's messages: for the first row whose words are in them. */
static const char *compile_hint(const char *said)
{
    static const struct {
        const char *words, *hint;
    } hints[] = {
        {"__host__ function(",
         "a kernel can call only functions of the device: write __device__ before your own ones, and use min() and max() instead of std::min() and std::max()"},
        {"too much shared data",
         "a kernel can declare at most 48 KB of __shared__ arrays: use smaller tiles, or extern __shared__ memory whose size the launch sets"},
        {"constant data",
         "all __constant__ arrays together can have at most 64 KB: copy larger weights in portions, or read them from global memory"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(said, hints[i].words))
            return hints[i].hint;
    return "fix the first error first: later errors are often its consequences";
}

/* Fails the check, with the reason, if there is no library. */
static void judge_build(const struct gr_source_build *built, const char *source,
                        struct gr_check *check)
{
    char said[1900];
    if (built->built)
        return;
    const bool error = strcmp(built->pattern, "compile_error") == 0;
    gr_check_pattern(check, built->pattern);
    paths_show(said, sizeof said, built->said, source);
    gr_check_set(check, GR_FAIL, "%s%s", error ? "does not compile:\n" : "", said);
    gr_check_hint(check, "%s",
                  error ? compile_hint(said) : "hand in one regular file that compiles in seconds");
}

/* ---- the origin of the library -------------------------------------------------------------- */

/* --lib */
static enum st_code take_library(struct grading *g, struct st_error *err)
{
    if (realpath(g->options->lib, g->library))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "no library to grade");
    st_detail(err, ST_WHERE, "%s", g->options->lib);
    return st_detail(err, ST_HINT, "--lib needs the path of a built libconv.so");
}

/* --reference */
static enum st_code take_reference(struct grading *g, struct st_error *err)
{
    path_format(g->library, sizeof g->library, "%s", g->milestone.reference_library);
    if (file_exists(g->milestone.reference_source))
        return gr_make_reference(&g->milestone, err);
    st_fail(err, ST_NOT_FOUND, "this archive has no reference solution");
    return st_detail(err, ST_WHERE, "%s", g->milestone.reference_source);
}

enum st_code gr_build_check(struct grading *g, struct st_error *err)
{
    const struct gr_options *o = g->options;
    struct gr_check *check = gr_check_add(g, "builds");
    gr_source_take(g, graded_file(g));
    if (o->lib)
        return take_library(g, err);
    if (o->reference)
        return take_reference(g, err);
    if (!o->file && !file_exists(g->milestone.lab_source)) {
        const char *name = strrchr(g->milestone.lab_source, '/') + 1;
        gr_check_set(check, GR_FAIL, "the file %s does not exist", name);
        gr_check_hint(check, "put your solution into labs/%s/%s", g->milestone.folder, name);
        return ST_OK;
    }
    if (g->nothing_handed_in[0]) {
        gr_check_pattern(check, "bad_file");
        gr_check_set(check, GR_FAIL, "%s", g->nothing_handed_in);
        gr_check_hint(check, "hand in the milestone's file under its own name, once");
        return ST_OK;
    }
    const enum st_code code = o->file ? build_source(g, err) : build_lab(g, err);
    if (code)
        return code;
    take_again(g, graded_file(g));
    judge_build(&g->built, g->host.source, check);
    return code;
}

/* ---- loading -------------------------------------------------------------------------------- */

/* Appends the functions that the library exports instead of the entry point. */
static void explain_exports(struct grading *g, struct gr_check *check)
{
    const struct exercise *exercise = g->milestone.exercise;
    char exports[512];
    const bool mangled =
        gr_source_exports(&g->host.sandbox, g->library, exercise->entry, exports, sizeof exports);
    if (!exports[0])
        return;
    gr_check_append(check, "; it exports %s%s", exports, mangled ? ", a function of C++" : "");
    if (mangled)
        gr_check_hint(
            check,
            "write extern \"C\" before it, or include \"%s.h\" and use the parameters of its declaration: %s",
            exercise->file, strchr(exercise->signature, '('));
    else
        gr_check_hint(check, "rename your convolution function to %s", exercise->entry);
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
    enum st_code code = gr_proof_begin(g, err); /* beside all that follows */
    if (!code)
        code = gr_arena_begin(g, err);
    if (!code)
        code = gr_session_start(&g->session, &g->host, g->library, &g->arena, &run, err);
    if (code)
        return code;
    if (run.outcome == GR_NOT_LOADED || run.message[0]) {
        gr_check_pattern(check, "not_loaded");
        gr_check_set(check, GR_FAIL, "%s", run.message);
        gr_check_hint(check, "%s", run.hint);
        if (strstr(run.message, "does not export "))
            explain_exports(g, check);
    } else {
        gr_check_set(check, GR_PASS, "compiles and exports %s", g->milestone.exercise->entry);
        if (g->host.device == RUNNER_ON_GPU) {
            snprintf(g->result->profile, sizeof g->result->profile, "%s", g->session.device_name);
            snprintf(g->result->machine, sizeof g->result->machine, "%s", g->session.device_name);
            snprintf(g->result->timed_on, sizeof g->result->timed_on, "%s", g->session.device_id);
        }
    }
    return ST_OK;
}
