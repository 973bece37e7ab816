#include "vgpu/exec/child_work.h"

#include "vgpu/exec/child_races.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"
#include "vgpu/probe/occupancy.h"
#include "vgpu/ptx/ptx_decode.h"

#include <stdlib.h>
#include <string.h>

/* Stream handles that device code has without creating them; all default streams count as 0. */
enum { STREAM_PER_THREAD = 2, STREAM_TAIL = 3, STREAM_FIRE_AND_FORGET = 4 };
enum { REQUESTS_MOST = 1 << 20 }; /* of a block, since memory is limited */
enum { LIMIT_PENDING = 4 };       /* cudaLimitDevRuntimePendingLaunchCount */

/* A parameter buffer that has not been launched yet. */
struct child_buffer {
    uint32_t thread, slot;
    struct child_config config; /* NULL kernel: given at launch */
};

struct child_thread {
    uint16_t last_error;
    uint32_t launches; /* by this thread, with its copies and fills */
};

struct child_work {
    struct vg_child *list;
    size_t count, room;
    struct child_buffer *buffers;
    size_t buffer_count, buffer_room;
    struct child_thread *threads;
    size_t thread_room;
    uint64_t names;
    size_t tails;
    bool may_run; /* some requests may run before the block ends */
    struct child_watch *watch;
};

/* ---- blocks -------------------------------------------------------------------------------- */

static struct child_work *work_of(struct vg_block *b)
{
    const size_t threads = b->launch->threads;
    if (!b->children && !(b->children = calloc(1, sizeof *b->children)))
        abort();
    struct child_work *work = b->children;
    if (work->thread_room < threads) {
        work->threads = ptx_grow(work->threads, threads, &work->thread_room, sizeof *work->threads);
        memset(work->threads, 0, work->thread_room * sizeof *work->threads);
    }
    return work;
}

void child_work_reset(struct vg_block *b)
{
    struct child_work *work = b->children;
    if (!work)
        return;
    work->may_run = false;
    work->buffer_count = work->tails = 0;
    work->names = 0;
    memset(work->threads, 0, work->thread_room * sizeof *work->threads);
}

void child_work_free(struct child_work *work)
{
    if (!work)
        return;
    vg_children_free(work->list, work->count);
    child_watch_drop(work->watch);
    free(work->buffers);
    free(work->threads);
    free(work);
}

static uint32_t thread_of(const struct vg_warp *w, int lane)
{
    return w->index * VG_LANES + (uint32_t)lane;
}

static struct child_thread *thread_state(struct vg_warp *w, int lane)
{
    return &work_of(w->block)->threads[thread_of(w, lane)];
}

enum child_error child_error_set(struct vg_warp *w, int lane, enum child_error error)
{
    if (error)
        thread_state(w, lane)->last_error = (uint16_t)error;
    return error;
}

enum child_error child_error_last(struct vg_warp *w, int lane, bool forget)
{
    uint16_t *last = &thread_state(w, lane)->last_error;
    const enum child_error error = (enum child_error) * last;
    if (forget)
        *last = CHILD_OK;
    return error;
}

uint64_t child_name_new(struct vg_warp *w)
{
    return (w->block->number + 1) << 24 | ++work_of(w->block)->names << 4;
}

enum child_error child_add(struct vg_warp *w, int lane, struct vg_child child)
{
    struct child_work *work = work_of(w->block);
    if (work->count == REQUESTS_MOST) {
        free(child.parameters);
        return CHILD_TOO_MANY_PENDING;
    }
    child.is_tail = child.stream == STREAM_TAIL;
    if (child.stream <= STREAM_PER_THREAD)
        child.stream = 0;
    child.block_number = w->block->number;
    child.number = (uint32_t)work->count;
    if (vg_child_is_work(&child))
        child.thread_number = thread_state(w, lane)->launches++;
    work->list = ptx_grow(work->list, work->count, &work->room, sizeof *work->list);
    work->list[work->count++] = child;
    work->may_run |= !child.is_tail;
    const bool watches = work->may_run && w->block->number < CHILD_WATCHED_BLOCKS;
    for (uint32_t i = 0; watches && i < w->block->warp_count; i++)
        w->block->warps[i].watched = true;
    return CHILD_OK;
}

uint32_t child_launches(const struct vg_block *b)
{
    return b->children && b->children->may_run ? (uint32_t)b->children->count : 0;
}

struct child_watch **child_watch_of(struct vg_block *b)
{
    return &work_of(b)->watch;
}

/* ---- launches ---------------------------------------------------------------------------------- */

size_t child_parameter_room(const struct vg_module *m)
{
    size_t most = 16; /* a kernel without parameters also needs an address for them */
    for (size_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].function->param_bytes > most)
            most = m->kernels[i].function->param_bytes;
    return m->has_launches ? (most + 15) & ~(size_t)15 : 0;
}

struct vg_kernel *child_kernel_at(const struct vg_module *m, uint64_t address)
{
    const uint64_t offset = address - PTX_FUNCTION_BASE;
    for (size_t i = 0; i < m->kernel_count && offset % 16 == 0; i++)
        if (offset / 16 == (uint64_t)(m->kernels[i].function - m->ir.functions))
            return &m->kernels[i];
    return NULL;
}

static bool sizes_are_possible(const struct vg_profile *p, const struct child_config *c)
{
    const struct vg_dim g = c->grid, b = c->block;
    return g.x && g.y && g.z && b.x && b.y && b.z && g.x <= 0x7fffffffu && g.y <= 65535 &&
           g.z <= 65535 && b.x <= 1024 && b.y <= 1024 && b.z <= 64 &&
           (uint64_t)b.x * b.y * b.z <= (uint64_t)p->max_threads_per_block;
}

/* A grid consists of whole clusters. */
static bool clusters_fit(const struct child_config *c)
{
    const uint32_t *size = c->kernel->function->cluster;
    return !size[0] || (size[1] && size[2] && c->grid.x % size[0] == 0 &&
                        c->grid.y % size[1] == 0 && c->grid.z % size[2] == 0);
}

enum child_error child_config_check(const struct vg_launch *l, const struct child_config *c)
{
    const struct vg_profile *p = &l->device->profile;
    struct vg_kernel_attributes a;
    if (!c->kernel)
        return CHILD_INVALID_FUNCTION;
    if (!sizes_are_possible(p, c) || c->shared_bytes > c->kernel->dynamic_shared_most ||
        !clusters_fit(c))
        return CHILD_INVALID_CONFIGURATION;
    vg_kernel_attributes_get(c->kernel, &a);
    const int threads = (int)(c->block.x * c->block.y * c->block.z);
    if (a.registers_are_estimated)
        a.registers = 0; /* do not refuse a launch because of an estimate */
    const bool fits = occupancy_blocks(p, &a, threads, c->shared_bytes) > 0;
    const uint32_t most = c->kernel->function->max_threads;
    return fits && (!most || (uint32_t)threads <= most) ? CHILD_OK : CHILD_INVALID_CONFIGURATION;
}

static uint64_t buffer_address(const struct vg_launch *l, uint32_t slot)
{
    return VG_LOCAL_BASE + l->stack_bytes + slot * l->child_room;
}

uint64_t child_buffer_take(struct vg_warp *w, int lane, const struct child_config *config)
{
    struct child_work *work = work_of(w->block);
    const uint32_t thread = thread_of(w, lane);
    uint32_t taken = 0, slot = 0;
    for (size_t i = 0; i < work->buffer_count; i++)
        if (work->buffers[i].thread == thread)
            taken |= 1u << work->buffers[i].slot;
    while (taken >> slot & 1)
        slot++;
    if (slot >= CHILD_BUFFERS || !w->block->launch->child_room)
        return 0;
    work->buffers =
        ptx_grow(work->buffers, work->buffer_count, &work->buffer_room, sizeof *work->buffers);
    struct child_buffer *b = &work->buffers[work->buffer_count++];
    *b = (struct child_buffer){.thread = thread, .slot = slot};
    if (config)
        b->config = *config;
    return buffer_address(w->block->launch, slot);
}

/* Releases a lane's buffer. @return whether the address was one of its buffers */
static bool buffer_return(struct vg_warp *w, int lane, uint64_t address, struct child_buffer *to)
{
    struct child_work *work = work_of(w->block);
    for (size_t i = 0; i < work->buffer_count; i++) {
        *to = work->buffers[i];
        if (to->thread != thread_of(w, lane) ||
            buffer_address(w->block->launch, to->slot) != address)
            continue;
        work->buffers[i] = work->buffers[--work->buffer_count];
        return true;
    }
    return false;
}

/* Reports pointers to the memory of this thread or block, which are invalid in another grid. */
static void check_pointers(struct vg_warp *w, const struct ir_insn *in, int lane,
                           const struct vg_child *child)
{
    const struct ir_function *f = child->kernel->function;
    for (size_t i = 0; i < f->param_count; i++) {
        uint64_t v = 0;
        if (f->params[i].bytes != sizeof v)
            continue;
        memcpy(&v, (const char *)child->parameters + f->params[i].offset, sizeof v);
        const bool local = v - VG_LOCAL_BASE < w->block->launch->local_bytes;
        if (local || v - VG_SHARED_BASE < w->block->shared_bytes)
            vg_find(
                w, in, VG_FAULT_CHILD_POINTER, lane, v, 0, false,
                "argument %zu of %s is a pointer to %s memory of this %s, which another grid cannot access",
                i + 1, child->kernel->name, local ? "local" : "shared", local ? "thread" : "block");
    }
}

/* Counts only launches that cannot be complete yet, and so are certainly in CUDA's buffer of
 * pending launches: the tail launches of this grid, or the grids in which it is nested. */
static enum child_error check_room(struct vg_warp *w, uint64_t stream)
{
    const struct vg_device *d = w->worker->device;
    const size_t used = stream == STREAM_TAIL ? work_of(w->block)->tails++ : (size_t)d->nesting;
    return used < d->limits[LIMIT_PENDING] ? CHILD_OK : CHILD_TOO_MANY_PENDING;
}

enum child_error child_launch(struct vg_warp *w, const struct ir_insn *in, int lane,
                              uint64_t buffer, const struct child_config *config, uint64_t stream)
{
    const struct vg_launch *l = w->block->launch;
    struct child_buffer b;
    if (!buffer_return(w, lane, buffer, &b))
        return CHILD_INVALID_VALUE;
    if (config)
        b.config = *config;
    enum child_error error = child_config_check(l, &b.config);
    if (!error)
        error = check_room(w, stream);
    if (error)
        return error;
    const size_t parameter_bytes = b.config.kernel->function->param_bytes;
    struct vg_child child = {.kind = VG_CHILD_KERNEL,
                             .kernel = b.config.kernel,
                             .grid = b.config.grid,
                             .block = b.config.block,
                             .dynamic_shared_bytes = b.config.shared_bytes,
                             .parameters = malloc(parameter_bytes + 1),
                             .stream = stream};
    if (!child.parameters)
        return CHILD_OUT_OF_MEMORY;
    memcpy(child.parameters, vg_local(w, lane) + (buffer - VG_LOCAL_BASE), parameter_bytes);
    check_pointers(w, in, lane, &child);
    return child_add(w, lane, child);
}

/* ---- grids --------------------------------------------------------------------------------- */

void children_keep(struct vg_worker *w, struct vg_block *b)
{
    struct child_work *work = b->children;
    for (size_t i = 0; work && i < work->count; i++) {
        w->children = ptx_grow(w->children, w->child_count, &w->child_room, sizeof *w->children);
        work->list[i].watch = work->watch;
        if (work->watch)
            work->watch->users++;
        w->children[w->child_count++] = work->list[i];
    }
    if (!work)
        return;
    work->count = 0;
    child_watch_drop(work->watch);
    work->watch = NULL;
}

static int compare_children(const void *a, const void *b)
{
    const struct vg_child *x = a, *y = b;
    if (x->block_number != y->block_number)
        return x->block_number < y->block_number ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Work queued in a stream, or by an event. */
struct queued {
    uint64_t queue, block;
    size_t index;
};

static int compare_queued(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The default stream belongs to the block; the tail stream and created streams belong to the
 * grid. */
static uint64_t block_of_stream(const struct vg_child *c)
{
    return c->stream ? 0 : c->block_number + 1;
}

static void link_streams(struct vg_child *list, size_t n, struct queued *queued)
{
    for (size_t i = 0; i < n; i++)
        queued[i] = (struct queued){list[i].stream, block_of_stream(&list[i]), i};
    qsort(queued, n, sizeof *queued, compare_queued);
    for (size_t i = 0; i < n; i++) {
        const struct queued *q = &queued[i];
        const bool follows = i && q->queue == q[-1].queue && q->block == q[-1].block &&
                             q->queue != STREAM_FIRE_AND_FORGET;
        list[q->index].after[0] = follows ? q[-1].index : VG_NO_CHILD;
        list[q->index].after[1] = VG_NO_CHILD;
    }
}

static void link_events(struct vg_child *list, size_t n, struct queued *queued)
{
    size_t recorded = VG_NO_CHILD;
    for (size_t i = 0; i < n; i++)
        queued[i] = (struct queued){list[i].event, 0, i};
    qsort(queued, n, sizeof *queued, compare_queued);
    for (size_t i = 0; i < n; i++) {
        struct vg_child *c = &list[queued[i].index];
        if (!i || queued[i].queue != queued[i - 1].queue)
            recorded = VG_NO_CHILD;
        if (c->kind == VG_CHILD_RECORD)
            recorded = queued[i].index;
        if (c->kind == VG_CHILD_WAIT)
            c->after[1] = recorded;
    }
}

void children_collect(struct vg_device *d, uint64_t fault_block)
{
    size_t room = 0;
    vg_children_free(d->children, d->child_count);
    d->children = NULL;
    d->child_count = 0;
    for (int i = 0; i < d->worker_count; i++) {
        struct vg_worker *w = &d->workers[i];
        for (size_t k = 0; k < w->child_count; k++) {
            d->children = ptx_grow(d->children, d->child_count, &room, sizeof *d->children);
            d->children[d->child_count++] = w->children[k];
        }
        w->child_count = 0;
    }
    if (!d->child_count)
        return;
    struct queued *queued = calloc(d->child_count, sizeof *queued);
    if (!queued || fault_block != UINT64_MAX) {
        vg_children_free(d->children, d->child_count);
        d->children = NULL;
        d->child_count = 0;
    } else {
        qsort(d->children, d->child_count, sizeof *d->children, compare_children);
        link_streams(d->children, d->child_count, queued);
        link_events(d->children, d->child_count, queued);
    }
    free(queued);
}

struct vg_child *vg_children_take(struct vg_device *d, size_t *count)
{
    struct vg_child *list = d->children;
    *count = d->child_count;
    d->children = NULL;
    d->child_count = 0;
    return list;
}

void vg_children_free(struct vg_child *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].parameters);
        child_watch_drop(list[i].watch);
    }
    free(list);
}

void vg_nesting_set(struct vg_device *d, int depth, const struct vg_child *child)
{
    d->nesting = depth;
    d->child = child;
}

enum st_code vg_child_move(struct vg_device *d, const struct vg_child *c, struct st_error *err)
{
    enum st_code code = ST_OK;
    for (size_t row = 0; row < c->rows && code == ST_OK; row++) {
        const uint64_t to = c->to + row * c->to_pitch;
        code = c->kind == VG_CHILD_COPY
                   ? vg_memory_copy(d, to, c->from + row * c->from_pitch, c->bytes, err)
                   : vg_memory_set(d, to, c->value, c->bytes, err);
    }
    return code;
}
