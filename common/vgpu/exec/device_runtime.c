#include "vgpu/exec/device_runtime.h"

#include "vgpu/exec/child_work.h"
#include "vgpu/exec/error_texts.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/lane_call.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"
#include "vgpu/probe/occupancy.h"

#include <stdlib.h>
#include <string.h>

enum { RUNTIME_VERSION = 13000, COPY_DEVICE_TO_DEVICE = 3, COPY_DEFAULT = 4 };
enum { NON_BLOCKING = 1, DISABLE_TIMING = 2 }; /* flags of streams and events */

/* A call of one lane. */
struct call {
    struct vg_warp *w;
    const struct ir_insn *in;
    int lane;
};

static uint64_t u64(const struct call *c, uint32_t i)
{
    return call_argument(c->w, c->in, c->lane, i, 8);
}

static uint32_t u32(const struct call *c, uint32_t i)
{
    return (uint32_t)call_argument(c->w, c->in, c->lane, i, 4);
}

static struct vg_dim dim(const struct call *c, uint32_t i)
{
    uint32_t v[3];
    call_argument_read(c->w, c->in, c->lane, i, v, sizeof v);
    return (struct vg_dim){v[0], v[1], v[2]};
}

/* Stores a result at the address that is an argument. */
static enum child_error put(const struct call *c, uint32_t i, const void *value, uint32_t bytes)
{
    if (!u64(c, i))
        return CHILD_INVALID_VALUE;
    char *to = lane_memory(c->w, c->in, c->lane, u64(c, i), bytes, true);
    if (to)
        memcpy(to, value, bytes);
    return CHILD_OK;
}

static enum child_error put_int(const struct call *c, uint32_t i, double value)
{
    const int v = (int)value;
    return put(c, i, &v, sizeof v);
}

static enum child_error put_u64(const struct call *c, uint32_t i, uint64_t value)
{
    return put(c, i, &value, sizeof value);
}

static const struct vg_device *device(const struct call *c)
{
    return c->w->worker->device;
}

static const struct vg_module *module(const struct call *c)
{
    return c->w->block->launch->module;
}

/* ---- facts ------------------------------------------------------------------------------------- */

/* The number of the device is ignored, as on a GPU. */
static enum child_error device_attribute(const struct call *c)
{
    const struct vg_profile *p = &device(c)->profile;
    switch (u32(c, 1)) {
#define X(number, name, value)                                                                     \
    case number:                                                                                   \
        return put_int(c, 0, (double)(value));
#include "vgpu/api/attributes.def"
#undef X
    default:
        return put_int(c, 0, 0);
    }
}

static enum child_error device_limit(const struct call *c)
{
    const size_t known = sizeof device(c)->limits / sizeof *device(c)->limits;
    return u32(c, 1) < known ? put_u64(c, 0, device(c)->limits[u32(c, 1)]) : CHILD_INVALID_VALUE;
}

/* Fills the start of struct cudaFuncAttributes, the only part that device code fills. */
static enum child_error function_attributes(const struct call *c)
{
    const struct vg_kernel *k = child_kernel_at(module(c), u64(c, 1));
    struct vg_kernel_attributes a;
    if (!k)
        return u64(c, 1) ? CHILD_INVALID_FUNCTION : CHILD_INVALID_VALUE;
    vg_kernel_attributes_get(k, &a);
    const struct {
        uint64_t shared, constant, local;
        int32_t most_threads, registers, ptx, binary;
    } to = {a.static_shared_bytes, a.constant_bytes, a.local_bytes, a.max_threads_per_block,
            a.registers,           a.ptx_sm,         a.binary_sm};
    return put(c, 0, &to, sizeof to);
}

static enum child_error occupancy(const struct call *c)
{
    const struct vg_kernel *k = child_kernel_at(module(c), u64(c, 1));
    struct vg_kernel_attributes a;
    if (!k)
        return CHILD_INVALID_FUNCTION;
    if ((int)u32(c, 2) < 1)
        return CHILD_INVALID_VALUE;
    vg_kernel_attributes_get(k, &a);
    return put_int(c, 0, occupancy_blocks(&device(c)->profile, &a, (int)u32(c, 2), u64(c, 3)));
}

static enum child_error device_malloc(const struct call *c)
{
    if (!u64(c, 0) || !u64(c, 1))
        return CHILD_INVALID_VALUE;
    const uint64_t address = heap_take(c->w, u64(c, 1));
    return address ? put_u64(c, 0, address) : CHILD_OUT_OF_MEMORY;
}

/* ---- copies and fills -------------------------------------------------------------------------- */

static bool rows_are_there(const struct call *c, uint64_t at, size_t pitch,
                           const struct vg_child *child, bool is_write)
{
    for (size_t i = 0; i < child->rows; i++)
        if (!lane_memory(c->w, c->in, c->lane, at + i * pitch, child->bytes, is_write))
            return false;
    return true;
}

static bool is_global(uint64_t address)
{
    return address >= VG_GLOBAL_BASE;
}

static enum child_error move(const struct call *c, struct vg_child child)
{
    if (!child.bytes || !child.rows)
        return CHILD_OK;
    const bool is_copy = child.kind == VG_CHILD_COPY;
    if (!is_global(child.to) || (is_copy && !is_global(child.from)))
        return CHILD_INVALID_VALUE;
    if (child.rows > 1 &&
        (child.to_pitch < child.bytes || (is_copy && child.from_pitch < child.bytes)))
        return CHILD_INVALID_VALUE;
    if (!rows_are_there(c, child.to, child.to_pitch, &child, false) ||
        (is_copy && !rows_are_there(c, child.from, child.from_pitch, &child, false)))
        return CHILD_OK; /* the finding ends the kernel */
    return child_add(c->w, c->lane, child);
}

static enum child_error copy(const struct call *c, struct vg_child child, uint32_t direction)
{
    if (direction != COPY_DEVICE_TO_DEVICE && direction != COPY_DEFAULT)
        return CHILD_INVALID_DIRECTION;
    child.kind = VG_CHILD_COPY;
    return move(c, child);
}

static enum child_error copy_1d(const struct call *c)
{
    return copy(
        c,
        (struct vg_child){
            .to = u64(c, 0), .from = u64(c, 1), .bytes = u64(c, 2), .rows = 1, .stream = u64(c, 4)},
        u32(c, 3));
}

static enum child_error copy_2d(const struct call *c)
{
    return copy(c,
                (struct vg_child){.to = u64(c, 0),
                                  .to_pitch = u64(c, 1),
                                  .from = u64(c, 2),
                                  .from_pitch = u64(c, 3),
                                  .bytes = u64(c, 4),
                                  .rows = u64(c, 5),
                                  .stream = u64(c, 7)},
                u32(c, 6));
}

/* Reads struct cudaMemcpy3DParms as words of 8 bytes: array, position, pointer, pitch, ... of
 * source and destination. */
static enum child_error copy_3d(const struct call *c)
{
    enum { FROM = 0, TO = 8, EXTENT = 16, DIRECTION = 19, WORDS };
    enum { POSITION = 1, POINTER = 4, PITCH = 5, HEIGHT = 7 };
    uint64_t p[WORDS];
    const char *from = lane_memory(c->w, c->in, c->lane, u64(c, 0), sizeof p, false);
    enum child_error error = CHILD_OK;
    if (!from)
        return CHILD_OK;
    memcpy(p, from, sizeof p);
    if (p[FROM] || p[TO]) /* device code cannot copy arrays */
        return CHILD_INVALID_VALUE;
    const bool is_empty = !p[EXTENT] || !p[EXTENT + 1];
    for (uint64_t z = 0; z < p[EXTENT + 2] && !error && !is_empty; z++) {
        struct vg_child child = {.to_pitch = p[TO + PITCH],
                                 .from_pitch = p[FROM + PITCH],
                                 .bytes = p[EXTENT],
                                 .rows = p[EXTENT + 1],
                                 .stream = u64(c, 1)};
        uint64_t *const at[2] = {&child.from, &child.to};
        for (int side = 0; side < 2; side++) {
            const uint64_t *s = &p[side ? TO : FROM];
            *at[side] = s[POINTER] + s[POSITION] +
                        s[PITCH] * (s[POSITION + 1] + s[HEIGHT] * (s[POSITION + 2] + z));
        }
        error = copy(c, child, (uint32_t)p[DIRECTION]);
    }
    return error;
}

static enum child_error fill(const struct call *c, struct vg_child child)
{
    child.kind = VG_CHILD_FILL;
    return move(c, child);
}

static enum child_error fill_1d(const struct call *c)
{
    return fill(c, (struct vg_child){.to = u64(c, 0),
                                     .value = (int)u32(c, 1),
                                     .bytes = u64(c, 2),
                                     .rows = 1,
                                     .stream = u64(c, 3)});
}

static enum child_error fill_2d(const struct call *c)
{
    return fill(c, (struct vg_child){.to = u64(c, 0),
                                     .to_pitch = u64(c, 1),
                                     .value = (int)u32(c, 2),
                                     .bytes = u64(c, 3),
                                     .rows = u64(c, 4),
                                     .stream = u64(c, 5)});
}

static enum child_error fill_3d(const struct call *c)
{
    uint64_t pitched[4], extent[3]; /* pointer, pitch, width, height */
    enum child_error error = CHILD_OK;
    call_argument_read(c->w, c->in, c->lane, 0, pitched, sizeof pitched);
    call_argument_read(c->w, c->in, c->lane, 2, extent, sizeof extent);
    const bool is_empty = !extent[0] || !extent[1];
    for (uint64_t z = 0; z < extent[2] && !error && !is_empty; z++)
        error = fill(c, (struct vg_child){.to = pitched[0] + z * pitched[1] * pitched[3],
                                          .to_pitch = pitched[1],
                                          .value = (int)u32(c, 1),
                                          .bytes = extent[0],
                                          .rows = extent[1],
                                          .stream = u64(c, 3)});
    return error;
}

/* ---- launches, streams, events ----------------------------------------------------------------- */

static struct child_config config_of(const struct call *c, uint32_t grid_at)
{
    return (struct child_config){.kernel = child_kernel_at(module(c), u64(c, 0)),
                                 .grid = dim(c, grid_at),
                                 .block = dim(c, grid_at + 1),
                                 .shared_bytes = u32(c, grid_at + 2)};
}

static uint64_t buffer_with_config(const struct call *c)
{
    const struct child_config config = config_of(c, 1);
    const enum child_error error = child_config_check(c->w->block->launch, &config);
    if (child_error_set(c->w, c->lane, error))
        return 0;
    const uint64_t buffer = child_buffer_take(c->w, c->lane, &config);
    child_error_set(c->w, c->lane, buffer ? CHILD_OK : CHILD_OUT_OF_MEMORY);
    return buffer;
}

static uint64_t plain_buffer(const struct call *c)
{
    const bool fits = u64(c, 1) <= c->w->block->launch->child_room;
    const uint64_t buffer = fits ? child_buffer_take(c->w, c->lane, NULL) : 0;
    child_error_set(c->w, c->lane, buffer ? CHILD_OK : CHILD_OUT_OF_MEMORY);
    return buffer;
}

static enum child_error launch_plain(const struct call *c)
{
    const struct child_config config = config_of(c, 2);
    return child_launch(c->w, c->in, c->lane, u64(c, 1), &config, u64(c, 5));
}

static enum child_error new_name(const struct call *c)
{
    return put_u64(c, 0, child_name_new(c->w));
}

/* Streams of device code are non-blocking. A GPU also accepts the default flags. */
static enum child_error new_stream(const struct call *c)
{
    return u32(c, 1) <= NON_BLOCKING ? new_name(c) : CHILD_INVALID_VALUE;
}

/* Events of device code have no timing; without this flag the call fails. */
static enum child_error new_event(const struct call *c)
{
    return u32(c, 1) == DISABLE_TIMING ? new_name(c) : CHILD_INVALID_VALUE;
}

static enum child_error event_work(const struct call *c, enum vg_child_kind kind, uint64_t stream,
                                   uint64_t event)
{
    /* The streams of tail launches and of fire-and-forget launches have no events. */
    if (!event || stream == 3 || stream == 4)
        return CHILD_INVALID_VALUE;
    return child_add(c->w, c->lane,
                     (struct vg_child){.kind = kind, .stream = stream, .event = event});
}

static void set_condition(const struct call *c)
{
    uint32_t *condition = vg_condition(c->w->worker->device, u64(c, 0));
    if (condition)
        __atomic_store_n(condition, u32(c, 1), __ATOMIC_RELAXED);
    else
        vg_find(c->w, c->in, VG_FAULT_INVALID_OBJECT, c->lane, u64(c, 0), 0, true,
                "cudaGraphSetConditional() with a handle that is not a condition of a graph");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Calls a function that returns an error, which becomes the thread's last error. */
static enum child_error call_for_error(const struct call *c, enum ir_builtin which)
{
    switch (which) {
    case IR_RUNTIME_LAUNCH:
        return child_launch(c->w, c->in, c->lane, u64(c, 0), NULL, u64(c, 1));
    case IR_RUNTIME_LAUNCH_PLAIN:
        return launch_plain(c);
    case IR_RUNTIME_MEMCPY:
        return copy_1d(c);
    case IR_RUNTIME_MEMCPY_2D:
        return copy_2d(c);
    case IR_RUNTIME_MEMCPY_3D:
        return copy_3d(c);
    case IR_RUNTIME_MEMSET:
        return fill_1d(c);
    case IR_RUNTIME_MEMSET_2D:
        return fill_2d(c);
    case IR_RUNTIME_MEMSET_3D:
        return fill_3d(c);
    case IR_RUNTIME_STREAM_CREATE:
        return new_stream(c);
    case IR_RUNTIME_EVENT_CREATE:
        return new_event(c);
    case IR_RUNTIME_STREAM_WAIT:
        return event_work(c, VG_CHILD_WAIT, u64(c, 0), u64(c, 1));
    case IR_RUNTIME_EVENT_RECORD:
    case IR_RUNTIME_EVENT_RECORD_FLAGS:
        return event_work(c, VG_CHILD_RECORD, u64(c, 1), u64(c, 0));
    case IR_RUNTIME_STREAM_DESTROY: /* work that is already in the stream still runs */
    case IR_RUNTIME_EVENT_DESTROY:
        return u64(c, 0) ? CHILD_OK : CHILD_INVALID_VALUE;
    case IR_RUNTIME_DEVICE_MALLOC:
        return device_malloc(c);
    case IR_RUNTIME_DEVICE_FREE:
        heap_free(c->w, c->in, c->lane, u64(c, 0));
        return CHILD_OK;
    case IR_RUNTIME_DEVICE_COUNT:
        return put_int(c, 0, 1);
    case IR_RUNTIME_DEVICE:
    case IR_RUNTIME_CACHE_CONFIG:
        return put_int(c, 0, 0);
    case IR_RUNTIME_SHARED_CONFIG: /* ignored: banks always have four bytes */
        return put_int(c, 0, 1);
    case IR_RUNTIME_RUNTIME_VERSION:
        return put_int(c, 0, RUNTIME_VERSION);
    case IR_RUNTIME_DEVICE_ATTRIBUTE:
        return device_attribute(c);
    case IR_RUNTIME_DEVICE_LIMIT:
        return device_limit(c);
    case IR_RUNTIME_FUNCTION_ATTRIBUTES:
        return function_attributes(c);
    case IR_RUNTIME_OCCUPANCY:
    case IR_RUNTIME_OCCUPANCY_FLAGS:
        return occupancy(c);
    default:
        return CHILD_INVALID_VALUE;
    }
}

void device_runtime_call(struct vg_warp *w, const struct ir_insn *in, int lane,
                         enum ir_builtin which)
{
    const struct call c = {w, in, lane};
    switch (which) {
    case IR_RUNTIME_LAUNCH_BUFFER:
        call_result_set(w, in, lane, buffer_with_config(&c), 8);
        break;
    case IR_RUNTIME_PLAIN_BUFFER:
        call_result_set(w, in, lane, plain_buffer(&c), 8);
        break;
    case IR_RUNTIME_ERROR_STRING:
    case IR_RUNTIME_ERROR_NAME:
        call_result_set(
            w, in, lane,
            error_text(w->block->launch->module, (int)u32(&c, 0), which == IR_RUNTIME_ERROR_NAME),
            8);
        break;
    case IR_RUNTIME_SET_CONDITION:
        set_condition(&c);
        break;
    case IR_RUNTIME_LAST_ERROR:
    case IR_RUNTIME_PEEK_ERROR:
        call_result_set(w, in, lane, child_error_last(w, lane, which == IR_RUNTIME_LAST_ERROR), 4);
        break;
    default:
        call_result_set(w, in, lane, child_error_set(w, lane, call_for_error(&c, which)), 4);
        break;
    }
}
