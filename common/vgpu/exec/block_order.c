#include "vgpu/exec/block_order.h"

#include "vgpu/exec/vg_device.h"
#include "vgpu/exec/vg_launch.h"

void vg_block_order(struct vg_launch *l)
{
    l->order_step = 1;
    if (!l->device->seed || l->device->seed == VG_SEED_ONE_BY_ONE)
        return;
    l->seed = vg_scramble(l->device->seed ^ vg_scramble(l->number));
    const uint64_t clusters = l->blocks / l->cluster_blocks;
    l->order_start = l->seed % clusters;
    for (uint64_t step = vg_scramble(l->seed) % clusters; step + 1 > 0; step++) {
        uint64_t a = step, b = clusters;
        while (a) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        if (b == 1) {
            l->order_step = step;
            return;
        }
    }
}

uint64_t vg_block_place(const struct vg_launch *launch, uint64_t number, uint32_t id[3])
{
    const struct vg_dim g = launch->grid, c = launch->cluster;
    const uint64_t clusters = launch->blocks / launch->cluster_blocks;
    uint64_t cluster = number / launch->cluster_blocks;
    if (launch->seed)
        cluster =
            (uint64_t)(((unsigned __int128)cluster * launch->order_step + launch->order_start) %
                       clusters);
    const struct vg_dim at = vg_place((struct vg_dim){g.x / c.x, g.y / c.y, g.z / c.z}, cluster);
    const struct vg_dim in = vg_place(c, number % launch->cluster_blocks);
    id[0] = at.x * c.x + in.x;
    id[1] = at.y * c.y + in.y;
    id[2] = at.z * c.z + in.z;
    return id[0] + (uint64_t)g.x * (id[1] + (uint64_t)g.y * id[2]);
}
