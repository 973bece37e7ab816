#include "vgpu/exec/lane_call.h"

#include "vgpu/exec/findings.h"
#include "vgpu/exec/unset_local.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

#include <string.h>

char *lane_memory(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                  size_t bytes, bool is_write)
{
    struct vg_launch *launch = w->block->launch;
    if (address - VG_LOCAL_BASE < launch->local_bytes &&
        bytes <= launch->local_bytes - (address - VG_LOCAL_BASE)) {
        if (is_write && w->copies_unset)
            unset_local_set(w, 1u << lane, address - VG_LOCAL_BASE, bytes);
        return vg_local(w, lane) + (address - VG_LOCAL_BASE);
    }
    if (address - VG_SHARED_BASE < w->block->shared_bytes &&
        bytes <= w->block->shared_bytes - (address - VG_SHARED_BASE))
        return w->block->shared + (address - VG_SHARED_BASE);
    struct vg_memory *m = &w->worker->device->memory;
    struct vg_allocation *a = vg_memory_below(m, address);
    if (a && a->live && address - a->address < a->bytes &&
        bytes <= a->bytes - (address - a->address)) {
        if (is_write && !a->initialised)
            vg_memory_mark(m, address, bytes);
        return vg_memory_host(m, address);
    }
    const uint32_t shown = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    vg_find_address(w, in, lane, address, shown, is_write);
    return NULL;
}

void call_argument_read(const struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t i,
                        void *to, size_t bytes)
{
    const uint32_t *list = w->frame->function->extra + in->extra;
    list += 1 + list[0];
    memset(to, 0, bytes);
    if (i < list[0])
        memcpy(to, vg_local(w, lane) + w->frame->local_base + list[1 + i], bytes);
}

uint64_t call_argument(const struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t i,
                       size_t bytes)
{
    uint64_t v = 0;
    unsigned char all[8];
    call_argument_read(w, in, lane, i, all, bytes);
    memcpy(&v, all, bytes);
    return v;
}

void call_result_set(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t v,
                     size_t bytes)
{
    const uint32_t *list = w->frame->function->extra + in->extra;
    const size_t at = list[0] ? w->frame->local_base + list[1] : 0;
    if (list[0] && w->copies_unset)
        unset_local_set(w, 1u << lane, at, bytes);
    if (list[0])
        memcpy(vg_local(w, lane) + at, &v, bytes);
}

/* The heap of malloc() in kernels consists of normal allocations; the mutex serialises its
 * calls. */
static pthread_mutex_t heap_mutex = PTHREAD_MUTEX_INITIALIZER;

uint64_t heap_take(struct vg_warp *w, uint64_t bytes)
{
    struct vg_memory *m = &w->worker->device->memory;
    uint64_t address = 0;
    pthread_mutex_lock(&heap_mutex);
    /* The list of allocations must not move while other workers search it. */
    if (m->count >= m->room ||
        vg_memory_take(m, bytes, "of malloc in a kernel", &address, NULL) != ST_OK)
        address = 0;
    pthread_mutex_unlock(&heap_mutex);
    return address;
}

void heap_free(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address)
{
    struct vg_memory *m = &w->worker->device->memory;
    pthread_mutex_lock(&heap_mutex);
    struct vg_allocation *a = vg_memory_below(m, address);
    if (a && a->live && a->address == address && !a->number) {
        a->live = false;
        m->used_bytes -= a->bytes;
    } else if (address) {
        vg_find(w, in, VG_FAULT_INVALID_OBJECT, lane, address, 0, false,
                "free() of a pointer that malloc() did not return");
    }
    pthread_mutex_unlock(&heap_mutex);
}
