#include "vgpu/exec/block_order.h"

void vg_block_order(struct vg_launch *l)
{
    l->order_step = 1;
    if (!l->device->seed)
        return;
    l->seed = vg_scramble(l->device->seed ^ vg_scramble(l->number));
    l->order_start = l->seed % l->blocks;
    for (uint64_t step = vg_scramble(l->seed) % l->blocks; step + 1 > 0; step++) {
        uint64_t a = step, b = l->blocks;
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
    if (launch->seed)
        number = (uint64_t)(((unsigned __int128)number * launch->order_step + launch->order_start) %
                            launch->blocks);
    const struct vg_dim at = vg_place(launch->grid, number);
    id[0] = at.x;
    id[1] = at.y;
    id[2] = at.z;
    return number;
}
