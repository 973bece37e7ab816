#include "grader/class/places.h"

#include "base/files.h"
#include "base/parallel.h"
#include "grader/class/class_options.h"
#include "grader/course/machine.h"
#include "grader/place/turn.h"
#include "base/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MANY_IMAGES = 1000 };
#define VIRTUAL_GRADING_BYTES ((size_t)6 << 30) /* for 10000 images */
#define CPU_GRADING_BYTES     ((size_t)2600 << 20)

/* ---- resources ------------------------------------------------------------------------------ */

/* Whether GPU milestones run on a real GPU; see gr_host_choose(). */
static bool uses_gpu(const struct cl_options *o)
{
    if (o->asked.device && strcmp(o->asked.device, "auto") != 0)
        return strcmp(o->asked.device, "gpu") == 0;
    return file_exists("/dev/nvidiactl");
}

static bool has_kind(const struct cl_options *o, bool cuda)
{
    for (size_t i = 0; i < o->milestones; i++)
        if (hi_file_is_cuda(o->milestone[i].file) == cuda)
            return true;
    return false;
}

/* The memory that a grading of more than 1000 images needs; 0 if there are no such gradings, or if
 * only one runs at a time. The virtual GPU keeps a copy of the tensors in addition to the
 * grader's. */
static size_t large_grading_bytes(const struct cl_options *o)
{
    size_t most = 0;
    for (size_t i = 0; i < o->milestones; i++) {
        const struct gr_options one = cl_options_of(o, i);
        const bool cuda = hi_file_is_cuda(o->milestone[i].file);
        const size_t bytes = cuda ? VIRTUAL_GRADING_BYTES : CPU_GRADING_BYTES;
        const bool alone = cuda ? uses_gpu(o) : o->cpu_times;
        if (one.images[one.sizes - 1] > MANY_IMAGES && !alone && bytes > most)
            most = bytes;
    }
    return most;
}

static size_t choose_jobs(const struct cl_options *o)
{
    const size_t cores = (size_t)parallel_cores(), each = large_grading_bytes(o);
    if (o->jobs || !each)
        return o->jobs ? o->jobs : cores;
    const size_t room = gr_memory_available_bytes() / each;
    return room < 1 ? 1 : room < cores ? room : cores;
}

static void find_gpus(struct gr_gpus *gpus)
{
    const char *const argv[] = {"nvidia-smi", "-L", NULL};
    const struct process_options options = {.argv = argv, .output_bytes = 1 << 16};
    struct process_end said;
    struct st_error ignored;
    const bool listed = !process_run(&options, &said, &ignored) && said.exit_status == 0 &&
                        strncmp(said.output, "GPU ", 4) == 0;
    gr_gpus_find(gpus, listed ? said.output : NULL, getenv("CUDA_VISIBLE_DEVICES"));
    free(said.output);
}

static enum st_code find_cores(struct cl_places *p, const struct cl_options *o,
                               struct st_error *err)
{
    cpu_set_t all;
    char list[64];
    if (sched_getaffinity(0, sizeof all, &all))
        return st_fail_errno(err, errno, "cannot determine the cores of this machine");
    p->brief = !o->timing_cores && !o->cpu_times;
    if (p->brief || (!o->timing_cores && (o->quick || p->jobs == 1)))
        return ST_OK;
    p->cores_apart = gr_cores_split(&all, "/sys/devices/system/cpu", o->timing_cores, &p->cores);
    p->cpu_alone = !p->cores_apart;
    if (p->cores_apart || !o->timing_cores)
        return ST_OK;
    st_fail(err, ST_USAGE, "no core is left for untimed work");
    st_detail(err, ST_WHERE, "--timing-cores %zu", o->timing_cores);
    return st_detail(err, ST_GOT, "cores %s", gr_cores_text(&all, list, sizeof list));
}

enum st_code cl_places_find(struct cl_places *p, const struct cl_options *o, struct st_error *err)
{
    char list[128];
    *p = (struct cl_places){.jobs = choose_jobs(o)};
    if (has_kind(o, true) && uses_gpu(o))
        find_gpus(&p->gpus);
    enum st_code code = has_kind(o, false) ? find_cores(p, o, err) : ST_OK;
    for (size_t i = 0; i < p->gpus.n; i++)
        printf("Measuring times on GPU %s\n", p->gpus.id[i]);
    if (p->cores_apart)
        printf("Measuring CPU times on cores %s, which nothing else uses\n",
               gr_cores_text(&p->cores.timing, list, sizeof list));
    return code;
}

/* Tasks with separate cores, which Slurm assigns, do not disturb each other. */
void cl_places_find_task(struct cl_places *p, const struct cl_options *o, const char *source)
{
    *p = (struct cl_places){0};
    if (hi_file_is_cuda(source) && uses_gpu(o))
        find_gpus(&p->gpus);
    p->brief = !o->cpu_times;
    p->cpu_alone =
        o->cpu_times && !o->quick && parallel_cores() == (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- a grading's place ---------------------------------------------------------------------- */

static void lock_path(char path[PATH_MAX], const char *of)
{
    const char *folder = getenv("TMPDIR");
    path_format(path, PATH_MAX, "%s/convlab-timing-%u-%s.lock", folder && *folder ? folder : "/tmp",
                (unsigned)getuid(), of);
}

void cl_place_choose(struct cl_places *p, const struct cl_options *o, const char *source,
                     struct cl_place *place)
{
    *place = (struct cl_place){
        .gpu = -1, .brief = p->brief, .cores_apart = p->cores_apart, .cores = p->cores};
    if (p->cpu_alone)
        lock_path(place->share, "work");
    if (!hi_file_is_cuda(source) || !uses_gpu(o)) {
        lock_path(place->lock, "cpu");
        return;
    }
    lock_path(place->lock, "gpu");
    for (size_t i = 0; i < p->gpus.n; i++)
        if (place->gpu < 0 || p->running[i] < p->running[place->gpu])
            place->gpu = (int)i;
    if (place->gpu < 0)
        return;
    p->running[place->gpu]++;
    snprintf(place->gpu_id, sizeof place->gpu_id, "%s", p->gpus.id[place->gpu]);
    lock_path(place->lock, place->gpu_id);
}

void cl_place_leave(struct cl_places *p, const struct cl_place *place)
{
    if (place->gpu >= 0)
        p->running[place->gpu]--;
}

void cl_place_enter(const struct cl_place *place, const char *files)
{
    char temporary[PATH_MAX], list[256];
    setenv(GR_TIMING_LOCK, place->lock, 1);
    unsetenv(GR_TIMING_SHARE);
    unsetenv(GR_TIMING_CORES);
    unsetenv(GR_TIMING_BRIEF);
    if (place->brief)
        setenv(GR_TIMING_BRIEF, "1", 1);
    if (place->share[0])
        setenv(GR_TIMING_SHARE, place->share, 1);
    if (place->cores_apart) {
        setenv(GR_TIMING_CORES, gr_cores_text(&place->cores.timing, list, sizeof list), 1);
        sched_setaffinity(0, sizeof place->cores.others, &place->cores.others);
    }
    if (place->gpu_id[0])
        setenv("CUDA_VISIBLE_DEVICES", place->gpu_id, 1);
    path_format(temporary, sizeof temporary, "%s/tmp", files);
    setenv("TMPDIR", temporary, 1);
}
