/* Launches of a client: the driver's checks, the launch, and occupancy. */
#include "vgpu/probe/occupancy.h"
#include "vgpu/device/client_session.h"
#include "vgpu/device/cluster.h"

#include <stdlib.h>
#include <string.h>

#define GRID_X_MAX  UINT32_C(0x7fffffff)
#define GRID_YZ_MAX UINT32_C(65535)
#define BLOCK_Z_MAX UINT32_C(64)

/* A requested launch. */
struct launch {
    struct kernel *kernel;
    struct vg_kernel_attributes attributes;
    struct vg_dim grid, block, cluster;
    size_t dynamic_shared_bytes;
    bool cooperative;
};

static uint32_t low(uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t high(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

/* CUDA 13's driver reports every invalid size as "invalid argument" (seen on an H200); older
 * drivers report cudaErrorInvalidConfiguration for some sizes. */
static int sizes_check(const struct session *s, const struct launch *l)
{
    const struct vg_profile *p = &s->shared->profile;
    const struct vg_dim g = l->grid, b = l->block;
    const char *name = l->kernel->name;
    double threads = (double)b.x * b.y * b.z; /* may exceed 64 bits */
    if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z) {
        say("launch of %s refused: grid (%u,%u,%u) and block (%u,%u,%u) must not contain 0 (hint: is the number of blocks rounded up?)",
            name, g.x, g.y, g.z, b.x, b.y, b.z);
        return VP_INVALID_VALUE;
    }
    if (threads > p->max_threads_per_block || b.x > 1024 || b.y > 1024 || b.z > BLOCK_Z_MAX) {
        say("launch of %s refused: a block of (%u,%u,%u) has %.0f threads; the limits are %d threads and (1024,1024,%u)",
            name, b.x, b.y, b.z, threads, p->max_threads_per_block, BLOCK_Z_MAX);
        return VP_INVALID_VALUE;
    }
    if (g.x > GRID_X_MAX || g.y > GRID_YZ_MAX || g.z > GRID_YZ_MAX) {
        say("launch of %s refused: a grid of (%u,%u,%u) blocks; at most (%u,%u,%u)", name, g.x, g.y,
            g.z, GRID_X_MAX, GRID_YZ_MAX, GRID_YZ_MAX);
        return VP_INVALID_VALUE;
    }
    return VP_OK;
}

/* @return the number of blocks that fit on a multiprocessor. An estimate must not refuse a launch:
 * if it would, ptxas determines the registers. */
static int resident_blocks(struct session *s, struct launch *l)
{
    const struct vg_profile *p = &s->shared->profile;
    const int threads = (int)(l->block.x * l->block.y * l->block.z);
    const uint64_t blocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    struct vg_kernel_attributes a = l->attributes;
    if (a.registers_are_estimated) {
        a.registers_are_estimated = false;
        const int estimated = occupancy_blocks(p, &a, threads, l->dynamic_shared_bytes);
        if (estimated == 0 ||
            (l->cooperative && blocks > (uint64_t)estimated * (uint64_t)p->multiprocessors))
            session_registers_settle(s, l->kernel, &l->attributes);
        a = l->attributes;
        if (a.registers_are_estimated)
            a.registers = 0;
    }
    return occupancy_blocks(p, &a, threads, l->dynamic_shared_bytes);
}

static int resources_check(struct session *s, struct launch *l)
{
    const struct vg_profile *p = &s->shared->profile;
    const char *name = l->kernel->name;
    int threads = (int)(l->block.x * l->block.y * l->block.z);
    const char *refusal = vg_kernel_refusal(l->kernel->kernel);
    if (refusal) {
        say("launch of %s refused: %s (hint: docs/supported-ptx.md lists the supported instructions)",
            name, refusal);
        return VP_NOT_SUPPORTED;
    }
    const int clusters = cluster_settle(s, l->kernel, &l->attributes, &l->grid, &l->cluster);
    if (clusters != VP_OK)
        return clusters;
    const size_t most_dynamic = vg_kernel_dynamic_shared_most(l->kernel->kernel);
    if (l->dynamic_shared_bytes > most_dynamic) {
        say("launch of %s refused: %zu bytes of dynamic and %zu of static shared memory; at most %zu of dynamic (hint: up to %zu after cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...))",
            name, l->dynamic_shared_bytes, l->attributes.static_shared_bytes, most_dynamic,
            p->shared_per_block_optin_bytes - l->attributes.static_shared_bytes);
        return VP_INVALID_VALUE;
    }
    int resident = resident_blocks(s, l);
    if (resident == 0) {
        say("launch of %s refused: %d threads with %d registers each do not fit the %d registers of a multiprocessor (hint: use smaller blocks, or __launch_bounds__)",
            name, threads, l->attributes.registers, p->registers_per_block);
        return VP_OUT_OF_RESOURCES;
    }
    if (l->attributes.max_threads_per_block > 0 && threads > l->attributes.max_threads_per_block) {
        say("launch of %s refused: %d threads per block; its __launch_bounds__ allow %d", name,
            threads, l->attributes.max_threads_per_block);
        return VP_INVALID_VALUE;
    }
    uint64_t blocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    if (l->cooperative && blocks > (uint64_t)resident * (uint64_t)p->multiprocessors) {
        say("cooperative launch of %s refused: %llu blocks; only %d fit on this GPU at a time",
            name, (unsigned long long)blocks, resident * p->multiprocessors);
        return VP_COOPERATIVE_TOO_LARGE;
    }
    return VP_OK;
}

/* @return how many bytes of the parameters are in words that differ from those of the kernel's last
 * launch: the host could send data in them. */
static double bytes_sent(struct kernel *kernel, const void *parameters)
{
    const size_t bytes = vg_kernel_parameter_bytes(kernel->kernel);
    const unsigned char *now = parameters;
    size_t sent = 0;
    for (size_t i = 0; i < bytes; i += 4) {
        const size_t n = bytes - i < 4 ? bytes - i : 4;
        sent += memcmp(now + i, kernel->passed + i, n) ? n : 0;
    }
    if (bytes)
        memcpy(kernel->passed, now, bytes);
    return (double)sent;
}

static void launch_run(struct session *s, const struct launch *l, struct exchange *x)
{
    const struct grid_run g = {.kernel = l->kernel->kernel,
                               .name = l->kernel->name,
                               .ptx_hash = l->kernel->module->ptx_hash,
                               .grid = l->grid,
                               .block = l->block,
                               .dynamic_shared_bytes = l->dynamic_shared_bytes,
                               .parameters = x->payload,
                               .sent_bytes = bytes_sent(l->kernel, x->payload),
                               .stream = x->request.stream,
                               .time = &x->stream->time};
    struct tl_span span;
    timeline_launched(&s->time);
    if (l->cooperative)
        vg_one_core(s->device);
    vg_clusters(s->device, l->cluster);
    session_races_hide(s, g.time);
    const bool ran = session_grid_run(s, &g, &span);
    session_races_launched(s, g.time, g.name);
    if (ran)
        timeline_wait(&s->time, g.time, session_children_run(s, &g, span));
}

static int launch_read(struct session *s, const struct exchange *x, struct launch *l)
{
    const uint64_t *a = x->request.a;
    *l = (struct launch){.kernel = handles_get(&s->kernels, a[0]),
                         .grid = {low(a[1]), high(a[1]), low(a[2])},
                         .block = {low(a[3]), high(a[3]), high(a[2])},
                         .dynamic_shared_bytes = a[4],
                         .cooperative = a[5] != 0,
                         .cluster = cluster_unpack(a[6])};
    if (!l->kernel)
        return VP_INVALID_DEVICE_FUNCTION;
    if (!x->stream)
        return VP_INVALID_HANDLE;
    if (x->request.payload_bytes != vg_kernel_parameter_bytes(l->kernel->kernel))
        return VP_INVALID_VALUE;
    vg_kernel_attributes_get(l->kernel->kernel, &l->attributes);
    int refused = sizes_check(s, l);
    return refused ? refused : resources_check(s, l);
}

int session_launch_check(struct session *s, const struct exchange *x)
{
    struct launch l;
    return launch_read(s, x, &l);
}

SESSION_OP(LAUNCH)
{
    struct launch l;
    const int refused = launch_read(s, x, &l);
    if (refused)
        return refused;
    session_reply(s, x);
    launch_run(s, &l, x);
    return VP_OK;
}

SESSION_OP(OCCUPANCY)
{
    const uint64_t *a = x->request.a;
    struct kernel *kernel = handles_get(&s->kernels, a[0]);
    if (!kernel)
        return VP_INVALID_DEVICE_FUNCTION;
    if (a[1] == 0 || a[1] > INT32_MAX || a[3] > INT32_MAX)
        return VP_INVALID_VALUE;
    struct vg_kernel_attributes attributes;
    session_registers_settle(s, kernel, &attributes);
    const struct vg_profile *p = &s->shared->profile;
    if (a[2] <= vg_kernel_dynamic_shared_most(kernel->kernel))
        x->reply.r[0] = (uint64_t)occupancy_blocks(p, &attributes, (int)a[1], a[2]);
    x->reply.r[1] = occupancy_shared(p, &attributes, (int)a[3]);
    return VP_OK;
}
