/* Opens and closes a virtual GPU. */
#include "vgpu/exec/cache_sample.h"
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/block_recording.h"
#include "vgpu/exec/settings.h"
#include "vgpu/exec/translator.h"
#include "vgpu/exec/vg_block.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Chooses the fastest handlers that this machine can run. Tests request slower ones with
 * CONVLAB_VGPU_TARGET=base|avx2|avx512. */
static void choose_handlers(struct vg_device *d)
{
    const char *asked = getenv("CONVLAB_VGPU_TARGET");
    d->handlers = &vg_handlers_base;
    d->target = "base";
#ifdef __x86_64__
    /* Each processor that has both also has F16C. */
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (avx2 && !(asked && strcmp(asked, "base") == 0)) {
        d->handlers = &vg_handlers_avx2;
        d->target = "avx2";
        if (avx512 && !(asked && strcmp(asked, "avx2") == 0)) {
            d->handlers = &vg_handlers_avx512;
            d->target = "avx512";
        }
    }
#else
    (void)asked;
#endif
}

enum st_code vg_device_open(struct vg_device **device, const struct vg_profile *profile, int cores,
                            struct st_error *err)
{
    *device = NULL;
    struct vg_device *d = calloc(1, sizeof *d);
    if (!d)
        return st_fail(err, ST_NO_MEMORY,
                       "not enough memory to start the virtual GPU: end other programs");
    d->profile = *profile;
    vg_limits_reset(d);
    d->worker_count = cores > 0 ? cores : parallel_cores();
    d->uses_all_cores = d->worker_count >= parallel_cores();
    d->started = 1;
    d->workers = aligned_alloc(64, (size_t)d->worker_count * sizeof *d->workers);
    if (d->workers)
        memset(d->workers, 0, (size_t)d->worker_count * sizeof *d->workers);
    d->sample = calloc(1, sizeof *d->sample);
    vg_engine_open(d);
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->start, NULL);
    pthread_cond_init(&d->done, NULL);
    enum st_code code =
        d->workers && d->sample
            ? vg_memory_open(&d->memory, profile->global_bytes, err)
            : st_fail(err, ST_NO_MEMORY,
                      "not enough memory to start the virtual GPU: end other programs");
    if (code == ST_OK)
        code = vg_memory_take(&d->memory, 4096, "of the grid barrier", &d->workspace, err);
    if (code != ST_OK) {
        vg_device_close(d);
        return code;
    }
    vg_memory_below(&d->memory, d->workspace)->initialised = true;
    for (int i = 0; i < d->worker_count; i++) {
        d->workers[i].device = d;
        d->workers[i].index = i;
    }
    choose_handlers(d);
    *device = d;
    return ST_OK;
}

static void free_worker(struct vg_worker *w)
{
    while (w->idle) {
        struct vg_block *next = w->idle->next;
        vg_block_free(w->idle);
        w->idle = next;
    }
    while (w->free_frames) {
        struct vg_frame *next = w->free_frames->next_free;
        free(w->free_frames->regs);
        proof_frame_free(w->free_frames);
        free(w->free_frames);
        w->free_frames = next;
    }
    free(w->sites);
    free(w->span_edges);
    free(w->shapes);
    free(w->native_shapes);
    free(w->block_warps);
    free(w->block_threads);
    free(w->findings);
    free(w->printed);
    free(w->children);
}

void vg_device_close(struct vg_device *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->mutex);
    d->quit = true;
    pthread_cond_broadcast(&d->start);
    pthread_mutex_unlock(&d->mutex);
    for (int i = 1; i < d->started; i++)
        pthread_join(d->workers[i].thread, NULL);
    while (d->modules)
        vg_module_unload(d, d->modules);
    vg_contents_drop(d);
    vg_engine_close(d);
    for (int i = 0; d->workers && i < d->worker_count; i++)
        free_worker(&d->workers[i]);
    free(d->workers);
    if (d->sample)
        sample_free(d->sample);
    free(d->sample);
    proof_close(d);
    recorded_free(d);
    vg_memory_close(&d->memory);
    free(d->faults);
    free(d->printed);
    vg_children_free(d->children, d->child_count);
    free(d->retired);
    free(d->conditions);
    pthread_mutex_destroy(&d->mutex);
    pthread_cond_destroy(&d->start);
    pthread_cond_destroy(&d->done);
    free(d);
}

const char *vg_device_instruction_set(const struct vg_device *d)
{
    return d->target;
}

void vg_device_seed(struct vg_device *d, uint64_t seed)
{
    d->seed = seed;
}
