#include "vgpu/exec/matrix.h"
#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/rounding.h"

#include <string.h>

static uint32_t *slot(const struct vg_warp *w, uint32_t offset)
{
    return (uint32_t *)(void *)(w->regs + offset);
}

/* The lists of registers that a matrix instruction names, each preceded by its length. */
static const uint32_t *list(const struct vg_warp *w, const struct ir_insn *in, int i)
{
    const uint32_t *at = w->frame->function->extra + in->extra;
    while (i--)
        at += 1 + at[0];
    return at;
}

static double read_bits(uint64_t bits64, enum ptx_type type)
{
    const uint32_t bits = (uint32_t)bits64;
    switch (type) {
    case PTX_TYPE_f64:
        return f64_of_bits(bits64);
    case PTX_TYPE_e4m3:
    case PTX_TYPE_e5m2:
        return widen_byte(bits & 0xff, type == PTX_TYPE_e5m2);
    case PTX_TYPE_b1:
        return bits & 1;
    case PTX_TYPE_u4:
        return bits & 15;
    case PTX_TYPE_s4:
        return (double)((int32_t)(bits << 28) >> 28);
    case PTX_TYPE_f16:
        return lane_f32_from_f16(bits & 0xffff);
    case PTX_TYPE_bf16:
        return lane_f32_from_bf16(bits);
    case PTX_TYPE_tf32:
        return f32_of_bits(bits & 0xffffe000u);
    case PTX_TYPE_u8:
        return (double)(bits & 0xff);
    case PTX_TYPE_s8:
        return (double)(int8_t)bits;
    case PTX_TYPE_s32:
        return (double)(int32_t)bits;
    default:
        return f32_of_bits(bits);
    }
}

static uint64_t write_bits(double value, enum ptx_type type, uint32_t mode)
{
    switch (type) {
    case PTX_TYPE_f64:
        return bits_of_f64(value);
    case PTX_TYPE_f16:
        return lane_f16_from_f32(lane_odd_f32(value));
    case PTX_TYPE_bf16:
        return lane_bf16_from_f32(lane_odd_f32(value));
    case PTX_TYPE_s32:
        if (mode & MODE_SATFINITE)
            value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
        return (uint32_t)(int64_t)value;
    default:
        return bits_of_f32(lane_nan_f32((float)value));
    }
}

/* Element e of a lane: types narrower than a register are packed in it, lowest first. */
static uint64_t element_get(const struct vg_warp *w, const uint32_t *regs, int e, int lane,
                            enum ptx_type type)
{
    if (type == PTX_TYPE_f64)
        return ((const uint64_t *)(const void *)(w->regs + regs[1 + e]))[lane];
    int per = ptx_type_per_register(type);
    return slot(w, regs[1 + e / per])[lane] >> 32 / per * (e % per);
}

static void element_set(struct vg_warp *w, const uint32_t *regs, int e, int lane,
                        enum ptx_type type, uint64_t value)
{
    int per = ptx_type_per_register(type);
    uint32_t *to = &slot(w, regs[1 + e / per])[lane];
    if (type == PTX_TYPE_f64) {
        ((uint64_t *)(void *)(w->regs + regs[1 + e]))[lane] = value;
    } else if (per == 1) {
        *to = (uint32_t)value;
    } else {
        int shift = 32 / per * (e % per);
        uint32_t keep = (per == 2 ? 0xffffu : 0xffu) << shift;
        *to = (*to & ~keep) | ((uint32_t)value << shift & keep);
    }
}

/* d += a * b. n is a multiple of 8. */
static void multiply(double *d, const double *a, const double *b, int m, int n, int k)
{
    typedef double pair __attribute__((vector_size(16)));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j += 8) {
            pair sum[4], row[4];
            memcpy(sum, d + i * n + j, sizeof sum);
            for (int p = 0; p < k; p++) {
                const double left = a[i * k + p];
                memcpy(row, b + p * n + j, sizeof row);
                sum[0] += left * row[0];
                sum[1] += left * row[1];
                sum[2] += left * row[2];
                sum[3] += left * row[3];
            }
            memcpy(d + i * n + j, sum, sizeof sum);
        }
}

/* The number of bits that differ, instead of products. */
static void count_differences(double *d, const double *a, const double *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++)
        for (int p = 0; p < k; p++)
            d[i] += a[i / n * k + p] != b[p * n + i % n];
}

/* ---- wmma ------------------------------------------------------------------------------------ */

static void wmma_shape(const struct ir_insn *in, enum ir_sub which, int *rows, int *columns)
{
    int m = in->compare, n = in->boolean, k = (int)in->target;
    *rows = which == SUB_LOAD_B ? k : m;
    *columns = which == SUB_LOAD_A ? k : n;
}

bool matrix_wmma_place(const struct vg_warp *w, const struct ir_insn *in, bool is_store, int i,
                       struct matrix_access *at)
{
    int rows, columns;
    wmma_shape(in, is_store ? SUB_LOAD_C : (enum ir_sub)in->sub, &rows, &columns);
    if (i >= rows * columns)
        return false;
    const enum ptx_type type = (enum ptx_type)in->type;
    const uint32_t *regs = list(w, in, 0);
    const int lane = i % 32, e = i / 32;
    *at = (struct matrix_access){
        .e = e, .lane = lane, .bytes = (uint32_t)ptx_type_bytes(type), .count = rows * columns};
    if (!(w->mask >> lane & 1) || e >= (int)regs[0] * ptx_type_per_register(type))
        return true;
    const bool row_major = in->imm & 1;
    const uint64_t base =
        in->wide_address ? ((uint64_t *)(void *)(w->regs + in->a))[lane] : slot(w, in->a)[lane];
    const uint32_t tight = (uint32_t)(row_major ? columns : rows);
    const uint32_t stride = in->b ? slot(w, in->b)[lane] : tight;
    const uint32_t r = (uint32_t)(i / columns), c = (uint32_t)(i % columns);
    at->regs = regs;
    at->address = base + (uint64_t)(row_major ? r * stride + c : c * stride + r) * at->bytes;
    return true;
}

bool matrix_wmma_access(struct vg_warp *w, const struct ir_insn *in, bool is_store,
                        matrix_lane lane_of)
{
    const enum ptx_type type = (enum ptx_type)in->type;
    struct matrix_access at = {0};
    struct ir_insn one = *in; /* a scalar access of the same place in the program */
    one.bytes = (uint8_t)ptx_type_bytes(type);
    one.vector = 1;
    for (int i = 0; matrix_wmma_place(w, in, is_store, i, &at); i++) {
        if (!at.regs)
            continue;
        char *p = lane_of(w, &one, at.lane, at.address, at.bytes, is_store, false);
        if (!p) {
            if (w->block->stop)
                return false;
            continue;
        }
        uint64_t bits = 0;
        if (is_store) {
            bits = element_get(w, at.regs, at.e, at.lane, type);
            memcpy(p, &bits, at.bytes);
        } else {
            memcpy(&bits, p, at.bytes);
            element_set(w, at.regs, at.e, at.lane, type, bits);
        }
    }
    w->sites[in->site].requests++;
    w->sites[in->site].sectors += ((uint32_t)at.count * at.bytes + 31) / 32;
    return true;
}

/* ---- products ------------------------------------------------------------------------------- */

/* Where element e of a lane of mma.sync is. Registers hold `per` neighbours along k; a register
 * covers 8 rows (groups of 4 lanes) by 4 * per columns of k. a: registers go down the rows first, then
 * along k; b: along k only; c and d: two neighbours a row, 8 rows lower for the second pair. */
static void place_a(int e, int lane, int per, int m, int *row, int *k)
{
    int reg = e / per, down = m / 8; /* registers one below the other */
    *row = lane / 4 + 8 * (reg % down);
    *k = (lane % 4) * per + e % per + 4 * per * (reg / down);
}

static void place_b(int e, int lane, int per, int *k, int *column)
{
    *k = (lane % 4) * per + e % per + 4 * per * (e / per);
    *column = lane / 4;
}

static void place_c(int e, int lane, int *row, int *column)
{
    *row = lane / 4 + 8 * (e >> 1);
    *column = (lane % 4) * 2 + (e & 1);
}

struct matrix_sizes matrix_sizes_of(const struct ir_insn *in)
{
    return (struct matrix_sizes){in->compare, in->boolean, (int)in->target};
}

static enum ptx_type type_of(const struct ir_insn *in, int which)
{
    const bool wmma = in->op == IR_WMMA_MMA;
    return (enum ptx_type)(which == MATRIX_D   ? in->type
                           : which == MATRIX_A ? in->type2
                           : which == MATRIX_C ? in->vector
                           : wmma              ? in->type2
                                               : in->sub);
}

bool matrix_element(const struct vg_warp *w, const struct ir_insn *in, enum matrix_operand which,
                    int i, struct matrix_element *at)
{
    const struct matrix_sizes s = matrix_sizes_of(in);
    const int rows = which == MATRIX_B ? s.k : s.m, columns = which == MATRIX_A ? s.k : s.n;
    const enum ptx_type type = type_of(in, which);
    int row, column;
    if (i >= rows * columns)
        return false;
    *at = (struct matrix_element){
        .regs = list(w, in, which), .e = i / 32, .lane = i % 32, .index = i, .type = type};
    if (in->op == IR_WMMA_MMA)
        return true;
    if (which == MATRIX_A)
        place_a(at->e, at->lane, ptx_type_per_register(type), s.m, &row, &column);
    else if (which == MATRIX_B)
        place_b(at->e, at->lane, ptx_type_per_register(type), &row, &column);
    else
        place_c(at->e, at->lane, &row, &column);
    at->index = row * columns + column;
    return true;
}

double matrix_number(const struct vg_warp *w, const struct matrix_element *at)
{
    return read_bits(element_get(w, at->regs, at->e, at->lane, at->type), at->type);
}

/* One element of every lane. Where it is in the matrix is linear in lane / 4 and in lane % 4, in all
 * layouts. */
struct lanes_element {
    struct matrix_element first; /* of lane 0 */
    int down, across;            /* to the place of lane 4, of lane 1 */
};

static bool lanes_element(const struct vg_warp *w, const struct ir_insn *in,
                          enum matrix_operand which, int e, struct lanes_element *to)
{
    struct matrix_element right, below;
    if (!matrix_element(w, in, which, 32 * e, &to->first))
        return false;
    matrix_element(w, in, which, 32 * e + 1, &right);
    matrix_element(w, in, which, 32 * e + 4, &below);
    to->across = right.index - to->first.index;
    to->down = below.index - to->first.index;
    return true;
}

static void read_operand(const struct vg_warp *w, const struct ir_insn *in,
                         enum matrix_operand which, double *matrix)
{
    struct lanes_element at;
    for (int e = 0; lanes_element(w, in, which, e, &at); e++) {
        const struct matrix_element *f = &at.first;
        const uint32_t mask = f->type == PTX_TYPE_tf32 ? 0xffffe000u : ~0u;
        const bool is_float = f->type == PTX_TYPE_f32 || f->type == PTX_TYPE_tf32;
        double *to = matrix + f->index;
        for (int lane = 0; is_float && lane < 32; lane++)
            to[lane / 4 * at.down + lane % 4 * at.across] =
                f32_of_bits(slot(w, f->regs[1 + e])[lane] & mask);
        for (int lane = 0; !is_float && lane < 32; lane++)
            to[lane / 4 * at.down + lane % 4 * at.across] =
                read_bits(element_get(w, f->regs, e, lane, f->type), f->type);
    }
}

static void write_result(struct vg_warp *w, const struct ir_insn *in, const double *d)
{
    struct lanes_element at;
    for (int e = 0; lanes_element(w, in, MATRIX_D, e, &at); e++)
        for (int lane = 0; lane < 32; lane++) {
            const double v = d[at.first.index + lane / 4 * at.down + lane % 4 * at.across];
            element_set(w, at.first.regs, e, lane, at.first.type,
                        write_bits(v, at.first.type, in->mode));
        }
}

void matrix_multiply(struct vg_warp *w, const struct ir_insn *in)
{
    const struct matrix_sizes s = matrix_sizes_of(in);
    double a[16 * 256], b[256 * 16], d[1024] = {0};
    read_operand(w, in, MATRIX_A, a);
    read_operand(w, in, MATRIX_B, b);
    read_operand(w, in, MATRIX_C, d);
    const bool is_xor = in->op == IR_MMA && in->mode & MODE_XOR;
    (is_xor ? count_differences : multiply)(d, a, b, s.m, s.n, s.k);
    write_result(w, in, d);
}

/* ---- 8x8 matrices of 16-bit elements -------------------------------------------------------- */

void matrix_exchange_rows(struct vg_warp *w, const struct ir_insn *in, char *const rows[32],
                          bool is_store)
{
    const uint32_t *regs = w->frame->function->extra + in->extra;
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
