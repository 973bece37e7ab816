/* A block: its warps take turns, each until it has to wait. If all wait for something that cannot
 * happen, this is a finding. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/vg_block.h"

#include "vgpu/exec/block_order.h"
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/cache_sample.h"
#include "vgpu/exec/child_races.h"
#include "vgpu/exec/child_work.h"
#include "vgpu/exec/distributed.h"
#include "vgpu/exec/endless_loop.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/fragments.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/unset_copies.h"
#include "vgpu/exec/unset_registers.h"
#include "vgpu/exec/block_recording.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- no warp can continue -------------------------------------------------------------------- */

/* @return whether a lane can run: in a block without progress it only repeats a loop. */
static bool is_ready(const struct vg_warp *w, int lane)
{
    for (int k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].mask >> lane & 1)
            return w->fragments[k].state == FRAGMENT_READY;
    return false;
}

/* Describes where a thread that is missing at a barrier is instead. */
static void describe_missing(struct vg_block *block, int barrier, char *to, size_t room)
{
    char at[300];
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct vg_warp *w = &block->warps[i];
        uint32_t here = 0;
        for (int k = 0; k < w->fragment_count; k++)
            if (w->fragments[k].state == FRAGMENT_BARRIER && w->fragments[k].barrier == barrier)
                here |= w->fragments[k].mask;
        uint32_t missing = w->alive & ~here;
        if (!missing)
            continue;
        const int lane = __builtin_ctz(missing);
        const struct vg_dim t = vg_place(block->launch->block, i * VG_LANES + (uint32_t)lane);
        snprintf(to, room, "; thread (%u,%u,%u) did not reach it: it %s %s", t.x, t.y, t.z,
                 is_ready(w, lane) ? "does not leave a loop at" : "waits at",
                 vg_wait_place(w, missing, at, sizeof at));
        return;
    }
    to[0] = '\0';
}

/* Reports threads that wait at a barrier which other threads will not reach. @return whether there
 * are any. */
static bool report_barrier(struct vg_block *block)
{
    for (uint32_t i = 0; i < block->warp_count && !block->stop; i++) {
        struct vg_warp *w = &block->warps[i];
        for (int k = 0; k < w->fragment_count; k++) {
            struct vg_fragment *f = &w->fragments[k];
            if (f->state != FRAGMENT_BARRIER)
                continue;
            char missing[400];
            struct vg_barrier *b = &block->barriers[f->barrier];
            describe_missing(block, f->barrier, missing, sizeof missing);
            vg_find(w, f->pc, VG_FAULT_BARRIER_DIVERGENCE, __builtin_ctz(f->mask), 0, 0, false,
                    "%u of %u threads reached the barrier%s", b->arrived,
                    b->expected ? b->expected : block->alive_threads, missing);
            return true;
        }
    }
    return false;
}

/* Tries to end a wait when all warps wait. @return whether a warp can continue. */
static bool resolve_stuck(struct vg_block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (vg_warp_unstick(&block->warps[i]))
            return true;
    if (report_barrier(block) || vg_cluster_report_barrier(block))
        return false;
    if (!block->stop)
        vg_find(&block->warps[0], block->launch->kernel->function->insns, VG_FAULT_NO_PROGRESS, 0,
                0, 0, false, "no thread of the block can continue");
    return false;
}

/* Reports the loop of the first warp that can run. @return whether there is one. */
static bool report_loop(struct vg_block *block, bool is_interrupted)
{
    const char *host = atomic_load(&block->launch->host_waits);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct vg_warp *w = &block->warps[i];
        for (int k = 0; k < w->fragment_count; k++)
            if (w->fragments[k].state == FRAGMENT_READY) {
                const int lane = __builtin_ctz(w->fragments[k].mask);
                char text[ENDLESS_LOOP_CHARS];
                const struct ir_insn *loop = endless_loop_find(w, k, text);
                vg_find(w, loop, VG_FAULT_NO_PROGRESS, lane, 0, 0, false, "this loop %s: it %s%s%s",
                        is_interrupted ? "did not end within its time limit" : "does not end",
                        text[0] ? text : "waits for a value that no thread changes",
                        host ? ", nor the host, which waits for the kernel in " : "",
                        host ? host : "");
                return true;
            }
    }
    return false;
}

void vg_block_no_progress(struct vg_block *block, bool is_interrupted)
{
    /* At the time limit other threads still run, so those at a barrier wait rightly. */
    if (is_interrupted && report_loop(block, is_interrupted))
        return;
    if (report_barrier(block))
        return;
    if (!vg_cluster_can_run(block) && vg_cluster_report_barrier(block))
        return;
    report_loop(block, is_interrupted);
}

/* ---- running --------------------------------------------------------------------------------- */

enum vg_block_state vg_block_round(struct vg_block *block)
{
    bool moved = false, ready = false;
    for (uint32_t i = 0, n = block->warp_count; i < n && !block->stop; i++) {
        uint32_t turn = block->warps_backwards ? n - 1 - i : i;
        struct vg_warp *w = &block->warps[(turn + block->first_warp) % n];
        if (!w->fragment_count)
            continue;
        moved |= vg_warp_run(w);
    }
    if (block->stop || !block->alive_threads)
        return VG_BLOCK_DONE;
    for (uint32_t i = 0; i < block->warp_count && !ready; i++)
        for (int k = 0; k < block->warps[i].fragment_count; k++)
            ready |= block->warps[i].fragments[k].state == FRAGMENT_READY;
    if (!ready && vg_cluster_can_run(block))
        return moved ? VG_BLOCK_MOVED : VG_BLOCK_QUIET;
    if (!ready && !resolve_stuck(block))
        return VG_BLOCK_DONE;
    return moved || !ready ? VG_BLOCK_MOVED : VG_BLOCK_QUIET;
}

void vg_block_start(struct vg_block *block, uint64_t number)
{
    struct vg_launch *launch = block->launch;
    block->number = number;
    if (launch->seed) {
        uint64_t r = vg_scramble(launch->seed ^ number);
        block->first_warp = (uint32_t)(r % launch->warps);
        block->warps_backwards = r >> 63;
    } else {
        block->first_warp = 0;
        block->warps_backwards = false;
    }
    block->rank = (uint32_t)(number % launch->cluster_blocks);
    block->place = vg_block_place(launch, number, block->id);
    block->alive_threads = launch->threads;
    block->absent = 0;
    block->stop = false;
    block->has_copies = block->is_read_only = block->is_complete = false;
    block->unset_copy = NULL;
    block->reached = 0;
    bulk_block_start(block);
    for (int i = 0; i < VG_BARRIERS; i++)
        block->barriers[i] = (struct vg_barrier){.red_all = 1};
    block->awaited = 0;
    race_reset(&block->race);
    child_work_reset(block);
    block->race.keeps_log = launch->cluster_blocks > 1 || launch->reads_async;
    block->started_at = block->race.epoch;
    distributed_start(block);
    /* Unwritten memory reads as zeros, not as this core's last block left it. */
    if (launch->shared_bytes) {
        memset(block->shared, 0, launch->shared_bytes);
        memset(block->shared_set, 0, launch->shared_bytes / 4 + 1);
    }
    if (launch->module->has_reserved_shared)
        memset(block->shared_set + launch->reserved_start / 4, 0x0f, VG_RESERVED_SHARED / 4);
    struct sample_warp *sample = sample_of_block(launch->device->sample, block->place);
    const bool recorded = recorded_block(block);
    const bool watched = launch->grid_races || child_watch_applies(block);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct vg_warp *w = &block->warps[i];
        uint32_t lanes = launch->threads - i * VG_LANES;
        w->sample = sample ? &sample[i] : NULL;
        w->recorded = recorded;
        w->watched = watched;
        w->copy_count = 0;
        w->racing_stores = 0;
        memset(w->groups, 0, sizeof w->groups);
        w->announced = w->opened = 0;
        w->fenced = (struct vg_moment){0};
        w->products = w->product_group_count = 0;
        w->alive = lanes >= VG_LANES ? VG_FULL : (1u << lanes) - 1;
        w->entry->local_base = 0;
        w->entry->local_top = (uint32_t)launch->kernel->function->local_bytes;
        vg_local_clear(w, w->alive, 0, w->entry->local_top);
        unset_registers_clear(launch->kernel, w->entry);
        vg_warp_start(w, launch->kernel->function->insns);
        if (launch->is_first && number == 0 && w->index == 0)
            unset_local_start(w, w->entry->local_top);
    }
    proof_block_start(block);
}

static void free_warps(struct vg_block *block)
{
    bulk_block_start(block);
    for (uint32_t i = 0; i < block->warp_room; i++) {
        struct vg_warp *w = &block->warps[i];
        if (w->entry)
            vg_frame_free(block->worker, w->entry);
        for (int k = 0; k < w->meeting_room; k++) /* these calls were cut short by a fault */
            if (w->meetings[k].used && w->meetings[k].is_call)
                vg_frame_free(block->worker, w->meetings[k].callee);
        free(w->meetings);
        free(w->saved);
        free(w->copies);
        unset_free(w->unset);
        if (w->local)
            munmap(w->local, w->local_room);
        free(w->proof.local.words);
        free(w->proof.bytes);
        free(w->proof.recent);
    }
    free(block->warps);
    block->warps = NULL;
    block->warp_room = 0;
}

static bool prepare_saved(struct vg_warp *w, size_t bytes)
{
    if (bytes <= w->saved_room)
        return true;
    free(w->saved);
    w->saved = aligned_alloc(64, (bytes + 63) / 64 * 64);
    w->saved_room = w->saved ? bytes : 0;
    return w->saved != NULL;
}

static bool prepare_local(struct vg_warp *w, size_t bytes)
{
    if (bytes <= w->local_room)
        return true;
    if (w->local)
        munmap(w->local, w->local_room);
    w->local = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->local_room = w->local == MAP_FAILED ? 0 : bytes;
    if (w->local == MAP_FAILED)
        w->local = NULL;
    return w->local != NULL;
}

/* Warps with idle lanes access whole rows: 16 lanes of up to 16 bytes. Both sides of shared memory
 * have room for two such rows. */
enum { SHARED_MARGIN = 512 };

static void free_shared(struct vg_block *b)
{
    free(b->shared ? b->shared - SHARED_MARGIN : NULL);
    b->shared = NULL;
}

/* Sets the indices of all threads, unless they are the same as in the last launch. */
static void number_threads(struct vg_block *b, struct vg_dim size)
{
    const struct vg_dim *const last = &b->numbered_for;
    if (last->x == size.x && last->y == size.y && last->z == size.z)
        return;
    b->numbered_for = size;
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t lane = 0; lane < VG_LANES; lane++) {
            const struct vg_dim t = vg_place(size, i * VG_LANES + lane);
            b->warps[i].tid[0][lane] = t.x;
            b->warps[i].tid[1][lane] = t.y;
            b->warps[i].tid[2][lane] = t.z;
        }
}

struct vg_block *vg_block_prepare(struct vg_worker *worker, struct vg_launch *launch)
{
    struct vg_block *b = worker->idle;
    if (b)
        worker->idle = b->next;
    else
        b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->next = NULL;
    b->worker = worker;
    b->launch = launch;
    if (b->prepared_for == launch->number)
        return b;
    b->prepared_for = launch->number;
    if (b->warp_room < launch->warps) {
        free_warps(b);
        b->numbered_for = (struct vg_dim){0};
        b->warps = calloc(launch->warps, sizeof *b->warps);
        if (!b->warps)
            return NULL;
        b->warp_room = launch->warps;
    }
    b->warp_count = launch->warps;
    if (!b->race.read_at || b->shared_room < launch->shared_bytes) {
        race_close(&b->race);
        free_shared(b);
        free(b->shared_set);
        b->shared_room = launch->shared_bytes;
        b->shared = calloc(1, launch->shared_bytes + 2 * SHARED_MARGIN);
        b->shared_set = malloc(launch->shared_bytes / 4 + RACE_MARKS_PAST_END);
        if (!race_open(&b->race, launch->shared_bytes) || !b->shared || !b->shared_set) {
            free(b->shared);
            b->shared = NULL;
            return NULL;
        }
        b->shared += SHARED_MARGIN;
    }
    b->shared_bytes = launch->shared_bytes;
    number_threads(b, launch->block);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct vg_warp *w = &b->warps[i];
        w->block = b;
        w->worker = worker;
        w->index = (uint16_t)i;
        w->sites = worker->sites;
        w->block_warps = worker->block_warps;
        w->block_threads = worker->block_threads;
        if (w->entry)
            vg_frame_free(worker, w->entry);
        w->entry = vg_frame_new(worker, launch->kernel->function);
        vg_frame_fill(w->entry, launch);
        if (!prepare_local(w, launch->local_stride * VG_LANES + 64) ||
            !prepare_saved(w, launch->module->saved_bytes))
            return NULL;
    }
    return proof_block_prepare(b) ? b : NULL;
}

void vg_block_free(struct vg_block *b)
{
    free_warps(b);
    race_close(&b->race);
    free_shared(b);
    distributed_free(b);
    free(b->shared_set);
    free(b->copied);
    free(b->proof.words);
    free(b->proof.places);
    free(b->proof.users);
    free(b->text);
    child_work_free(b->children);
    free(b);
}
