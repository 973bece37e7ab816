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

/* Element e of a lane: types narrower than a register lie packed in it, lowest first. */
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

/* is_xor: counts the bits that differ. */
static void multiply(double *d, const double *a, const double *b, const double *c, int m, int n,
                     int k, bool is_xor)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = c[i * n + j];
            for (int p = 0; p < k; p++)
                sum +=
                    is_xor ? (double)(a[i * k + p] != b[p * n + j]) : a[i * k + p] * b[p * n + j];
            d[i * n + j] = sum;
        }
}

/* ---- wmma ------------------------------------------------------------------------------------ */

static void wmma_shape(const struct ir_insn *in, enum ir_sub which, int *rows, int *columns)
{
    int m = in->compare, n = in->boolean, k = (int)in->target;
    *rows = which == SUB_LOAD_B ? k : m;
    *columns = which == SUB_LOAD_A ? k : n;
}

bool matrix_wmma_access(struct vg_warp *w, const struct ir_insn *in, bool is_store,
                        matrix_lane lane_of)
{
    int rows, columns;
    wmma_shape(in, is_store ? SUB_LOAD_C : (enum ir_sub)in->sub, &rows, &columns);
    enum ptx_type type = (enum ptx_type)in->type;
    uint32_t size = (uint32_t)ptx_type_bytes(type);
    bool row_major = in->imm & 1;
    const uint32_t *regs = list(w, in, 0);
    uint32_t tight = (uint32_t)(row_major ? columns : rows);
    struct ir_insn one = *in; /* a scalar access of the same place in the program */
    one.bytes = (uint8_t)size;
    one.vector = 1;
    for (int i = 0; i < rows * columns; i++) {
        int lane = i % 32, e = i / 32;
        if (!(w->mask >> lane & 1) || e >= (int)regs[0] * ptx_type_per_register(type))
            continue;
        uint64_t base =
            in->wide_address ? ((uint64_t *)(void *)(w->regs + in->a))[lane] : slot(w, in->a)[lane];
        uint32_t stride = in->b ? slot(w, in->b)[lane] : tight;
        uint32_t r = (uint32_t)(i / columns), c = (uint32_t)(i % columns);
        uint64_t at = base + (uint64_t)(row_major ? r * stride + c : c * stride + r) * size;
        char *p = lane_of(w, &one, lane, at, size, is_store, false);
        if (!p) {
            if (w->block->stop)
                return false;
            continue;
        }
        uint64_t bits = 0;
        if (is_store) {
            bits = element_get(w, regs, e, lane, type);
            memcpy(p, &bits, size);
        } else {
            memcpy(&bits, p, size);
            element_set(w, regs, e, lane, type, bits);
        }
    }
    w->sites[in->site].requests++;
    w->sites[in->site].sectors += ((uint32_t)(rows * columns) * size + 31) / 32;
    return true;
}

static void wmma_read(const struct vg_warp *w, const uint32_t *regs, enum ptx_type type, double *to,
                      int n)
{
    for (int i = 0; i < n; i++)
        to[i] = read_bits(element_get(w, regs, i / 32, i % 32, type), type);
}

void matrix_wmma(struct vg_warp *w, const struct ir_insn *in)
{
    int m = in->compare, n = in->boolean, k = (int)in->target;
    double a[512], b[512], c[1024] = {0}, d[1024];
    wmma_read(w, list(w, in, 1), (enum ptx_type)in->type2, a, m * k);
    wmma_read(w, list(w, in, 2), (enum ptx_type)in->type2, b, k * n);
    wmma_read(w, list(w, in, 3), (enum ptx_type)in->vector, c, m * n);
    multiply(d, a, b, c, m, n, k, false);
    for (int i = 0; i < m * n; i++)
        element_set(w, list(w, in, 0), i / 32, i % 32, (enum ptx_type)in->type,
                    write_bits(d[i], (enum ptx_type)in->type, in->mode));
}

/* ---- mma.sync -------------------------------------------------------------------------------- */

/* Where element e of a lane lies. Registers hold `per` neighbours along k; a register covers 8 rows
 * (groups of 4 lanes) by 4 * per columns of k. a: registers go down the rows first, then along k;
 * b: along k only; c and d: two neighbours a row, 8 rows lower for the second pair. */
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

void matrix_mma(struct vg_warp *w, const struct ir_insn *in)
{
    int m = in->compare, n = in->boolean, k = (int)in->target;
    double a[16 * 256], b[256 * 8], c[16 * 8], d[16 * 8];
    enum ptx_type ta = (enum ptx_type)in->type2, tb = (enum ptx_type)in->sub;
    enum ptx_type tc = (enum ptx_type)in->vector, td = (enum ptx_type)in->type;
    int per = ptx_type_per_register(ta), row, column;
    for (int lane = 0; lane < 32; lane++) {
        for (int e = 0; e < m * k / 32; e++) {
            place_a(e, lane, per, m, &row, &column);
            a[row * k + column] = read_bits(element_get(w, list(w, in, 1), e, lane, ta), ta);
        }
        for (int e = 0; e < k * n / 32; e++) {
            place_b(e, lane, per, &row, &column);
            b[row * n + column] = read_bits(element_get(w, list(w, in, 2), e, lane, tb), tb);
        }
        for (int e = 0; e < m * n / 32; e++) {
            place_c(e, lane, &row, &column);
            c[row * n + column] = read_bits(element_get(w, list(w, in, 3), e, lane, tc), tc);
        }
    }
    multiply(d, a, b, c, m, n, k, in->mode & MODE_XOR);
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < m * n / 32; e++) {
            place_c(e, lane, &row, &column);
            element_set(w, list(w, in, 0), e, lane, td,
                        write_bits(d[row * n + column], td, in->mode));
        }
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
