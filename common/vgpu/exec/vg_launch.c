/* A launch: checks its sizes, runs its blocks on the workers, merges their counts and findings. */
#include "base/progress.h"
#include "vgpu/exec/block_races.h"
#include "vgpu/exec/grid_races.h"
#include "vgpu/exec/block_order.h"
#include "vgpu/exec/block_work.h"
#include "vgpu/exec/cache_sample.h"
#include "vgpu/exec/child_work.h"
#include "vgpu/exec/distributed.h"
#include "vgpu/exec/shared_ranges.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/unset_registers.h"
#include "vgpu/exec/launch_report.h"
#include "vgpu/exec/printed.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/block_recording.h"
#include "vgpu/exec/workers.h"

#include <stdlib.h>
#include <string.h>

enum { RECURSIVE_STACK_BYTES = 64 * 1024 };

static enum st_code check_size(const struct vg_profile *p, const struct vg_launch *l,
                               struct st_error *err)
{
    const struct vg_dim g = l->grid, b = l->block;
    const struct ir_function *f = l->kernel->function;
    uint64_t threads = (uint64_t)b.x * b.y * b.z;
    if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
        threads > (uint64_t)p->max_threads_per_block) {
        st_fail(err, ST_USAGE, "a block of %ux%ux%u threads cannot be launched", b.x, b.y, b.z);
        st_detail(err, ST_EXPECTED, "1 to %d threads, at most 1024x1024x64",
                  p->max_threads_per_block);
        return ST_USAGE;
    }
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
        st_fail(err, ST_USAGE, "a grid of %ux%ux%u blocks cannot be launched", g.x, g.y, g.z);
        st_detail(err, ST_EXPECTED, "1 to 2147483647 x 65535 x 65535 blocks");
        return ST_USAGE;
    }
    if (f->max_threads && threads > f->max_threads) {
        st_fail(err, ST_USAGE, "kernel %s was compiled for at most %u threads per block",
                l->kernel->name, f->max_threads);
        st_detail(err, ST_GOT, "%llu", (unsigned long long)threads);
        return ST_USAGE;
    }
    if (l->shared_bytes > p->shared_per_block_optin_bytes) {
        st_fail(err, ST_TOO_LARGE, "kernel %s requests too much shared memory", l->kernel->name);
        st_detail(err, ST_EXPECTED, "at most %zu bytes per block", p->shared_per_block_optin_bytes);
        st_detail(err, ST_GOT, "%zu static and %zu dynamic bytes", f->shared_bytes,
                  l->dynamic_bytes);
        return ST_TOO_LARGE;
    }
    return ST_OK;
}

/* Takes the cluster's size from the launch, or otherwise from the kernel. */
static enum st_code take_clusters(struct vg_device *d, struct vg_launch *l, struct st_error *err)
{
    const struct vg_dim g = l->grid;
    const uint32_t *own = l->kernel->function->cluster;
    struct vg_dim c = d->cluster;
    d->cluster = (struct vg_dim){0};
    if (!c.x)
        c = (struct vg_dim){own[0], own[1], own[2]};
    l->has_clusters = c.x != 0;
    l->cluster = l->has_clusters ? c : (struct vg_dim){1, 1, 1};
    l->cluster_blocks = l->cluster.x * l->cluster.y * l->cluster.z;
    l->cluster_is_checked = l->cluster_blocks > 1 && distributed_is_checked(l->kernel->function);
    if (l->has_clusters && (!c.y || !c.z || c.x > g.x || c.y > g.y || c.z > g.z || g.x % c.x ||
                            g.y % c.y || g.z % c.z || l->cluster_blocks > VG_CLUSTER_MOST)) {
        st_fail(err, ST_USAGE, "clusters of %ux%ux%u blocks cannot be launched", c.x, c.y, c.z);
        st_detail(err, ST_EXPECTED,
                  "at most %d blocks, and a grid that is a multiple of the cluster",
                  VG_CLUSTER_MOST);
        return ST_USAGE;
    }
    return ST_OK;
}

void vg_clusters(struct vg_device *d, struct vg_dim size)
{
    d->cluster = size;
}

static size_t stack_bytes(struct vg_module *m, const struct ir_function *f, int depth);

/* @return the local memory of a thread: the kernel's own and that of the chain of calls that needs
 * most. If calls are indirect or recursive, the chain is unknown; then the result is a fixed
 * size. */
static size_t chain_bytes(struct vg_module *m, const struct ir_function *f, int depth)
{
    if (depth > 32 || f->recursive_or_indirect)
        return RECURSIVE_STACK_BYTES;
    size_t most = 0;
    for (size_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        if (in->op == IR_ALLOCA)
            return RECURSIVE_STACK_BYTES;
        if (in->op != IR_CALL || m->ir.functions[in->target].builtin)
            continue;
        size_t callee = stack_bytes(m, &m->ir.functions[in->target], depth + 1);
        if (callee == RECURSIVE_STACK_BYTES)
            return callee;
        most = callee > most ? callee : most;
    }
    size_t sum = ((f->local_bytes + 15) & ~(size_t)15) + most;
    return sum > RECURSIVE_STACK_BYTES - 1 && depth ? RECURSIVE_STACK_BYTES : sum;
}

/* Keeps each result: otherwise every path to a function would search the function's calls again. */
static size_t stack_bytes(struct vg_module *m, const struct ir_function *f, int depth)
{
    size_t *known = m->stack_known ? &m->stack_known[f - m->ir.functions] : NULL;
    if (known && *known)
        return *known - 1;
    const size_t bytes = chain_bytes(m, f, depth);
    if (known)
        *known = bytes + 1;
    return bytes;
}

static bool take_parameters(struct vg_launch *l, const void *parameters)
{
    l->parameter_bytes = l->kernel->function->param_bytes;
    l->parameter_copy = calloc(1, l->parameter_bytes + 64);
    if (l->parameter_copy && l->parameter_bytes && parameters)
        memcpy(l->parameter_copy, parameters, l->parameter_bytes);
    return l->parameter_copy != NULL;
}

/* Counts nothing of this launch: how many blocks ran beside the faulting one depends on the number
 * of cores. */
static void forget_counts(struct vg_launch *l)
{
    for (int i = 0; i < l->device->worker_count; i++) {
        struct vg_worker *w = &l->device->workers[i];
        if (w->used_by == l->number && !w->no_memory)
            w->no_memory = !vg_counts_clear(w, l->module);
        w->barriers = 0;
    }
}

void vg_blocks_keep(struct vg_device *d)
{
    d->keeps_blocks = true;
}

void vg_one_core(struct vg_device *d)
{
    d->one_core = true;
}

uint64_t vg_launch_number(const struct vg_device *d)
{
    return d->launches;
}

bool vg_tells_host(const struct vg_device *d)
{
    return d->told_host == d->launches;
}

void vg_late_copies_set(struct vg_device *d, vg_late_copy *is_late, void *context)
{
    d->memory.is_late = is_late;
    d->memory.late_context = context;
}

void vg_host_set(struct vg_device *d, vg_host_waits *waits, void *context)
{
    d->host_waits = waits;
    d->host = context;
}

void vg_progress_set(struct vg_device *d, struct progress_shared *shared)
{
    d->progress = shared;
}

static void progress_launch(struct vg_device *d, uint64_t blocks)
{
    if (!d->progress)
        return;
    atomic_store(&d->progress->done, 0);
    atomic_store(&d->progress->total, blocks);
    atomic_fetch_add(&d->progress->steps, 1);
}

void vg_interrupt(struct vg_device *d)
{
    atomic_store(&d->interrupt, true);
}

enum st_code vg_launch(struct vg_device *d, struct vg_kernel *kernel, struct vg_dim grid,
                       struct vg_dim block, size_t dynamic_shared_bytes, const void *parameters,
                       struct vg_launch_report *report, struct st_error *err)
{
    struct ir_function *f = kernel->function;
    memset(report, 0, sizeof *report);
    struct vg_launch l = {.device = d,
                          .kernel = kernel,
                          .module = kernel->module,
                          .grid = grid,
                          .block = block,
                          .dynamic_bytes = dynamic_shared_bytes,
                          .child = d->child,
                          .number = ++d->launches};
    l.dynamic_start =
        (f->shared_bytes + f->shared_alignment - 1) / f->shared_alignment * f->shared_alignment;
    l.shared_bytes =
        dynamic_shared_bytes ? l.dynamic_start + dynamic_shared_bytes : f->shared_bytes;
    enum st_code code = check_size(&d->profile, &l, err);
    if (code == ST_OK)
        code = take_clusters(d, &l, err);
    if (code != ST_OK)
        return code;
    if (l.module->has_reserved_shared) {
        l.reserved_start = (l.shared_bytes + 127) / 128 * 128;
        l.shared_bytes = l.reserved_start + VG_RESERVED_SHARED;
    }
    l.threads = block.x * block.y * block.z;
    l.warps = (l.threads + VG_LANES - 1) / VG_LANES;
    l.blocks = (uint64_t)grid.x * grid.y * grid.z;
    vg_block_order(&l);
    if (!l.module->stack_known)
        l.module->stack_known = calloc(l.module->ir.function_count + 1, sizeof(size_t));
    l.stack_bytes = (stack_bytes(l.module, f, 0) + 15) & ~(size_t)15;
    l.child_room = child_parameter_room(l.module);
    l.local_bytes = l.stack_bytes + CHILD_BUFFERS * l.child_room;
    l.local_stride = ((l.local_bytes + 63) & ~(size_t)63) | 64;
    l.workspace = d->workspace;
    atomic_store(&d->interrupt, false);
    atomic_store(&l.fault_block, UINT64_MAX);
    if (!take_parameters(&l, parameters) || !proof_launch_start(&l)) {
        free(l.parameter_copy);
        return st_fail(err, ST_NO_MEMORY, "out of memory for a launch");
    }
    recorded_launch_start(&l);
    sample_start(d->sample, &l, vg_resident_blocks(&l));
    vg_memory_settle(&d->memory);
    if (l.module->has_malloc) /* a kernel's allocation must not move the list of allocations */
        d->memory.list = ptx_grow(d->memory.list, d->memory.count + 65536, &d->memory.room,
                                  sizeof *d->memory.list);
    if (d->workspace)
        memset(vg_memory_host(&d->memory, d->workspace), 0, 64);
    l.reads_async = shared_ranges_are_read(f);
    l.is_first = !kernel->was_launched;
    kernel->was_launched = true;
    unset_registers_list(kernel);
    block_work_start(&l);
    l.grid_races = grid_races_start(&l);
    progress_launch(d, l.blocks);
    vg_workers_run(d, &l);
    proof_launch_end(&l);
    recorded_launch_end(&l);
    bool no_memory = false;
    for (int i = 0; i < d->worker_count; i++)
        no_memory |= d->workers[i].used_by == l.number && d->workers[i].no_memory;
    vg_printed_collect(d, atomic_load(&l.fault_block));
    children_collect(d, atomic_load(&l.fault_block));
    if (atomic_load(&l.fault_block) == UINT64_MAX)
        unset_registers_find(&l);
    vg_findings_merge(&l, report);
    vg_left_report(&l, report);
    vg_block_races_end(&l);
    grid_races_end(&l);
    if (report->faulted)
        forget_counts(&l);
    vg_launch_report_fill(&l, report);
    free(l.parameter_copy);
    return no_memory ? st_fail(err, ST_NO_MEMORY, "out of memory to run kernel %s", kernel->name)
                     : ST_OK;
}
