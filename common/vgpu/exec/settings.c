/* Values of the device that pass between host and kernels: limits, and conditions of graphs. */
#include "vgpu/exec/settings.h"

#include "vgpu/exec/vg_device.h"
#include "vgpu/ptx/ptx_arena.h"

void vg_limits_reset(struct vg_device *d)
{
#define X(number, name, value) d->limits[number] = (value);
#include "vgpu/api/limits.def"
#undef X
}

void vg_limit_set(struct vg_device *d, int limit, size_t value)
{
    if (limit >= 0 && (size_t)limit < sizeof d->limits / sizeof *d->limits)
        d->limits[limit] = value;
}

size_t vg_limit(const struct vg_device *d, int limit)
{
    return d->limits[limit];
}

#define FIRST_CONDITION UINT64_C(0x1000)

uint64_t vg_condition_new(struct vg_device *d)
{
    d->conditions =
        ptx_grow(d->conditions, d->condition_count, &d->condition_room, sizeof *d->conditions);
    d->conditions[d->condition_count] = 0;
    return FIRST_CONDITION + d->condition_count++;
}

uint32_t *vg_condition(struct vg_device *d, uint64_t handle)
{
    return handle - FIRST_CONDITION < d->condition_count ? &d->conditions[handle - FIRST_CONDITION]
                                                         : NULL;
}
