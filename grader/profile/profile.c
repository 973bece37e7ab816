#include "grader/profile/profile.h"

#include "analysis/analysis.h"
#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "grader/profile/profile_files.h"
#include "grader/profile/timed_program.h"
#include "grader/sandbox/box.h"
#include "nn/dataset.h"
#include "nn/network.h"
#include "vgpu/device/picture_page.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LAYERS_MAX = 8,
    ARGUMENTS_MAX = 32,
    LIMIT_S = 60,
    GRACE_S = 10,
    COUNT_LIMIT_S = 60,
    KERNELS_SHOWN = 6,
    NETWORK_BYTES_PER_IMAGE = 1 << 19 /* twice what the largest network needs */
};

/* One run of the program. */
struct run {
    const struct gr_profiling *p;
    size_t images;
    const char *device; /* "cpu", "gpu" or "virtual" */
    double image_s;     /* estimated time per image; 0: unknown */
    double start_s;     /* estimated time before the first image, for example for translation */
    int status;
    char said[512];
    struct cost cost;
    double op_time_s[LAYERS_MAX];
    size_t layers;
    double correctness;               /* negative: not printed */
    struct progress_shared *progress; /* the virtual GPU's progress, or NULL */
    int progress_fd;
};

static void take_line(void *context, const char *line)
{
    struct run *run = context;
    const bool copies = run->p->exercise && run->p->exercise->host_tensors;
    if (run->layers < LAYERS_MAX && sscanf(line, copies ? "Layer Time: %lf" : "Op Time: %lf",
                                           &run->op_time_s[run->layers]) == 1)
        run->layers++;
    sscanf(line, "Correctness: %lf", &run->correctness);
}

/* A command line that is being made. */
struct command {
    const char *argument[ARGUMENTS_MAX + 1];
    size_t n;
};

static void add(struct command *c, const char *argument)
{
    if (c->n < ARGUMENTS_MAX)
        c->argument[c->n++] = argument;
}

static void add_option(struct command *c, const char *option, const char *value)
{
    add(c, option);
    add(c, value);
}

/* The paths and numbers to which a command line points. */
struct names {
    char boxed[PATH_MAX], program[PATH_MAX], vprof[PATH_MAX], trace[PATH_MAX], ncu[PATH_MAX],
        counters[PATH_MAX], recordings[PATH_MAX], summary[PATH_MAX], time[PATH_MAX],
        model[PATH_MAX], images[24], limit[24], device[128], progress[16];
};

/* The value of --model: a name unchanged; a file's path made absolute, so that it is valid in every
 * folder. */
static const char *model_name(const struct gr_profiling *p, char to[PATH_MAX])
{
    char folder[PATH_MAX], name[256], file[PATH_MAX], public[PATH_MAX];
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    path_format(public, sizeof public, "%s/data/models", root ? root : "");
    if (!nn_model_place(p->model, folder, name, &ignored) && strcmp(folder, public) != 0 &&
        path_format(file, sizeof file, "%s/%s.safetensors", folder, name) && realpath(file, to))
        return to;
    path_format(to, PATH_MAX, "%s", p->model);
    return to;
}

static void name_all(struct names *n, const struct run *run)
{
    const struct gr_profiling *p = run->p;
    path_format(n->program, PATH_MAX, "%s/%s", p->build,
                p->library ? "runner" : "library-baseline");
    path_format(n->boxed, PATH_MAX, "%s/boxed", p->build);
    path_format(n->vprof, PATH_MAX, "%s/vprof", p->build);
    path_format(n->trace, PATH_MAX, "%s/trace-%zu.tsv", p->folder, run->images);
    path_format(n->ncu, PATH_MAX, "%s/ncu-%zu.tsv", p->folder, run->images);
    path_format(n->counters, PATH_MAX, "%s/counters-%zu.tsv", p->folder, run->images);
    path_format(n->recordings, PATH_MAX, "%s/run-%zu.json", p->folder, run->images);
    path_format(n->summary, PATH_MAX, "%s/summary-%zu.txt", p->folder, run->images);
    /* m0 runs on both devices: the CPU's time is kept next to the GPU's. */
    path_format(n->time, PATH_MAX, "%s/time-%s%zu.txt", p->folder,
                !p->library && strcmp(run->device, "cpu") == 0 ? "cpu-" : "", run->images);
    model_name(p, n->model);
    snprintf(n->images, sizeof n->images, "%zu", run->images);
    snprintf(n->limit, sizeof n->limit, "%zu", LIMIT_S + run->images);
    snprintf(n->progress, sizeof n->progress, "%d", run->progress_fd);
    if (strcmp(run->device, "virtual") == 0)
        snprintf(n->device, sizeof n->device, "virtual:%s", p->gpu);
    else
        snprintf(n->device, sizeof n->device, "%s", run->device);
}

static bool is_boxed(const struct run *run)
{
    return run->p->library && run->p->sandboxed;
}

static void add_program(struct command *c, const struct names *n, const struct run *run)
{
    add(c, n->program);
    if (run->p->library)
        add_option(c, "--lib", run->p->library);
    if (run->p->library && run->p->exercise)
        add_option(c, "--exercise", run->p->exercise->name);
    add_option(c, "--on", run->device);
    add_option(c, "--model", n->model);
    add_option(c, "--images", n->images);
}

static void add_profiler(struct command *c, const struct names *n, const struct run *run)
{
    add(c, n->vprof);
    add(c, "-f");
    add(c, "-s");
    add_option(c, "-o", n->trace);
    add_option(c, "--log-file", n->summary);
    add_option(c, "--device", n->device);
    add_option(c, "--timeout", n->limit);
    if (is_boxed(run))
        add_option(c, "--wrapper", n->boxed);
    if (strcmp(run->device, "virtual") == 0) {
        if (run->p->engine)
            add_option(c, "--engine", run->p->engine);
        add_option(c, "--counters", n->counters);
        if (run->images == run->p->images[run->p->sizes - 1])
            add_option(c, "--recordings", n->recordings);
        add_option(c, "--time", n->time);
        if (run->progress)
            add_option(c, "--progress", n->progress);
    }
}

static enum st_code execute(struct run *run, const struct command *c, struct st_error *err)
{
    progress_begin("profiling %zu images", run->images);
    progress_follow(run->progress, "blocks", true);
    progress_expect(run->image_s * (double)run->images + run->start_s);
    if (run->progress)
        fcntl(run->progress_fd, F_SETFD, 0); /* the profiler inherits it, the program does not */
    run->layers = 0;
    run->correctness = -1;
    /* The profiler itself ends a program before this limit, and prints the record. */
    enum st_code code = gr_timed_program(c->argument, (unsigned)(LIMIT_S + run->images + GRACE_S),
                                         take_line, run, &run->cost, &run->status, run->said, err);
    if (run->progress)
        fcntl(run->progress_fd, F_SETFD, FD_CLOEXEC);
    progress_clear();
    if (run->image_s > 0)
        run->start_s = fmax(0, run->cost.elapsed_s - run->image_s * (double)run->images);
    else
        run->image_s = run->cost.elapsed_s / (double)run->images;
    return code;
}

/* Lists the files that the runner needs, for boxed. */
static void show_in_box(const struct gr_profiling *p, size_t most_images)
{
    char shown[8 * PATH_MAX], model[PATH_MAX], memory[24];
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    snprintf(
        shown, sizeof shown,
        "%s/runner:%s/shared:%s/vgpu/libcudart.so.13:%s/vgpu/libcudart.so.12:%s:%s/data/models:"
        "%s/common/conv.h:%s:%s",
        p->build, p->build, p->build, p->build, p->library, root ? root : "", root ? root : "",
        nn_dataset_folder(), model_name(p, model));
    setenv("CONVLAB_BOX_SHOW", shown, 1);
    if (p->device == RUNNER_ON_GPU) { /* plus the driver's memory */
        setenv("CONVLAB_BOX_GPU", "1", 1);
        unsetenv("CONVLAB_BOX_MEMORY");
    } else {
        unsetenv("CONVLAB_BOX_GPU");
        snprintf(memory, sizeof memory, "%zu",
                 gr_box_memory_limit() + most_images * NETWORK_BYTES_PER_IMAGE);
        setenv("CONVLAB_BOX_MEMORY", memory, 1);
    }
}

/* ---- the parts of a profile ----------------------------------------------------------------- */

/* The reason why a run gave no result: its last line, without the program's name. */
static const char *reason(const struct run *run, char to[640])
{
    const char *text = strchr(run->said, ' ');
    if (run->said[0])
        snprintf(to, 640, "%s (exit status %d)", text ? text + 1 : run->said, run->status);
    else if (run->status > 128 && run->status < 128 + NSIG)
        snprintf(to, 640, "the program was ended by signal %d (%s)", run->status - 128,
                 strsignal(run->status - 128));
    else
        snprintf(to, 640, "the program ended with status %d and no message", run->status);
    return to;
}

static enum st_code time_run(struct run *run, struct pf_tables *tables, struct st_error *err)
{
    struct names names;
    struct command command = {.n = 0};
    char why[640];
    name_all(&names, run);
    if (is_boxed(run))
        add(&command, names.boxed);
    add_program(&command, &names, run);
    enum st_code code = execute(run, &command, err);
    if (!code && run->status == 0)
        code = cost_write(names.time, &run->cost, err);
    if (!code)
        pf_part(tables, run->images, run->device, "time", run->status ? reason(run, why) : NULL);
    return code;
}

/* Reads ncu's counters from a separate run, if there was one. */
static enum st_code take_counters(struct an_analysis *analysis, const struct names *names,
                                  const char *profiles, struct st_error *err)
{
    struct tr_trace trace;
    struct an_analysis counted;
    if (!file_exists(names->ncu))
        return ST_OK;
    enum st_code code = tr_read(names->ncu, &trace, err);
    if (code)
        return code;
    code = an_analyse(&counted, &trace, profiles, NULL, NULL, err);
    if (!code)
        code = an_add_counters(analysis, &counted, err);
    an_free(&counted);
    tr_free(&trace);
    return code;
}

/* A kernel whose running block a page shows. */
struct pictured {
    struct pf_tables *tables;
    const struct an_analysis *analysis;
    size_t images;
};

static void note_picture(void *context, const char *symbol, const char *name)
{
    const struct pictured *p = context;
    for (size_t i = 0; i < p->analysis->activities.n; i++) {
        const struct tr_row *row = p->analysis->activities.group[i].longest;
        if (row->kind == TR_KERNEL && strcmp(row->symbol, symbol) == 0)
            pf_picture(p->tables, p->images, row->name, name);
    }
}

/* Finds the convolutions of the network that the program runs. @return their number */
static size_t find_layers(const struct run *run, struct conv_shape layers[NN_MAX_CONVS])
{
    char folder[PATH_MAX], name[256];
    struct nn_network net = {0};
    struct st_error ignored;
    if (nn_model_place(run->p->model, folder, name, &ignored) ||
        nn_network_load(&net, folder, name, &ignored))
        return 0;
    const size_t n = (size_t)net.convs;
    for (size_t i = 0; i < n; i++) {
        layers[i] = net.conv[i];
        layers[i].B = (int)run->images;
    }
    nn_network_free(&net);
    return n;
}

/* Makes pages that show a running block of each kernel, at the largest size. They are optional. */
static void make_pictures(const struct run *run, const struct names *names,
                          const struct an_analysis *analysis, struct pf_tables *tables)
{
    char page[PATH_MAX];
    struct st_error ignored;
    struct pictured context = {tables, analysis, run->images};
    struct conv_shape layers[NN_MAX_CONVS];
    const struct picture_source source = {run->p->source_name ? run->p->source_name : "",
                                          run->p->source ? run->p->source : "", layers,
                                          find_layers(run, layers)};
    const struct picture_listener listener = {note_picture, &context};
    if (!file_exists(names->recordings))
        return;
    if (path_format(page, sizeof page, "%s/run.html", run->p->folder))
        picture_pages_write(page, names->recordings, &source, &listener, &ignored);
    unlink(names->recordings);
}

/* @param uncounted  the reason why counters are missing; "": they are not requested */
static enum st_code analyse(struct run *run, const struct names *names, struct pf_tables *tables,
                            bool print, const char *uncounted, struct st_error *err)
{
    char profiles[PATH_MAX];
    struct tr_trace trace;
    struct an_analysis analysis;
    const struct an_source source = {run->p->source_name ? run->p->source_name : "",
                                     run->p->source ? run->p->source : ""};
    path_format(profiles, PATH_MAX, "%s/vgpu/profiles", run->p->build);
    enum st_code code = tr_read(names->trace, &trace, err);
    if (code)
        return code;
    code = an_analyse(&analysis, &trace, profiles,
                      file_exists(names->counters) ? names->counters : NULL, &source, err);
    if (!code)
        code = take_counters(&analysis, names, profiles, err);
    if (!code && uncounted[0])
        pf_part(tables, run->images, run->device, "counters",
                analysis.launches.n && analysis.launches.group[0].has_terms ? NULL : uncounted);
    if (!code) {
        an_kernels_tsv(tables->table[PF_KERNELS].f, &analysis, run->images);
        an_calls_tsv(tables->table[PF_CALLS].f, &analysis, run->images);
        an_analysis_tsv(tables->table[PF_ANALYSIS].f, &analysis, run->images);
        an_resources_tsv(tables->table[PF_RESOURCES].f, &analysis, run->images);
        an_lines_tsv(tables->table[PF_LINES].f, &analysis, run->images);
        make_pictures(run, names, &analysis, tables);
    }
    if (!code && print) {
        char size[EXERCISE_TEXT];
        fprintf(
            run->p->out, "\nProfile of %s%s:\n",
            exercise_size(run->p->exercise ? run->p->exercise : exercise_at(0), run->images, size),
            strcmp(run->device, "virtual") == 0 ? " (times are modelled)" : "");
        an_print(run->p->out, &analysis, KERNELS_SHOWN);
    }
    an_free(&analysis);
    tr_free(&trace);
    return code;
}

/* Runs the program again under ncu, to find the limiters of its kernels. This is optional. */
static enum st_code count_run(const struct run *traced, const struct names *names, char why[640],
                              struct st_error *err)
{
    struct run run = *traced;      /* the times of this run are not kept */
    run.image_s = run.start_s = 0; /* unknown, since ncu repeats each kernel about forty times */
    struct command command = {.n = 0};
    char limit[24];
    add(&command, names->vprof);
    add(&command, "-f");
    add(&command, "--analysis");
    add_option(&command, "-o", names->ncu);
    add_option(&command, "--log-file", "/dev/null");
    add_option(&command, "--device", names->device);
    /* The limit does not depend on the number of images, because ncu saves and restores memory
     * about forty times per kernel. */
    snprintf(limit, sizeof limit, "%d", COUNT_LIMIT_S);
    add_option(&command, "--timeout", limit);
    if (is_boxed(&run))
        add_option(&command, "--wrapper", names->boxed);
    add_program(&command, names, &run);
    enum st_code code = execute(&run, &command, err);
    snprintf(why, 640, "ncu returned no counters");
    if (!code && (run.status || run.said[0]))
        reason(&run, why);
    return code;
}

/* Runs the program under the profiler. The run's cost and printed times are kept only on the
 * virtual GPU, where times are modelled. @param print  whether to print the analysis */
static enum st_code trace_run(struct run *timed, struct pf_tables *tables, bool print,
                              struct st_error *err)
{
    const bool is_virtual = strcmp(timed->device, "virtual") == 0;
    struct run traced = *timed, *run = is_virtual ? timed : &traced;
    struct names names;
    struct command command = {.n = 0};
    char why[640];
    name_all(&names, run);
    add_profiler(&command, &names, run);
    add_program(&command, &names, run);
    enum st_code code = execute(run, &command, err);
    if (code)
        return code;
    const char *absent = run->status ? reason(run, why) : NULL;
    const bool seen = file_exists(names.trace);
    pf_part(tables, run->images, run->device, "trace", absent);
    if (is_virtual)
        pf_part(tables, run->images, run->device, "time", file_exists(names.time) ? NULL : absent);
    pf_part(tables, run->images, run->device, "lines",
            is_virtual ? absent : "only the virtual GPU counts by source line");
    why[0] = '\0';
    if (seen && !is_virtual && run->status == 0)
        code = count_run(run, &names, why, err);
    return seen && !code ? analyse(run, &names, tables, print, why, err) : code;
}

static void no_trace(const struct run *run, struct pf_tables *tables, const char *why)
{
    pf_part(tables, run->images, run->device, "trace", why);
    pf_part(tables, run->images, run->device, "lines", why);
}

/* Profiles one device at one size. On the virtual GPU, one run gives everything; on other devices,
 * times are measured in a run without the profiler. */
static enum st_code profile_on(struct run *run, struct pf_tables *tables, struct st_error *err)
{
    const bool last = run->images == run->p->images[run->p->sizes - 1];
    const bool is_virtual = strcmp(run->device, "virtual") == 0;
    char why[640];
    enum st_code code = is_virtual ? ST_OK : time_run(run, tables, err);
    if (!code && strcmp(run->device, "cpu") == 0)
        no_trace(run, tables,
                 "a program on the CPU has no kernels and no calls of the CUDA runtime");
    else if (!code && run->status)
        no_trace(run, tables, reason(run, why));
    else if (!code)
        code = trace_run(run, tables, last, err);
    if (!code)
        pf_layers(tables, run->images, run->device, run->op_time_s, run->layers,
                  run->cost.elapsed_s, run->correctness);
    return code;
}

enum st_code gr_profile_run(const struct gr_profiling *p, struct st_error *err)
{
    static const char *const names[] = {
        [RUNNER_ON_CPU] = "cpu", [RUNNER_ON_GPU] = "gpu", [RUNNER_ON_VIRTUAL_GPU] = "virtual"};
    struct pf_tables tables;
    struct run run = {.image_s = p->image_s};
    enum st_code code = pf_open(&tables, p->folder, err);
    if (p->library && p->device == RUNNER_ON_VIRTUAL_GPU)
        run.progress = progress_share(&run.progress_fd);
    if (!code && p->source && p->source[0])
        code = pf_source(p->folder, p->source, err);
    if (p->library)
        show_in_box(p, p->sizes ? p->images[p->sizes - 1] : 0);
    for (size_t i = 0; i < p->sizes && !code; i++) {
        run = (struct run){.p = p,
                           .images = p->images[i],
                           .device = p->library ? names[p->device] : "cpu",
                           .image_s = run.image_s,
                           .start_s = run.start_s,
                           .progress = run.progress,
                           .progress_fd = run.progress_fd};
        code = profile_on(&run, &tables, err);
        if (p->library || code)
            continue;
        run = (struct run){.p = p, .images = p->images[i], .device = "gpu"};
        code = profile_on(&run, &tables, err);
        run.image_s = run.start_s = 0; /* the CPU's times differ */
    }
    progress_unshare(run.progress, &run.progress_fd);
    return pf_close(&tables, code, err);
}

void gr_profile_drop(const char *folder)
{
    pf_remove(folder);
}
