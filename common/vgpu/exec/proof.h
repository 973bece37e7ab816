/** @file
 * Proof by execution: what was y made of?
 *
 * While a proof runs, each 32-bit word (of a register, of global, shared, local and constant memory)
 * has an origin: an element of a prime field (proof_field.h) and the way that it came
 * (proof_ways.h). Each element of x has a random one, or 0 if it is 0, so that products may be skipped
 * there; each element of k has one that depends on its value. Instructions on floating-point numbers compute with the elements what they compute with the
 * values, but exactly; moves, loads, stores, shuffles, selections, copies and conversions between
 * floating-point types carry origins along; whatever else writes a word leaves it without one. A word
 * without an origin (all zeros) stands for the number that it holds.
 *
 * At the end y must have the elements of the convolution of x and k. By polynomial identity testing
 * that is so for any order, tiling, algorithm and structure of calls that computes the sums of
 * products on the device, and for no other reason: what the host computed, what an earlier call left, and
 * products that are multiplied by zero have other elements. A value that is split in parts
 * (x = high + low) carries its element in the first part, and x - high has the element 0.
 *
 * The elements compute exactly, the words do not: a large number absorbs a sum, and a word's bits can be
 * read as another type's. So each origin has the value that its word ought to hold and a bound of what
 * was lost: an operand that holds something else has lost the difference, and a sum or product loses what
 * its operands lost. An output may have lost a small part of its largest sum only (VG_PROOF_LOST).
 *
 * Data from the host has no origin, with one exception: a word that is bit for bit an element of
 * k is that element. So weights may be put in another order on the host.
 *
 *     proof.c         opening, tensors, what the host and copies write, frames and blocks
 *     proof_values.c  registers, sums and products
 *     proof_step.c    what kind each instruction is of, by the rows of opcodes.def
 *     proof_numbers.c arithmetic
 *     proof_moves.c   moves, selections, conversions, bits, shuffles
 *     proof_memory.c  loads, stores, atomics, copies to shared memory, textures
 *     proof_bytes.c   words that are copied byte by byte
 *     proof_integers.c  integers: fixed point
 *     proof_tile.c    whether a tile is one of the unrolled matrix
 *     proof_matrix.c  matrix instructions
 *     proof_products.inc  ... their products, for each instruction set
 *     proof_field.c   the field
 *     proof_log.c     how one output was made, if it is followed
 *     proof_found.c   what the threads of a finding did last, then
 *
 * Only the interpreter proves, on one core: it calls proof_step() before each instruction.
 */
#pragma once

#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/proof_field.h"
#include "vgpu/exec/proof_ways.h"
#include "vgpu/exec/vg_exec.h"

struct proof_log;

/** Whether something is known of a word. */
static inline bool proof_known(struct origin o)
{
    return o.low || o.high || o.step;
}

/** An element, with this bit set; 0: none. */
#define PROOF_ELEMENT UINT32_C(0x80000000)

/** Of one number: of the word as a whole, or of a half. */
struct proof_value {
    uint32_t element; /**< with PROOF_ELEMENT, or 0 */
    float lost;
    uint64_t way;
    double number; /**< of an operand: what its register holds; of a result: before it is rounded */
};

/** How products came to a word of global memory by atomic additions since it was last stored to. */
struct proof_joins {
    uint32_t adder;    /**< the thread that added last */
    uint32_t count;    /**< of additions, those of one thread in a row are one */
    uint32_t products; /**< that came so */
    uint32_t part;     /**< those of the adder */
    uint32_t largest;  /**< part of one adder */
};

/** Whether nearly all products of a sum came so, and not all at once. */
static inline bool proof_joins_whole(const struct proof_joins *j, uint32_t products)
{
    return j->count > 1 && 10.0 * j->products >= 9.0 * products &&
           20.0 * j->largest <= 19.0 * j->products;
}

struct proof_tensor {
    uint64_t address;
    size_t bytes, filled;
    uint32_t *elements; /**< [bytes / 4] */
};

/** An instruction. */
struct proof_site {
    uint64_t products; /**< of x and k, that it made */
    uint64_t padded;   /**< of x or k and a zero */
    bool executed, stores;
};

/** All launches of one kernel. */
struct proof_kernel {
    const struct vg_kernel *kernel;
    struct vg_proof_kernel counts;
    struct proof_site *sites; /**< [insn_count] */
    size_t site_count;
};

struct proof {
    uint64_t key;              /**< of the random elements */
    struct origin *global;     /**< of the words of global memory */
    struct proof_joins *joins; /**< of these */
    size_t words;
    struct proof_tensor tensor[VG_PROOF_TENSORS];
    uint32_t *values; /**< the values of k: a hash table; 0: free */
    size_t value_mask;
    size_t taps;      /**< weights of an output map, 0: not known */
    double largest_x; /**< absolute */
    double *map_sums; /**< of the absolute weights of each output map; NULL: no taps */
    size_t maps;
    struct proof_weight *weights; /**< the elements of k: a hash table (proof_tile.c) */
    size_t weight_mask;
    struct proof_kernel *kernels;
    size_t kernel_count, kernel_room;
    struct proof_kernel *running;
    struct proof_log *log; /**< NULL: no output is followed */
};

static inline struct proof *proof_of(const struct vg_warp *w)
{
    return w->worker->device->proof;
}

static inline struct vg_proof_kernel *proof_counts(const struct vg_warp *w)
{
    return &proof_of(w)->running->counts;
}

/** The origins of a slot of the running frame, a word each. */
static inline struct origin *proof_slot(const struct vg_warp *w, uint32_t slot)
{
    return w->frame->origins + slot / 4;
}

/** Whether some lane of a slot may have an origin; then: how many words each lane has. */
static inline uint32_t proof_holds(const struct vg_warp *w, uint32_t slot)
{
    return w->frame->holds[slot / 4];
}

/** Makes room for origins in a slot. @param stride  words of a lane @return them */
struct origin *proof_open(struct vg_warp *w, uint32_t slot, uint32_t stride);

/** Of one type and operation, compilers leave little of what follows. */
#define PROOF_INLINE static inline __attribute__((always_inline))

/** @return what bits of a type are as a number; of a pair: the lower one. */
PROOF_INLINE double proof_double(uint64_t bits, enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_f64:
        return f64_of_bits(bits);
    case PTX_TYPE_s32:
        return (int32_t)bits;
    case PTX_TYPE_u32:
        return (uint32_t)bits;
    case PTX_TYPE_s64:
    case PTX_TYPE_u64:
        return (double)(int64_t)bits;
    case PTX_TYPE_f16:
    case PTX_TYPE_f16x2:
        return lane_f32_from_f16((uint32_t)bits & 0xffff);
    case PTX_TYPE_bf16:
    case PTX_TYPE_bf16x2:
        return lane_f32_from_bf16((uint32_t)bits & 0xffff);
    default:
        return f32_of_bits((uint32_t)bits);
    }
}

/** Whether numbers of a type are halves of words. */
PROOF_INLINE bool proof_is_half(enum ptx_type type)
{
    return type == PTX_TYPE_f16 || type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16 ||
           type == PTX_TYPE_bf16x2;
}

/** A result. A value that is zero came no way: the rest of a value that was split, say. It lost no more than
 * it is, however it came, so that sums whose rests are added again (Kahan's) lose little; and no more than
 * its operands did, because one sum in 2^30 is zero by chance. */
PROOF_INLINE struct proof_value proof_value_of(uint32_t element, uint64_t way, double number,
                                               double lost)
{
    const double size = __builtin_fabs(number), least = element || lost < size ? lost : size;
    return (struct proof_value){PROOF_ELEMENT | element, (float)least, element ? way : 0, number};
}

/** Set in what a half has lost: its value has the bits of a half, else those of a bfloat16. */
#define PROOF_IS_F16 UINT32_C(0x80000000)
/** Loss of the lower half of a float32, which does not stand for a number: a NaN exceeds every bound. */
#define PROOF_NO_HALF UINT32_C(0x7fff)

/** An operand: a number of a type, with the element that its word or the half of it has. The bits of a
 * bfloat16 in the upper half of a word are a float32. */
PROOF_INLINE struct proof_value proof_operand_of(struct origin o, double number, enum ptx_type type,
                                                 int half)
{
    const bool upper = half || (!o.low && type == PTX_TYPE_f32);
    struct proof_value r = {.element = upper ? o.high : o.low, .number = number};
    if (!r.element)
        return r;
    const int left = !upper && proof_is_half(type) ? 16 : 0;
    const uint32_t mask = upper ? 0xffff0000 : 0xffffffff, lost = o.lost << left & mask;
    const uint32_t value = o.value << left & mask;
    const float expected =
        lost & PROOF_IS_F16 ? lane_f32_from_f16(value >> 16) : f32_of_bits(value);
    r.way = o.way;
    r.lost = f32_of_bits(lost & ~PROOF_IS_F16) + (float)__builtin_fabs(number - (double)expected);
    return r;
}

/** The origin of a word, or of its lower half, that an operation gives. */
PROOF_INLINE struct origin proof_origin(struct proof_value v, enum ptx_type type)
{
    const float number = (float)v.number;
    if (!v.element)
        return (struct origin){0};
    if (!proof_is_half(type))
        return (struct origin){.low = v.element,
                               .way = v.way,
                               .value = bits_of_f32(number),
                               .lost = bits_of_f32(v.lost)};
    const bool is_f16 = type == PTX_TYPE_f16 || type == PTX_TYPE_f16x2;
    const uint32_t bits = is_f16 ? lane_f16_from_f32(number) : lane_bf16_from_f32(number);
    const float kept = is_f16 ? lane_f32_from_f16(bits) : lane_f32_from_bf16(bits);
    const uint32_t lost = bits_of_f32(v.lost + __builtin_fabsf(number - kept)) & ~PROOF_IS_F16;
    return (struct origin){.low = v.element,
                           .way = v.way,
                           .value = bits,
                           .lost = (lost + 0xffff) >> 16 | (is_f16 ? PROOF_IS_F16 >> 16 : 0)};
}

/** Whether a word with an element is one number, not two halves. */
static inline bool proof_is_whole(struct origin o)
{
    return !o.high && o.value >> 16;
}

/** Field by field: a copy of what was just put together would wait for its parts to reach memory. */
PROOF_INLINE void proof_write(struct origin *to, const struct origin *o)
{
    to->low = o->low;
    to->high = o->high;
    to->way = o->way;
    to->step = o->step;
    to->value = o->value;
    to->lost = o->lost;
}

/** Half of a word, as the lower half of another one. */
static inline struct origin proof_part(struct origin o, int half)
{
    const uint32_t element = half ? o.high : o.low;
    return (struct origin){.low = element,
                           .way = element ? o.way : 0,
                           .value = o.value >> 16 * half & 0xffff,
                           .lost = !half && proof_is_whole(o) ? PROOF_NO_HALF
                                                              : o.lost >> 16 * half & 0xffff};
}

/** A word of two such. */
static inline struct origin proof_joined(struct origin low, struct origin high)
{
    return (struct origin){.low = low.low,
                           .high = high.low,
                           .way = way_sum(low.way, high.way),
                           .value = (low.value & 0xffff) | (high.low ? high.value << 16 : 0),
                           .lost = (low.lost & 0xffff) | high.lost << 16};
}

/** The value that stands for a number without an element. */
struct proof_value proof_plain_number(double number, enum ptx_type type);

/** A value, or if it has no element: the one that stands for the number. */
PROOF_INLINE struct proof_value proof_number(struct proof_value v, enum ptx_type type)
{
    return v.element ? v : proof_plain_number(v.number, type);
}

/** Of values with elements. @par What rounding loses of a result, at most, and of a sum never more than
 * the smaller addend. */
#define ROUNDING 0x1p-23
PROOF_INLINE struct proof_value proof_sum(struct proof_value a, struct proof_value b)
{
    const double sum = a.number + b.number, rounding = ROUNDING * __builtin_fabs(sum);
    double smaller = __builtin_fabs(a.number);
    smaller = __builtin_fabs(b.number) < smaller ? __builtin_fabs(b.number) : smaller;
    return proof_value_of(field_add(a.element & FIELD_MASK, b.element & FIELD_MASK),
                          way_sum(a.way, b.way), sum,
                          a.lost + b.lost + (smaller < rounding ? smaller : rounding));
}

/** The same. @param multiplied  whether it is a product of x and k */
PROOF_INLINE struct proof_value proof_product(struct proof_value a, struct proof_value b,
                                              bool *multiplied)
{
    const uint32_t element = field_multiply(a.element & FIELD_MASK, b.element & FIELD_MASK);
    const double size_a = __builtin_fabs(a.number), size_b = __builtin_fabs(b.number);
    *multiplied = element && way_multiplies(a.way, b.way);
    return proof_value_of(element, way_product(a.way, b.way), a.number * b.number,
                          (size_a + a.lost) * b.lost + size_b * a.lost +
                              ROUNDING * size_a * size_b);
}

/** The numbers of a matrix, row-major. */
enum { PROOF_FACTORS = 16 * 256 };
struct proof_factors {
    uint64_t element[PROOF_FACTORS]; /**< with PROOF_ELEMENT if it has one; and PROOF_COUNTS */
    uint64_t way[PROOF_FACTORS];
    double number[PROOF_FACTORS], lost[PROOF_FACTORS];
    uint64_t ways; /**< all of those whose element is not 0 */
    bool wayless;  /**< some of those came no way */
};
/** Set in the element of a number that is not just zero. */
#define PROOF_COUNTS (UINT64_C(1) << 32)

/** Lanes have made products of x and k, @p count together. */
void proof_multiplied(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes, uint32_t count);

/** Writes lanes of a slot. @param from  [32] @param stride  words of a lane: 1 or 2; of the second of
 * two words: @p word 1 */
void proof_put(struct vg_warp *w, uint32_t slot, uint32_t lanes, const struct origin *from,
               uint32_t stride, uint32_t word);
/** ... with none. */
void proof_clear(struct vg_warp *w, uint32_t slot, uint32_t lanes);

/** Addresses of the lanes of an access, before it is executed. */
void proof_addresses(const struct vg_warp *w, const struct ir_insn *in, uint64_t to[VG_LANES]);
/** The lanes that a guard names. */
uint32_t proof_lanes(const struct vg_warp *w, const struct ir_insn *in);

/** A word of a thread's local memory, or of the block's shared memory. @pre it is inside */
struct origin *proof_local(const struct vg_warp *w, int lane, size_t word);
struct origin *proof_shared(struct vg_block *b, size_t word);
/** Whether what this block does with tiles is noted: every eighth one's. */
static inline bool proof_tile_watched(const struct vg_warp *w)
{
    return w->block->number % 8 == 0 && proof_of(w)->weights && !proof_of(w)->log;
}

/** Elements of k; then x was stored to a word of shared memory, loaded from there, and multiplied (in a
 * block that is watched). */
bool proof_tile_weights(struct proof *p, const uint32_t *elements, size_t n);
void proof_tile_stored(struct vg_warp *w, size_t word);
void proof_tile_loaded(const struct vg_warp *w, size_t word, struct origin *to);
void proof_tile_multiplied(struct vg_warp *w, struct origin a, struct origin b);
/** The origin of a word that holds this and came from the host. */
struct origin proof_by_value(const struct proof *p, uint32_t value);

/** Where a word of memory is. */
struct proof_place {
    struct origin *origin; /**< NULL: nowhere */
    enum ptx_space space;  /**< as the address has it */
    uint64_t address;      /**< in its space */
    int lane;              /**< that asks */
};
struct proof_place proof_place(const struct vg_warp *w, const struct ir_insn *in, int lane,
                               uint64_t address);
/** Origin that a load of a word, or of its half (0 low, 1 high; -1: all), finds; the load is
 * counted. */
struct origin proof_fetch(struct vg_warp *w, const struct ir_insn *in, struct proof_place from,
                          int half);
void proof_keep(struct vg_warp *w, const struct ir_insn *in, struct proof_place to, int half,
                struct origin what);

/** Before an instruction is executed. */
void proof_step(const struct ir_insn *in, struct vg_warp *w);
void proof_load(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_store(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
/** Of single bytes. */
void proof_load_byte(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_store_byte(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_atomic(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_copy_async(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_texture(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_surface(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_matrix(const struct ir_insn *in, struct vg_warp *w);

/** Events from the rest of the executor. All do nothing when no proof runs. */
bool proof_frame_new(struct vg_worker *worker, struct vg_frame *frame);
void proof_frame_fill(struct vg_frame *frame, const struct vg_launch *launch);
void proof_frame_free(struct vg_frame *frame);
bool proof_block_prepare(struct vg_block *block);
void proof_block_start(struct vg_block *block);
void proof_block_end(struct vg_block *block);
void proof_local_copy(const struct vg_warp *w, int lane, size_t to, size_t from, size_t bytes);
/** Bytes of an allocation were written from outside. @param from  NULL: all the same */
void proof_written(struct vg_device *d, struct vg_allocation *a, uint64_t to, const void *from,
                   size_t bytes);
void proof_copied(struct vg_device *d, struct vg_allocation *a, uint64_t to,
                  struct vg_allocation *b, uint64_t from, size_t bytes);
/** A finding was made. @param thread  of the block, also @p other, which is -1 if there is none */
void proof_found(struct vg_block *block, enum vg_fault_kind kind, int64_t thread, int64_t other);
bool proof_launch_start(struct vg_launch *launch);
void proof_launch_end(struct vg_launch *launch);
void proof_close(struct vg_device *d);
