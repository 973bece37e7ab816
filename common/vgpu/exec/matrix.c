#include "vgpu/exec/matrix.h"

#include "vgpu/exec/vg_warp.h"

#include <string.h>

static uint32_t *slot(const struct vg_warp *w, uint32_t offset)
{
    return (uint32_t *)(void *)(w->regs + offset);
}

/* @return a list of registers of a matrix instruction; the length precedes each list. */
static const uint32_t *list(const struct vg_warp *w, const struct ir_insn *in, int i)
{
    const uint32_t *at = w->frame->function->extra + in->extra;
    while (i--)
        at += 1 + at[0];
    return at;
}

const uint32_t *matrix_registers(const struct vg_warp *w, const struct ir_insn *in,
                                 enum matrix_operand which)
{
    return list(w, in, which) + 1;
}

/* ---- wmma ------------------------------------------------------------------------------------ */

static bool is_narrow(enum ptx_type type)
{
    return ptx_type_per_register(type) > 4;
}

struct matrix_tile matrix_wmma_tile(const struct ir_insn *in, bool is_store)
{
    const enum ir_sub which = is_store ? SUB_LOAD_C : (enum ir_sub)in->sub;
    const enum ptx_type type = (enum ptx_type)in->type;
    const uint32_t m = in->compare, n = in->boolean, k = in->target;
    if (is_narrow(type))
        return (struct matrix_tile){PTX_TYPE_b32, 8, 4, (uint32_t)ptx_type_per_register(type),
                                    true};
    return (struct matrix_tile){type, which == SUB_LOAD_B ? k : m, which == SUB_LOAD_A ? k : n, 1,
                                in->imm & 1};
}

bool matrix_is_wmma(const struct ir_insn *in, enum matrix_operand which)
{
    return in->op == IR_WMMA_MMA &&
           !((which == MATRIX_A || which == MATRIX_B) && is_narrow((enum ptx_type)in->type2));
}

bool matrix_wmma_place(const struct vg_warp *w, const struct ir_insn *in, bool is_store, int i,
                       struct matrix_access *at)
{
    const struct matrix_tile tile = matrix_wmma_tile(in, is_store);
    const uint32_t count = tile.rows * tile.columns, number = (uint32_t)i;
    if (number >= count)
        return false;
    const enum ptx_type type = tile.type;
    const uint32_t *regs = list(w, in, 0);
    const int lane = i % 32, e = i / 32;
    *at = (struct matrix_access){
        .e = e, .lane = lane, .bytes = (uint32_t)ptx_type_bytes(type), .count = (int)count};
    if (!(w->mask >> lane & 1) || e >= (int)regs[0] * ptx_type_per_register(type))
        return true;
    const uint64_t base =
        in->wide_address ? ((uint64_t *)(void *)(w->regs + in->a))[lane] : slot(w, in->a)[lane];
    const uint32_t tight = tile.row_major ? tile.columns : tile.rows;
    const uint32_t stride = in->b ? slot(w, in->b)[lane] / tile.per : tight;
    const uint32_t r = number / tile.columns, c = number % tile.columns;
    at->regs = regs;
    at->address = base + (uint64_t)(tile.row_major ? r * stride + c : c * stride + r) * at->bytes;
    return true;
}

/* ---- operands of products ------------------------------------------------------------------------------- */

struct matrix_sizes matrix_sizes_of(const struct ir_insn *in)
{
    return (struct matrix_sizes){in->compare, in->boolean, (int)in->target};
}

enum ptx_type matrix_type(const struct ir_insn *in, enum matrix_operand which)
{
    const bool wmma = in->op == IR_WMMA_MMA;
    return (enum ptx_type)(which == MATRIX_D   ? in->type
                           : which == MATRIX_A ? in->type2
                           : which == MATRIX_C ? in->vector
                           : wmma              ? in->type2
                                               : in->sub);
}

/* @return the binary logarithm of the number of elements per register. */
static inline int packed(enum ptx_type type)
{
    return type == PTX_TYPE_f16 || type == PTX_TYPE_bf16
               ? 1
               : __builtin_ctz((unsigned)ptx_type_per_register(type));
}

/* Registers of mma.sync hold `per` neighbours along k. A register covers 8 rows (one for every 4
 * lanes) by 4 * per columns of k. Registers of a go down the rows first, then along k; those of b
 * along k only. For c and d, two registers hold neighbours in a row, the next two hold neighbours 8
 * rows lower. */
static void lanes_begin(const struct vg_warp *w, const struct ir_insn *in,
                        enum matrix_operand which, struct matrix_lanes *at)
{
    const struct matrix_sizes s = matrix_sizes_of(in);
    const int rows = which == MATRIX_B ? s.k : s.m, columns = which == MATRIX_A ? s.k : s.n;
    const enum ptx_type type = matrix_type(in, which);
    const int bits = packed(type);
    *at = (struct matrix_lanes){.type = type,
                                .per = 1 << bits,
                                .bits = bits,
                                .sizes = s,
                                .elements = rows * columns,
                                .regs = matrix_registers(w, in, which)};
}

bool matrix_lanes(const struct vg_warp *w, const struct ir_insn *in, enum matrix_operand which,
                  int e, struct matrix_lanes *at)
{
    if (e == 0)
        lanes_begin(w, in, which, at);
    if (32 * e >= at->elements)
        return false;
    const struct matrix_sizes *s = &at->sizes;
    const int per = at->per, reg = e >> at->bits, part = e & (per - 1);
    const int two = s->m > 8; /* 1: registers alternate between the upper and the lower 8 rows */
    at->slot = at->regs[reg];
    at->part = part;
    if (matrix_is_wmma(in, which))
        at->first = 32 * e, at->down = 4, at->across = 1;
    else if (which == MATRIX_A)
        at->first = 8 * (reg & two) * s->k + part + 4 * per * (reg >> two), at->down = s->k,
        at->across = per;
    else if (which == MATRIX_B)
        at->first = (part + 4 * per * reg) * s->n, at->down = 1, at->across = per * s->n;
    else
        at->first = 8 * (e >> 1) * s->n + (e & 1), at->down = s->n, at->across = 2;
    return true;
}

void matrix_order_of_a(const struct ir_insn *in, struct matrix_order *order)
{
    const struct matrix_sizes s = matrix_sizes_of(in);
    const int bits = packed(matrix_type(in, MATRIX_A)), part = (1 << bits) - 1, two = s.m > 8;
    const bool wmma = matrix_is_wmma(in, MATRIX_A);
    for (int i = 0; i < s.m; i++)
        order->row[i] = wmma ? i * s.k : (i / 8 << bits) * 32 + i % 8 * 4;
    for (int p = 0; p < s.k; p++)
        order->column[p] =
            wmma ? p : (((p >> bits >> 2) << two << bits) + (p & part)) * 32 + (p >> bits) % 4;
}

/* ---- 8x8 matrices of 16-bit elements -------------------------------------------------------- */

/* Loads one matrix; all its rows exist. */
static void load_rows(uint32_t to[VG_LANES], char *const rows[8], bool transposed)
{
    for (int row = 0; row < 8; row++) {
        uint16_t m[8];
        memcpy(m, rows[row], sizeof m);
        if (!transposed)
            memcpy(to + 4 * row, m, sizeof m);
        else
            for (int column = 0; column < 8; column++)
                memcpy((char *)&to[4 * column + row / 2] + row % 2 * 2, &m[column], sizeof *m);
    }
}

void matrix_exchange_rows(struct vg_warp *w, const struct ir_insn *in, char *const rows[32],
                          bool is_store)
{
    const uint32_t *regs = w->frame->function->extra + in->extra;
    if (!is_store && w->mask == VG_FULL) {
        for (int k = 0; k < in->vector; k++)
            load_rows(slot(w, regs[k]), rows + 8 * k, in->mode & MODE_TRANS);
        return;
    }
    for (int k = 0; k < in->vector; k++)
        for (int lane = 0; lane < 32; lane++)
            for (int half = 0; half < 2; half++) {
                int row = lane / 4, column = lane % 4 * 2 + half;
                if (in->mode & MODE_TRANS) {
                    int swap = row;
                    row = column;
                    column = swap;
                }
                char *p = rows[8 * k + row];
                uint32_t *r = &slot(w, regs[k])[lane];
                uint16_t v = (uint16_t)(*r >> 16 * half);
                if (!p)
                    continue;
                if (is_store) {
                    memcpy(p + 2 * column, &v, 2);
                } else {
                    memcpy(&v, p + 2 * column, 2);
                    *r = (*r & ~(0xffffu << 16 * half)) | (uint32_t)v << 16 * half;
                }
            }
}

void matrix_move(struct vg_warp *w, const struct ir_insn *in)
{
    uint16_t m[8][8];
    for (int lane = 0; lane < 32; lane++)
        for (int half = 0; half < 2; half++)
            m[lane / 4][lane % 4 * 2 + half] = (uint16_t)(slot(w, in->a)[lane] >> 16 * half);
    for (int lane = 0; lane < 32; lane++)
        slot(w, in->d)[lane] = m[lane % 4 * 2][lane / 4] | (uint32_t)m[lane % 4 * 2 + 1][lane / 4]
                                                               << 16;
}
