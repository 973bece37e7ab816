#include "vgpu/exec/read_only_intervals.h"

#include "vgpu/exec/vg_block.h"
#include "vgpu/exec/vg_launch.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

/* @return whether an instruction cannot write to shared memory, or let other blocks, copies or
 * functions do so. */
static bool is_harmless(const struct ir_insn *in)
{
    switch (in->op) {
    case IR_ST:
    case IR_ATOM:
        return in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_LOCAL;
    case IR_LD:
    case IR_LDMATRIX:
    case IR_WMMA_LOAD:
    case IR_WMMA_MMA:
    case IR_MMA:
    case IR_MMA_SP:
    case IR_MOVMATRIX:
    case IR_BAR_WARP:
        return true;
    case IR_CALL:
        return false;
    }
    const enum ir_class class = ir_rows[in->op].class;
    return class <= IR_CLASS_CONTROL || class == IR_CLASS_EXCHANGE;
}

/* @param seen  [insn_count] becomes the number of the barrier for instructions that may follow it
 * @param list  room for all instructions @param next  room for successors */
static bool only_reads_follow(const struct ir_function *f, uint32_t barrier, uint32_t *seen,
                              uint32_t *list, uint32_t *next)
{
    size_t count = 0;
    for (uint32_t from = barrier, done = 0;; from = list[done++]) {
        const size_t n = ptx_flow_next(f, from, next);
        for (size_t k = 0; k < n; k++) {
            const struct ir_insn *in = &f->insns[next[k]];
            if (seen[next[k]] == barrier + 1 || ptx_is_barrier(in))
                continue;
            if (!is_harmless(in))
                return false;
            seen[next[k]] = barrier + 1;
            list[count++] = next[k];
        }
        if (done == count)
            return true;
    }
}

void vg_read_only_barriers(struct ir_function *f)
{
    uint32_t *seen = calloc(f->insn_count + 1, sizeof *seen),
             *list = calloc(f->insn_count + 1, sizeof *list),
             *next = calloc(f->extra_count + 2, sizeof *next);
    for (uint32_t i = 0; seen && list && next && i < f->insn_count; i++)
        if (ptx_is_barrier(&f->insns[i]) && !(f->insns[i].mode & MODE_ARRIVE))
            f->insns[i].read_only = only_reads_follow(f, i, seen, list, next);
    free(seen);
    free(list);
    free(next);
}

static bool is_initialised(const struct vg_block *b)
{
    const size_t words = b->launch->shared_bytes / 4;
    return words && b->shared_set[0] == 0x0f &&
           memcmp(b->shared_set, b->shared_set + 1, words - 1) == 0;
}

void vg_interval_begin(struct vg_block *b, bool none_writes)
{
    b->is_read_only = none_writes && b->launch->cluster_blocks <= 1 && !b->race.keeps_log;
    b->is_complete = b->is_read_only && is_initialised(b);
}
