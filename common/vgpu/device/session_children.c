/* Work launched by a kernel runs after the kernel, one item after another, each followed by all the
 * work that it launches itself (exec/child_work.h has the reasons).
 *
 *     frame of the grid launched by the host
 *       frame of a grid launched by it: list of its launches, position in the list
 *         ...
 *
 * On the virtual clock, work without a dependency overlaps. A grid is complete when everything that
 * it launched is complete; then the work that depends on it, by its stream or an event, may start. */
#include "base/array_room.h"
#include "vgpu/device/client_session.h"
#include "vgpu/probe/names.h"

#include <math.h>
#include <stdlib.h>

enum { LIMIT_PENDING = 4 }; /* cudaLimitDevRuntimePendingLaunchCount */

struct frame {
    struct vg_child *list;
    size_t count, next;
    size_t launched;         /* launched so far, of the list */
    size_t place;            /* index of the grid in the previous frame's list */
    double *ends;            /* [count] end times of finished work */
    double start_ns, end_ns; /* of the grid; end_ns includes finished work that it launched */
    bool at_tail;
    int depth;
};

struct run {
    struct session *s;
    const struct grid_run *root;
    struct frame *frames;
    size_t depth;
};

static void frame_free(struct frame *f)
{
    vg_children_free(f->list, f->count);
    free(f->ends);
}

/* @return the next item of a frame, tail launches last; NULL: none is left */
static struct vg_child *next_child(struct frame *f)
{
    for (;;) {
        for (; f->next < f->count; f->next++)
            if (f->list[f->next].is_tail == f->at_tail)
                return &f->list[f->next];
        if (f->at_tail)
            return NULL;
        f->at_tail = true;
        f->next = 0;
    }
}

/* @return the time at which an item can start on the clock. */
static double child_ready(const struct vg_profile *p, const struct frame *f,
                          const struct vg_child *c)
{
    const double waited =
        fmax((double)f->launched * p->child_interval_ns, c->thread_number * p->child_thread_ns);
    double ready = c->is_tail ? f->end_ns : f->start_ns + waited;
    if (vg_child_is_work(c))
        ready += p->child_launch_ns;
    for (int i = 0; i < 2; i++)
        if (c->after[i] != VG_NO_CHILD)
            ready = fmax(ready, f->ends[c->after[i]]);
    return ready;
}

static bool run_kernel(struct run *r, const struct vg_child *c, struct tl_stream *time,
                       struct tl_span *span)
{
    char name[1024];
    const char *refusal = vg_kernel_refusal(c->kernel);
    name_demangle(vg_kernel_symbol(c->kernel), name, sizeof name);
    if (refusal) {
        say("launch of %s by a kernel refused: %s (hint: docs/supported-ptx.md lists the supported instructions)",
            name, refusal);
        r->s->sticky = VP_NOT_SUPPORTED;
        return false;
    }
    const struct grid_run g = {.kernel = c->kernel,
                               .name = name,
                               .ptx_hash = r->root->ptx_hash,
                               .grid = c->grid,
                               .block = c->block,
                               .dynamic_shared_bytes = c->dynamic_shared_bytes,
                               .parameters = c->parameters,
                               .stream = r->root->stream,
                               .time = time};
    return session_grid_run(r->s, &g, span);
}

static bool run_move(struct run *r, const struct vg_child *c, struct tl_stream *time,
                     struct tl_span *span)
{
    const bool is_copy = c->kind == VG_CHILD_COPY;
    const double bytes = (double)c->bytes * (double)c->rows;
    struct st_error err;
    if (vg_child_move(r->s->device, c, &err) != ST_OK) { /* it was valid when requested */
        say("%s() in a kernel: %zu bytes at 0x%llx were freed before it ran",
            is_copy ? "cudaMemcpyAsync" : "cudaMemsetAsync", c->bytes, (unsigned long long)c->to);
        r->s->sticky = VP_ILLEGAL_ADDRESS;
        return false;
    }
    *span = timeline_fill(&r->s->time, time, is_copy ? 2 * bytes : bytes);
    session_trace_work(r->s, is_copy ? "copy_dtod" : "memset", "", r->root->stream, *span, bytes,
                       NULL);
    return true;
}

/* Runs an item of the last frame. */
static bool run_child(struct run *r, struct frame *f, const struct vg_child *c,
                      struct tl_span *span)
{
    struct tl_stream time = {.end_ns = child_ready(&r->s->shared->profile, f, c)};
    *span = (struct tl_span){time.end_ns, time.end_ns};
    if (!vg_child_is_work(c))
        return true;
    f->launched++;
    if (c->kind != VG_CHILD_KERNEL)
        return run_move(r, c, &time, span);
    vg_nesting_set(r->s->device, c->is_tail ? f->depth : f->depth + 1, c);
    return run_kernel(r, c, &time, span);
}

/* Prints a note if a grid makes more launches than CUDA can queue. Whether some launches end in
 * time depends on the GPU; on an H200 they do if one thread makes all launches, however many. */
static void note_many(struct session *s, const struct frame *f)
{
    size_t n = 0, of_thread = 0;
    const size_t most = vg_limit(s->device, LIMIT_PENDING);
    for (size_t i = 0; i < f->count; i++)
        if (vg_child_is_work(&f->list[i])) {
            n++;
            if (of_thread <= f->list[i].thread_number)
                of_thread = (size_t)f->list[i].thread_number + 1;
        }
    if (n <= most || n == of_thread)
        return;
    if (!s->many_reported)
        say("note: one grid made %zu launches; a GPU has room for %zu incomplete launches and may refuse more (hint: call cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ...))",
            n, most);
    s->many_reported = true;
}

/* Pushes a frame for the launches of the grid that has just run, if it made any. */
static bool push(struct run *r, struct tl_span span, size_t place, int depth)
{
    struct frame f = {
        .place = place, .start_ns = span.start_ns, .end_ns = span.end_ns, .depth = depth};
    f.list = vg_children_take(r->s->device, &f.count);
    if (!f.list)
        return true;
    f.ends = calloc(f.count, sizeof *f.ends);
    if (!f.ends || !ARRAY_ROOM(r->frames, r->depth)) {
        frame_free(&f);
        r->s->sticky = VP_OUT_OF_MEMORY;
        return false;
    }
    note_many(r->s, &f);
    r->frames[r->depth++] = f;
    return true;
}

/* Removes the last frame, whose grid is complete: stores its end in the previous frame. */
static void pop(struct run *r, double *end_ns)
{
    struct frame *f = &r->frames[--r->depth];
    if (r->depth) {
        struct frame *before = f - 1;
        before->ends[f->place] = f->end_ns;
        before->end_ns = fmax(before->end_ns, f->end_ns);
    }
    *end_ns = fmax(*end_ns, f->end_ns);
    frame_free(f);
}

/* As push(), but replaces the last frame, which is finished: a kernel that repeatedly launches
 * itself at the tail needs one frame only. */
static bool push_instead(struct run *r, struct tl_span span)
{
    const size_t at = --r->depth;
    struct frame done = r->frames[at];
    const bool pushed = push(r, span, done.place, done.depth);
    if (r->depth == at)
        r->frames[r->depth++] = done; /* the grid launched nothing */
    else
        frame_free(&done);
    return pushed;
}

/* Runs the last frame's next item. */
static bool step(struct run *r, double *end_ns)
{
    struct frame *f = &r->frames[r->depth - 1];
    const struct vg_child *c = next_child(f);
    struct tl_span span;
    if (!c) {
        pop(r, end_ns);
        return true;
    }
    const size_t place = f->next++;
    const bool is_tail = c->is_tail;
    if (!run_child(r, f, c, &span))
        return false;
    f->ends[place] = span.end_ns;
    f->end_ns = fmax(f->end_ns, span.end_ns);
    if (is_tail && !next_child(f))
        return push_instead(r, span);
    return push(r, span, place, is_tail ? f->depth : f->depth + 1);
}

double session_children_run(struct session *s, const struct grid_run *root, struct tl_span span)
{
    struct run r = {.s = s, .root = root};
    double end_ns = span.end_ns;
    bool ran = push(&r, span, 0, 0);
    while (ran && r.depth)
        ran = step(&r, &end_ns);
    while (r.depth)
        pop(&r, &end_ns);
    free(r.frames);
    vg_nesting_set(s->device, 0, NULL);
    return end_ns;
}

SESSION_OP(LIMIT)
{
    if (x->request.a[0] > INT32_MAX)
        return VP_INVALID_VALUE;
    vg_limit_set(s->device, (int)x->request.a[0], x->request.a[1]);
    return VP_OK;
}
