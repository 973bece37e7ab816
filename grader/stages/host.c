/* Chooses where a milestone runs. CPU milestones run on this machine's CPU. GPU milestones run on
 * its GPU, or on the virtual GPU if there is no GPU or if the options request the virtual GPU. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/toolkit.h"
#include "grader/course/lab_make.h"
#include "grader/stages/grading.h"
#include "vgpu/gpus/gpu_profile.h"

#include <stdlib.h>
#include <string.h>

/* The driver's control device exists if and only if a driver is loaded. */
static bool gpu_is_there(void)
{
    return file_exists("/dev/nvidiactl");
}

/* Finds the CUDA Toolkit's libraries for a real GPU. (The virtual GPU's libraries are found first
 * without this.) */
static void find_toolkit_libraries(void)
{
    const char *home = toolkit_find(), *old = getenv("LD_LIBRARY_PATH");
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s/lib64", old ? old : "", old && *old ? ":" : "",
             home ? home : "/usr/local/cuda");
    setenv("LD_LIBRARY_PATH", path, 1);
}

static enum st_code need_program(const char *path, const char *milestone, struct st_error *err)
{
    if (file_exists(path))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "the harness is not built");
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_HINT, "run: make %s", milestone);
    return ST_NOT_FOUND;
}

/* Checks that the virtual GPU has a profile of this name. Does not check a path, which has a '/'. */
static enum st_code need_profile(const char *build, const char *name, struct st_error *err)
{
    char folder[PATH_MAX], path[PATH_MAX], known[200] = "";
    path_format(folder, sizeof folder, "%s/vgpu/profiles", build);
    path_format(path, sizeof path, "%s/%s.yaml", folder, name);
    if (strchr(name, '/') || file_exists(path))
        return ST_OK;
    const int n = vg_profile_names(folder, known, sizeof known);
    if (n <= 0) {
        st_fail(err, ST_NOT_FOUND, "the virtual GPU is not built");
        st_detail(err, ST_WHERE, "%s", folder);
        return st_detail(err, ST_HINT, "run: make vgpu");
    }
    st_fail(err, ST_USAGE, "the virtual GPU does not have this profile");
    st_detail(err, ST_EXPECTED, "%s, or the path of a .yaml file", known);
    return st_detail(err, ST_GOT, "%s", name);
}

/* The library baseline always runs on this machine. */
static enum st_code choose_for_libraries(struct grading *g, const char *build, struct st_error *err)
{
    const struct gr_options *o = g->options;
    if (strcmp(o->device, "auto") != 0 || o->reference || o->lib) {
        st_fail(err, ST_USAGE, "%s runs libraries: its device and lab cannot be chosen",
                g->milestone.id);
        return st_detail(err, ST_HINT, "omit --device, --reference and --lib");
    }
    find_toolkit_libraries();
    snprintf(g->result->device, sizeof g->result->device, "%s",
             gpu_is_there() ? "cpu and gpu" : "cpu");
    snprintf(g->result->source, sizeof g->result->source, "build/library-baseline");
    snprintf(g->result->subject, sizeof g->result->subject, "library");
    char program[PATH_MAX];
    path_format(program, sizeof program, "%s/library-baseline", build);
    return need_program(program, g->milestone.id, err);
}

/* A missing compiler is the machine's fault, not the submission's. */
static enum st_code need_nvcc(struct st_error *err)
{
    const char *home = toolkit_find();
    char program[PATH_MAX];
    if (home && path_format(program, sizeof program, "%s/bin/nvcc", home) && file_exists(program)) {
        const int version = toolkit_version(home);
        if (!version || version >= TOOLKIT_OLDEST)
            return ST_OK;
        st_fail(err, ST_MISSING_TOOL, "the CUDA Toolkit is too old");
        st_detail(err, ST_WHERE, "%s", home);
        st_detail(err, ST_EXPECTED, "CUDA 12.4 or later");
        st_detail(err, ST_GOT, "CUDA %d.%d", version / 1000, version % 1000 / 10);
        return st_detail(err, ST_HINT,
                         "run make setup, or set CUDA_HOME to a newer toolkit's folder");
    }
    st_fail(err, ST_MISSING_TOOL, "GPU milestones need nvcc, which is not installed");
    if (home)
        st_detail(err, ST_WHERE, "%s/bin", home);
    return st_detail(err, ST_HINT, "run make setup, or set CUDA_HOME to the CUDA Toolkit's folder");
}

enum st_code gr_profile_capability(const char *build, const char *name, unsigned *capability,
                                   struct st_error *err)
{
    char folder[PATH_MAX];
    struct vg_profile profile;
    path_format(folder, sizeof folder, "%s/vgpu/profiles", build);
    const enum st_code code = vg_profile_read(&profile, folder, name, err);
    *capability = code ? 0 : (unsigned)(profile.compute_major * 10 + profile.compute_minor);
    return code;
}

/* Checks the compute capability: an older GPU may lack a milestone's instructions. @param found  0:
 * unknown */
static enum st_code need_capability(const struct grading *g, unsigned found, struct st_error *err)
{
    const unsigned needed = g->rubric->compute_capability;
    if (!found || found >= needed)
        return ST_OK;
    st_fail(err, ST_USAGE, "%s needs instructions that this GPU does not have", g->milestone.id);
    st_detail(err, ST_WHERE, "%s", g->result->profile);
    st_detail(err, ST_EXPECTED, "compute capability %u.%u or later", needed / 10, needed % 10);
    st_detail(err, ST_GOT, "%u.%u", found / 10, found % 10);
    return st_detail(err, ST_HINT, "use --device virtual, which is an H200");
}

static enum st_code need_gpu_capability(const struct grading *g, struct st_error *err)
{
    char *text;
    if (!g->rubric->compute_capability)
        return ST_OK;
    enum st_code code = gr_make_print("print-lab-gpu", g->milestone.id, &text, err);
    if (!code)
        code = need_capability(g, (unsigned)strtoul(text, NULL, 10), err);
    free(text);
    return code;
}

static enum st_code need_profile_capability(const struct grading *g, struct st_error *err)
{
    unsigned found;
    if (!g->rubric->compute_capability)
        return ST_OK;
    const enum st_code code = gr_profile_capability(g->host.build, g->host.profile, &found, err);
    return code ? code : need_capability(g, found, err);
}

/* Describes the virtual GPU in the result's device, profile and machine, in the form that captions
 * use. */
static void describe_virtual(struct grading *g)
{
    struct gr_result *r = g->result;
    snprintf(r->device, sizeof r->device, "virtual");
    snprintf(r->profile, sizeof r->profile, "virtual GPU, profile %.40s", g->host.profile);
    snprintf(r->machine, sizeof r->machine, "virtual GPU, profile %.40s, modelled times",
             g->host.profile);
}

enum st_code gr_host_choose(struct grading *g, struct st_error *err)
{
    struct gr_host *host = &g->host;
    struct gr_result *r = g->result;
    const char *build = checkout_build(err), *device = g->options->device;
    bool any = strcmp(device, "auto") == 0;
    host->engine = g->options->engine;
    host->is_brief = gr_is_short(g);
    host->exercise = g->milestone.exercise;
    if (g->milestone.libraries)
        return choose_for_libraries(g, build, err);
    path_format(host->runner, sizeof host->runner, "%s/runner", build);
    path_format(host->build, sizeof host->build, "%s", build);
    enum st_code code = need_program(host->runner, g->milestone.id, err);
    if (code)
        return code;
    if (!g->milestone.cuda) {
        host->device = RUNNER_ON_CPU;
        snprintf(r->device, sizeof r->device, "cpu");
        if (any)
            return ST_OK;
        st_fail(err, ST_USAGE, "%s runs on the CPU", g->milestone.id);
        st_detail(err, ST_WHERE, "--device %s", device);
        return st_detail(err, ST_HINT, "omit --device");
    }
    if (!g->options->lib && (code = need_nvcc(err)))
        return code;
    if (strcmp(device, "gpu") == 0 || (any && gpu_is_there())) {
        host->device = RUNNER_ON_GPU;
        find_toolkit_libraries();
        snprintf(r->device, sizeof r->device, "gpu");
        snprintf(r->profile, sizeof r->profile, "the GPU");
        return need_gpu_capability(g, err);
    }
    host->device = RUNNER_ON_VIRTUAL_GPU;
    snprintf(host->profile, sizeof host->profile, "%s",
             strncmp(device, "virtual:", 8) == 0 ? device + 8 : "h200");
    if ((code = need_profile(build, host->profile, err)))
        return code;
    describe_virtual(g);
    if ((code = need_profile_capability(g, err)))
        return code;
    host->code_store = vg_code_store_make();
    host->progress = progress_share(&host->progress_fd);
    char device_program[PATH_MAX];
    path_format(device_program, sizeof device_program, "%s/vgpu-device", build);
    return need_program(device_program, g->milestone.id, err);
}
