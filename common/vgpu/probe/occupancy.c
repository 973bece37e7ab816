#include "vgpu/probe/occupancy.h"

#define WARP              32
#define REGISTER_UNIT     256
#define SHARED_UNIT_BYTES 128

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

int occupancy_warps(int available, int registers)
{
    const int per_warp = (int)round_up((size_t)registers * WARP, REGISTER_UNIT);
    return available / per_warp / SCHEDULERS * SCHEDULERS;
}

int occupancy_blocks(const struct vg_profile *p, const struct vg_kernel_attributes *kernel,
                     int threads, size_t dynamic_shared_bytes)
{
    if (threads < 1 || threads > p->max_threads_per_block)
        return 0;
    int warps = (threads + WARP - 1) / WARP;
    int blocks = p->max_blocks_per_multiprocessor;
    int by_warps = p->max_threads_per_multiprocessor / WARP / warps;
    if (by_warps < blocks)
        blocks = by_warps;
    if (kernel->registers > 0) {
        int resident = occupancy_warps(p->registers_per_multiprocessor, kernel->registers);
        int of_block = occupancy_warps(p->registers_per_block, kernel->registers);
        int by_registers = warps <= of_block ? resident / warps : 0;
        if (by_registers == 0 && kernel->registers_are_estimated)
            by_registers = 1;
        if (by_registers < blocks)
            blocks = by_registers;
    }
    size_t shared = kernel->static_shared_bytes + dynamic_shared_bytes;
    if (shared > p->shared_per_block_optin_bytes)
        return 0;
    size_t of_block = round_up(shared + p->shared_reserved_bytes, SHARED_UNIT_BYTES);
    if (of_block > 0 && p->shared_per_multiprocessor_bytes / of_block < (size_t)blocks)
        blocks = (int)(p->shared_per_multiprocessor_bytes / of_block);
    return blocks;
}

size_t occupancy_shared(const struct vg_profile *p, const struct vg_kernel_attributes *kernel,
                        int blocks)
{
    if (blocks < 1)
        return 0;
    size_t each =
        p->shared_per_multiprocessor_bytes / (size_t)blocks / SHARED_UNIT_BYTES * SHARED_UNIT_BYTES;
    size_t taken = kernel->static_shared_bytes + p->shared_reserved_bytes;
    size_t left = each > taken ? each - taken : 0;
    size_t most = p->shared_per_block_optin_bytes > kernel->static_shared_bytes
                      ? p->shared_per_block_optin_bytes - kernel->static_shared_bytes
                      : 0;
    return left < most ? left : most;
}
