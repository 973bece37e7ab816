/* Workers take blocks in the order of their numbers. A worker runs one block at a time. If this
 * block only spins (it waits for another block), the worker takes more blocks beside it; also if it
 * runs for long, because it may do other work while it waits. If all
 * workers have only spun for a while since the last progress of any of them, the kernel makes no
 * progress. Blocks that get their work from a counter run together in a proof: the first one would
 * do all the work, and would seem to share no sums with others. While the module is translated to
 * native code, the last worker leaves its core to the translator. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/workers.h"

#include "base/clock.h"
#include "base/progress.h"
#include "vgpu/exec/block_work.h"
#include "vgpu/exec/child_work.h"
#include "vgpu/exec/printed.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/translator.h"
#include "vgpu/exec/vg_block.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_RESIDENT = 2048, /* most blocks that a worker holds */
    PATIENT_ROUNDS = 64, /* turns without progress before more blocks are taken */
    PATIENT_BESIDE = 8,  /* ... if there are several already */
    QUIET_ROUNDS = 100,  /* ... by each worker before the kernel counts as stuck */
    HOST_NAP_NS = 200000,
    TRANSLATOR_NAP_NS = 500000,
    SHARING = 7,     /* blocks of a worker that get their work from a counter, in a proof */
    MANY_BLOCKS = 8, /* per worker; if no more blocks are left, leave_core() does not wait */
};

static struct vg_shape *new_shapes(void)
{
    enum { BYTES = VG_SHAPE_PLACES * VG_SHAPES_PER_PLACE * sizeof(struct vg_shape) };
    struct vg_shape *s = aligned_alloc(64, BYTES);
    if (s)
        memset(s, 0, BYTES); /* no access has the mask 0 */
    return s;
}

bool vg_counts_clear(struct vg_worker *w, const struct vg_module *m)
{
    size_t sites = m->ir.site_count + 1, blocks = m->block_count + 1;
    if (sites > w->site_room) {
        free(w->sites);
        w->sites = aligned_alloc(64, (sites * sizeof *w->sites + 63) / 64 * 64);
        free(w->span_edges);
        w->span_edges = malloc((sites + 1) * sizeof *w->span_edges);
        w->site_room = w->sites && w->span_edges ? sites : 0;
    }
    if (blocks > w->block_room) {
        free(w->block_warps);
        free(w->block_threads);
        w->block_warps = malloc(blocks * sizeof *w->block_warps);
        w->block_threads = malloc(blocks * sizeof *w->block_threads);
        w->block_room = w->block_warps && w->block_threads ? blocks : 0;
    }
    if (!w->shapes)
        w->shapes = new_shapes();
    if (!w->site_room || !w->block_room || !w->shapes)
        return false;
    memset(w->sites, 0, sizeof *w->sites * sites);
    memset(w->span_edges, 0, sizeof *w->span_edges * (sites + 1));
    memset(w->block_warps, 0, sizeof *w->block_warps * blocks);
    memset(w->block_threads, 0, sizeof *w->block_threads * blocks);
    return true;
}

/* Takes the next block, or all blocks of the next cluster. @return how many */
static int take_blocks(struct vg_worker *w, struct vg_launch *l,
                       struct vg_block *to[VG_CLUSTER_MOST])
{
    const uint32_t n = l->cluster_blocks;
    const uint64_t number = atomic_fetch_add(&l->next_block, n);
    if (number >= l->blocks || number > atomic_load(&l->fault_block))
        return 0;
    for (uint32_t rank = 0; rank < n; rank++)
        if (!(to[rank] = vg_block_prepare(w, l))) {
            w->no_memory = true;
            atomic_store(&l->fault_block, 0);
            for (; rank-- > 0;)
                vg_block_free(to[rank]);
            return 0;
        }
    to[0]->cluster_room = (struct vg_cluster){.size = n};
    for (uint32_t rank = 0; rank < n; rank++) {
        to[0]->cluster_room.blocks[rank] = to[rank];
        to[rank]->cluster = &to[0]->cluster_room;
    }
    for (uint32_t rank = 0; rank < n; rank++)
        vg_block_start(to[rank], number + rank);
    return (int)n;
}

static void finish_block(struct vg_worker *w, struct vg_block *b)
{
    vg_printed_keep(w, b);
    children_keep(w, b);
    proof_block_end(b);
    vg_progressed(w);
    if (w->device->progress)
        atomic_fetch_add_explicit(&w->device->progress->done, 1, memory_order_relaxed);
    b->next = w->idle;
    w->idle = b;
}

/* Gives every resident block a turn. @param more  becomes 1 if a block ended
 * @return whether any did more than spin. */
static bool turn(struct vg_worker *w, struct vg_block **resident, int *count, int *more)
{
    bool moved = false;
    for (int i = 0; i < *count;) {
        enum vg_block_state state = vg_block_round(resident[i]);
        block_work_add(w, resident[i]);
        const bool is_kept = state == VG_BLOCK_DONE && !vg_cluster_ended(resident[i]->cluster);
        moved |= state != VG_BLOCK_QUIET && !is_kept;
        if (state != VG_BLOCK_DONE || is_kept) { /* its cluster may still use its shared memory */
            i++;
            continue;
        }
        finish_block(w, resident[i]);
        *more = 1;
        memmove(&resident[i], &resident[i + 1], (size_t)(*count - i - 1) * sizeof *resident);
        (*count)--;
    }
    return moved;
}

/* Takes further blocks beside the resident ones. @return whether there were any. */
static bool take_more(struct vg_worker *w, struct vg_launch *l, struct vg_block **resident,
                      int *count, int more)
{
    const int before = *count;
    while (more > 0 && *count + (int)l->cluster_blocks <= MAX_RESIDENT) {
        const int n = take_blocks(w, l, resident + *count);
        if (!n)
            break;
        for (int i = 0; i < n; i++) {
            struct vg_block *const b = resident[*count + i];
            b->is_beside = *count > 0 || n > 1;
            b->race.room = b->is_beside ? RACE_LOG_BESIDE : RACE_LOG;
        }
        *count += n;
        more -= n;
    }
    const bool took = *count > before;
    for (int i = 0; took && i < before; i++)
        resident[i]->is_beside = true;
    return took;
}

/* @return the sum of all workers' progress: if it does not change, nobody makes progress. */
static uint32_t progress_of(const struct vg_device *d)
{
    uint32_t sum = 0;
    for (int i = 0; i < d->worker_count; i++)
        sum += atomic_load(&d->workers[i].progress);
    return sum;
}

/* Records that a worker has spun for long enough since the progress was @p seen. */
static void say_quiet(struct vg_launch *l, uint32_t seen)
{
    unsigned long long said = atomic_load(&l->quiet), now;
    do {
        const uint32_t of = (uint32_t)(said >> 32);
        if ((int32_t)(of - seen) > 0)
            return; /* there was progress meanwhile, and this worker will see it */
        now = of == seen ? said + 1 : (uint64_t)seen << 32 | 1;
    } while (!atomic_compare_exchange_weak(&l->quiet, &said, now));
}

/* @return whether all workers have recorded that they spin since the same progress, so that the
 * kernel makes none. */
static bool all_quiet(struct vg_launch *l)
{
    const uint64_t said = atomic_load(&l->quiet);
    return (uint32_t)(said >> 32) == progress_of(l->device) &&
           (uint32_t)said == (uint32_t)atomic_load(&l->active);
}

/* @return whether the last access of any of this worker's instructions read memory shared with the
 * host. */
static bool reads_host(const struct vg_worker *w, const struct vg_launch *l)
{
    for (uint32_t k = 0; k < l->module->ir.insn_count; k++) {
        const struct ir_insn *in = l->module->insns[k];
        if (!in->site || in->op == IR_ST)
            continue;
        const struct vg_site *s = &w->sites[in->site];
        if (s->span && s->allocation->shared)
            return true;
    }
    return false;
}

/* @return whether the host may still write the value for which all workers spin. If so, leaves the
 * core to the host for a while. */
static bool host_may_write(struct vg_launch *l, uint32_t seen)
{
    const struct vg_device *d = l->device;
    if (!atomic_load(&l->reads_host) || !d->host_waits)
        return false;
    atomic_store(&l->host_waits, d->host_waits(d->host, seen));
    if (atomic_load(&l->host_waits))
        return false;
    nanosleep(&(struct timespec){.tv_nsec = HOST_NAP_NS}, NULL);
    return true;
}

/* Ends the kernel in all blocks of a worker. */
static void end_blocks(struct vg_worker *w, struct vg_block **resident, int *count,
                       bool is_interrupted)
{
    for (int i = 0; i < *count; i++)
        vg_block_no_progress(resident[i], is_interrupted);
    for (int i = 0; i < *count; i++)
        finish_block(w, resident[i]);
    *count = 0;
}

/* Native code is several times faster than the handlers: so the translator gets this worker's core.
 * If a worker only spins, this one continues, since the other may wait for a block that this one
 * would run. */
static void leave_core(const struct vg_worker *w, struct vg_launch *l)
{
    const struct vg_device *d = w->device;
    if (!d->uses_all_cores || w != &d->workers[d->worker_count - 1] || !l->concurrent)
        return;
    const uint64_t many = (uint64_t)d->worker_count * MANY_BLOCKS;
    while (vg_engine_translates(d, l->module) && atomic_load(&l->next_block) + many < l->blocks &&
           !(uint32_t)atomic_load(&l->quiet) &&
           atomic_load(&l->next_block) <= atomic_load(&l->fault_block) &&
           !atomic_load_explicit(&d->interrupt, memory_order_relaxed))
        nanosleep(&(struct timespec){.tv_nsec = TRANSLATOR_NAP_NS}, NULL);
}

static void work(struct vg_worker *w, struct vg_launch *l)
{
    struct vg_block *resident[MAX_RESIDENT];
    int count = 0, patience = PATIENT_ROUNDS, quiet_rounds = 0, more = 1, crowd = 1;
    bool stirred = false;
    uint32_t seen = progress_of(w->device);
    w->used_by = l->number;
    w->no_memory = !vg_counts_clear(w, l->module);
    while (!w->no_memory) {
        if (!count) {
            leave_core(w, l);
            if (!take_more(w, l, resident, &count, 1))
                break;
        }
        const int before = count;
        const bool moved = turn(w, resident, &count, &more);
        if (count < before) {
            patience = count ? PATIENT_BESIDE : PATIENT_ROUNDS;
            crowd = count ? crowd : 1;
        }
        stirred |= moved;
        if (w->drew && count < SHARING)
            take_more(w, l, resident, &count, 1);
        w->drew = false;
        if (atomic_load_explicit(&w->device->interrupt, memory_order_relaxed)) {
            atomic_store(&l->fault_block, 0); /* start no further blocks */
            end_blocks(w, resident, &count, true);
            break;
        }
        const uint32_t now = progress_of(w->device);
        if (now != seen || !count) {
            seen = now;
            quiet_rounds = 0;
            continue;
        }
        if (moved) {
            quiet_rounds = 0;
            if (--patience < 0) {
                patience = PATIENT_BESIDE;
                take_more(w, l, resident, &count, crowd);
                crowd = crowd < MAX_RESIDENT ? 2 * crowd : crowd;
            }
            continue;
        }
        if (take_more(w, l, resident, &count, more)) {
            more *= 2; /* until one ends: each may only move until it waits for the last of all */
            continue;
        }
        sched_yield();
        quiet_rounds++;
        /* Other workers may wait for what this one did before it spun: they check again. */
        if (stirred) {
            const bool alone = progress_of(w->device) == seen;
            vg_progressed(w);
            seen += alone;
        }
        stirred = false;
        if (quiet_rounds == QUIET_ROUNDS) {
            if (reads_host(w, l))
                atomic_store(&l->reads_host, true);
            say_quiet(l, seen);
        }
        if (quiet_rounds >= QUIET_ROUNDS && all_quiet(l)) {
            if (!host_may_write(l, seen))
                end_blocks(w, resident, &count, false);
            vg_progressed(w);
        }
    }
    atomic_fetch_sub(&l->active, 1);
}

static void *worker_main(void *arg)
{
    struct vg_worker *w = arg;
    struct vg_device *d = w->device;
    unsigned seen = 0;
    pthread_mutex_lock(&d->mutex);
    for (;;) {
        while (d->generation == seen && !d->quit)
            pthread_cond_wait(&d->start, &d->mutex);
        if (d->quit)
            break;
        seen = d->generation;
        struct vg_launch *l = d->launch;
        pthread_mutex_unlock(&d->mutex);
        work(w, l);
        pthread_mutex_lock(&d->mutex);
        if (--d->busy == 0)
            pthread_cond_signal(&d->done);
    }
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

static void start_workers(struct vg_device *d)
{
    for (int i = d->started; i < d->worker_count; i++) {
        if (pthread_create(&d->workers[i].thread, NULL, worker_main, &d->workers[i]) != 0) {
            d->worker_count = i; /* fewer cores, same results */
            return;
        }
        d->started = i + 1;
    }
}

void vg_workers_run(struct vg_device *d, struct vg_launch *l)
{
    const bool alone = l->blocks == l->cluster_blocks || d->seed || d->one_core;
    d->one_core = false;
    if (!alone && d->worker_count > 1)
        start_workers(d);
    l->concurrent = !alone && d->worker_count > 1;
    l->begin_s = clock_now_s();
    atomic_store(&l->active, l->concurrent ? d->worker_count : 1);
    for (int i = 0; i < d->worker_count; i++)
        atomic_store(&d->workers[i].progress, 0);
    if (!l->concurrent) {
        work(&d->workers[0], l);
        return;
    }
    pthread_mutex_lock(&d->mutex);
    d->launch = l;
    d->busy = d->worker_count - 1;
    d->generation++;
    pthread_cond_broadcast(&d->start);
    pthread_mutex_unlock(&d->mutex);
    work(&d->workers[0], l);
    pthread_mutex_lock(&d->mutex);
    while (d->busy)
        pthread_cond_wait(&d->done, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
}
