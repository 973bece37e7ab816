/** @file
 * Races between blocks on global memory, by plain stores. See block_races.c.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

struct vg_launch;

enum { VG_BESIDE_MOST = 4 };

/** How a store may race with other blocks. */
struct vg_racing_store {
    bool adds;      /**< it writes a value that was computed from the element's last value */
    bool is_common; /**< all threads of the grid have the same address */
    uint8_t beside; /**< number of other elements from which the value was computed */
    int64_t offset[VG_BESIDE_MOST]; /**< their distances from the address register's value */
};

/** @return whether blocks of a kernel can wait for each other or agree on an order. */
bool vg_blocks_may_agree(const struct ir_function *f);
/** @return [frame_bytes / 4] for each slot, which instruction sets it; to be freed. NULL: out of
 * memory */
uint32_t *vg_definitions(const struct ir_function *f);
/** @return whether a store may race. @param definitions  of its function */
bool vg_store_may_race(const struct ir_function *f, size_t store, const uint32_t *definitions,
                       struct vg_racing_store *to);
/** @return whether loaded data decides if a store is executed. Data at addresses that are the same in
 * all blocks does not count, such as the condition of a loop of the whole grid. */
bool vg_store_is_decided(const struct ir_function *f, const struct ir_insn *store);
/** Records the execution of such a store. @param addresses  of the lanes, without the instruction's
 * offset; not read if its address is fixed */
void vg_racing_store(struct vg_warp *w, const struct ir_insn *in, const uint64_t *addresses);
/** Called after a launch: drops the notes. */
void vg_block_races_end(struct vg_launch *l);

/** @return which bytes of a word are among @p bytes bytes from @p at. */
static inline uint8_t vg_bytes_of_word(uint64_t word, uint64_t at, uint32_t bytes)
{
    uint8_t mask = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (word + i >= at && word + i < at + bytes)
            mask |= (uint8_t)(1u << i);
    return mask;
}
