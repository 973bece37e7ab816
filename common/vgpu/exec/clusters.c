/* Thread block clusters. One worker runs all blocks of a cluster alternately, in the order of their
 * ranks, so their effects on each other are the same on any number of cores.
 *
 * A thread arrives at the barrier of the cluster and waits for it in two instructions:
 *
 *     announced   the thread has arrived, others have not
 *     opened      all have arrived: the thread's next wait returns at once
 *
 * As on a GPU, the barrier does not wait for threads that have ended. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/distributed.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/fragments.h"
#include "vgpu/exec/workers.h"

#include <stdio.h>

/* ---- the barrier ----------------------------------------------------------------------------- */

static void open_barrier(struct vg_cluster *c)
{
    c->announced = 0;
    for (uint32_t rank = 0; rank < c->size; rank++) {
        struct vg_block *b = c->blocks[rank];
        for (uint32_t i = 0; i < b->warp_count; i++) {
            struct vg_warp *w = &b->warps[i];
            w->opened |= w->announced;
            w->announced = 0;
            for (int k = 0; k < w->fragment_count; k++) {
                struct vg_fragment *f = &w->fragments[k];
                if (f->state != FRAGMENT_CLUSTER)
                    continue;
                w->opened &= ~f->mask;
                f->state = FRAGMENT_READY;
                f->pc++;
            }
        }
        b->worker->barriers++;
    }
    distributed_ordered(c);
    vg_progressed(c->blocks[0]->worker);
}

static uint32_t threads_alive(const struct vg_cluster *c)
{
    uint32_t sum = 0;
    for (uint32_t rank = 0; rank < c->size; rank++)
        sum += c->blocks[rank]->alive_threads;
    return sum;
}

void vg_cluster_barrier_check(struct vg_cluster *c)
{
    if (c->announced && c->announced >= threads_alive(c))
        open_barrier(c);
}

const struct ir_insn *vg_cluster_arrive(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t twice = w->mask & (w->announced | w->opened);
    if (twice) {
        vg_find(
            w, in, VG_FAULT_BARRIER_DIVERGENCE, __builtin_ctz(twice), 0, 0, false,
            "arrives again at the barrier of the cluster, without barrier.cluster.wait in between");
        return NULL;
    }
    w->announced |= w->mask;
    w->block->cluster->announced += (uint32_t)__builtin_popcount(w->mask);
    vg_cluster_barrier_check(w->block->cluster);
    return in + 1;
}

const struct ir_insn *vg_cluster_wait(struct vg_warp *w, const struct ir_insn *in)
{
    const uint32_t never = w->mask & ~(w->announced | w->opened);
    if (never) {
        vg_find(w, in, VG_FAULT_BARRIER_DIVERGENCE, __builtin_ctz(never), 0, 0, false,
                "waits at the barrier of the cluster without an earlier barrier.cluster.arrive");
        return NULL;
    }
    if (!(w->mask & w->announced)) {
        w->opened &= ~w->mask;
        return in + 1;
    }
    w->fragments[w->fragment_count++] = (struct vg_fragment){.pc = in,
                                                             .frame = w->frame,
                                                             .mask = w->mask,
                                                             .meeting = w->meeting,
                                                             .state = FRAGMENT_CLUSTER};
    return NULL;
}

/* ---- the blocks of a cluster ----------------------------------------------------------------- */

static bool has_ready(const struct vg_block *b)
{
    for (uint32_t i = 0; i < b->warp_count && !b->stop; i++)
        for (int k = 0; k < b->warps[i].fragment_count; k++)
            if (b->warps[i].fragments[k].state == FRAGMENT_READY)
                return true;
    return false;
}

bool vg_cluster_can_run(const struct vg_block *b)
{
    for (uint32_t rank = 0; rank < b->cluster->size; rank++)
        if (b->cluster->blocks[rank] != b && has_ready(b->cluster->blocks[rank]))
            return true;
    return false;
}

/* ---- a barrier that cannot open -------------------------------------------------------------- */

/* Describes where a thread that has not arrived is instead. */
static void describe_missing(const struct vg_cluster *c, char *to, size_t room)
{
    char at[32];
    for (uint32_t rank = 0; rank < c->size; rank++) {
        const struct vg_block *b = c->blocks[rank];
        for (uint32_t i = 0; i < b->warp_count; i++) {
            const struct vg_warp *w = &b->warps[i];
            const uint32_t missing = w->alive & ~w->announced;
            if (!missing)
                continue;
            const struct vg_dim t =
                vg_place(b->launch->block, i * VG_LANES + (uint32_t)__builtin_ctz(missing));
            snprintf(to, room,
                     "; thread (%u,%u,%u) of block (%u,%u,%u) did not reach it: it waits at %s",
                     t.x, t.y, t.z, b->id[0], b->id[1], b->id[2],
                     vg_wait_place(w, missing, at, sizeof at));
            return;
        }
    }
    to[0] = '\0';
}

bool vg_cluster_report_barrier(struct vg_block *b)
{
    for (uint32_t i = 0; i < b->warp_count && !b->stop; i++) {
        struct vg_warp *w = &b->warps[i];
        for (int k = 0; k < w->fragment_count; k++) {
            const struct vg_fragment *f = &w->fragments[k];
            if (f->state != FRAGMENT_CLUSTER)
                continue;
            char missing[200];
            describe_missing(b->cluster, missing, sizeof missing);
            vg_find(w, f->pc, VG_FAULT_BARRIER_DIVERGENCE, __builtin_ctz(f->mask), 0, 0, false,
                    "%u of %u threads of the cluster reached its barrier%s", b->cluster->announced,
                    threads_alive(b->cluster), missing);
            return true;
        }
    }
    return false;
}
