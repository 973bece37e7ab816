/** @file
 * Proof by execution: checks that the device computed y from x and k.
 *
 * While a proof runs, each 32-bit word (of a register, of global, shared, local and constant
 * memory) has an origin: an element of a prime field (proof_field.h) and its way (proof_ways.h).
 * Each element of x has a random field element; a zero has the field element 0, so that its
 * products may be skipped. The field element of an element of k depends on its value.
 * Floating-point instructions perform the same operations on field elements as on values, but
 * without rounding; moves, loads, stores, shuffles, selections, copies and conversions between
 * floating-point types carry origins along; all other instructions that write a word leave it
 * without an origin. A word without an origin (all zeros) stands for the number that it holds.
 *
 * At the end y must have the elements of the convolution of x and k. By polynomial identity testing
 * this holds for any order, tiling, algorithm and structure of calls that computes the sums of
 * products on the device, and only for these: values that the host computed, values left by an
 * earlier call, and products multiplied by zero have other elements. If a value is split into parts
 * (x = high + low), the first part carries the value's element, and x - high has the element 0.
 *
 * Field elements are exact, but words are not: a large number absorbs a small addend, and a word's
 * bits can be read as another type. So each origin has the value that its word should hold, and a
 * bound of the loss. An operand with another value has lost the difference, and a sum or product
 * inherits the losses of its operands. An output may lose only a small part of the largest sum that
 * it could have (VG_PROOF_LOST).
 *
 * Data from the host has no origin, with one exception: a word that is bit for bit an element of k,
 * or a double of the same value, is that element. So the host may reorder and widen weights.
 *
 *     proof.c         opening, tensors, writes by the host and by copies, launches
 *     proof_blocks.c  frames and blocks: the origins in registers, local and shared memory
 *     proof_values.c  registers, sums and products
 *     proof_step.c    the kind of each instruction, from the rows of opcodes.def
 *     proof_numbers.c arithmetic
 *     proof_moves.c   moves, selections, conversions, bits, shuffles
 *     proof_memory.c  loads, stores, copies to shared memory, textures
 *     proof_atomics.c atomic operations
 *     proof_bytes.c   words that are copied byte by byte
 *     proof_integers.c  arithmetic on integers, for fixed point
 *     proof_tile.c    recognises tiles of the unrolled matrix
 *     proof_matrix.c  matrix instructions
 *     proof_products.inc  products of lanes and of matrices, for each instruction set
 *     proof_halves.h  which halves of pairs computed products
 *     proof_field.c   the field
 *     proof_log.c     the steps of one output, if it is followed
 *     proof_found.c   the last steps of the threads of a finding
 *
 * Only the interpreter runs proofs, on one core: it calls proof_step() before each instruction.
 */
#pragma once

#include "vgpu/exec/float_bits.h"
#include "vgpu/exec/proof_field.h"
#include "vgpu/exec/proof_halves.h"
#include "vgpu/exec/proof_ways.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

struct proof_log;

/** @return whether a word has an origin. */
static inline bool proof_known(struct origin o)
{
    return o.low || o.high || o.step;
}

/** Set in every element that exists; a word of 0 means no element. */
#define PROOF_ELEMENT UINT32_C(0x80000000)

/** The origin of one number: of a whole word, or of a half. */
struct proof_value {
    uint32_t element; /**< with PROOF_ELEMENT, or 0 */
    float lost;
    uint64_t way;
    double number; /**< operand: its value in the register; result: its value before rounding */
};

/** The products added to a word of global memory by atomics since the last store to it. */
struct proof_joins {
    uint32_t adder;    /**< the thread that added last */
    uint32_t count;    /**< additions; a thread's successive ones count once */
    uint32_t products; /**< products added by atomics */
    uint32_t part;     /**< products added by `adder` in its last additions */
    uint32_t largest;  /**< largest part of one adder */
    uint32_t maker;    /**< the thread that made all these products, or PROOF_SEVERAL */
};

/** @return the number of a thread. */
static inline uint32_t proof_thread(const struct vg_warp *w, int lane)
{
    const struct vg_block *b = w->block;
    const uint64_t thread = b->number * b->launch->threads + w->index * VG_LANES + (uint32_t)lane;
    return (uint32_t)(thread + b->launch->number * 0x9e3779b1u) | PROOF_IS_THREAD;
}

/** Marks products that a thread hands to others. */
static inline void proof_hand_out(const struct vg_warp *w, int lane, struct origin *o)
{
    if (!way_is_raw(o->way) && !o->maker)
        o->maker = proof_thread(w, lane);
}

/** Removes the mark from products that come back to their maker. */
static inline void proof_take_in(const struct vg_warp *w, int lane, struct origin *o)
{
    if (o->maker && o->maker == proof_thread(w, lane))
        o->maker = 0;
}

/** @return the maker of a sum or product of values. @param made  whether it is a new product */
static inline uint32_t proof_makers(const struct origin *const *of, int n, bool made)
{
    uint32_t maker = 0;
    bool own = made;
    for (int i = 0; i < n; i++) {
        if (way_is_raw(of[i]->way))
            continue;
        own |= !of[i]->maker;
        if (of[i]->maker)
            maker = maker && maker != of[i]->maker ? PROOF_SEVERAL : of[i]->maker;
    }
    return maker && own ? PROOF_SEVERAL : maker;
}

/** @return whether nearly all products of a sum were added by atomics, in several additions, and made
 * by several threads. */
static inline bool proof_joins_whole(const struct proof_joins *j, uint32_t products)
{
    return j->count > 1 && j->maker == PROOF_SEVERAL && 10.0 * j->products >= 9.0 * products &&
           20.0 * j->largest <= 19.0 * j->products;
}

struct proof_tensor {
    uint64_t address;
    size_t bytes;
    uint32_t *elements; /**< [bytes / 4] */
};

/** The work of one instruction in a kernel. */
struct proof_site {
    uint64_t products; /**< products of x and k that the instruction computed */
    uint64_t padded;   /**< products of an element of x or k and a zero */
    uint64_t paired;   /**< products in the halves of one word, two at a time */
    uint64_t beside;   /**< ... those whose other half was such a zero */
    bool stores;
    bool loads; /**< it has loaded elements of x or k */
};

/** All launches of one kernel. */
struct proof_kernel {
    const struct vg_kernel *kernel;
    struct vg_proof_kernel counts;
    struct vg_proof_kernel before; /**< the counts at the beginning of the running launch */
    struct proof_site *sites;      /**< [insn_count] */
    uint64_t matrix_pairs;         /**< products of matrices of halves */
    bool joins;                    /**< it added products to sums by atomics */
    size_t site_count;
};

struct proof {
    uint64_t key;              /**< seeds the random elements */
    struct origin *global;     /**< origins of the words of global memory */
    struct proof_joins *joins; /**< what atomics added to these words */
    size_t words;
    struct proof_tensor tensor[VG_PROOF_TENSORS];
    uint32_t *values; /**< the values of k: a hash table; 0: free */
    size_t value_mask;
    size_t taps;        /**< weights per output map; 0: unknown */
    bool watches_tiles; /**< recognises tiles of the unrolled matrix */
    double largest_x;   /**< largest absolute value in x */
    double *map_sums;   /**< sum of the absolute weights of each output map; NULL: taps is 0 */
    double largest_sum; /**< the largest of these sums */
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

/** @return the origins of a slot of the running frame, one per word. */
static inline struct origin *proof_slot(const struct vg_warp *w, uint32_t slot)
{
    return w->frame->origins + slot / 4;
}

/** @return the number of words per lane in a slot, or 0 if no lane has an origin. */
static inline uint32_t proof_holds(const struct vg_warp *w, uint32_t slot)
{
    return w->frame->holds[slot / 4];
}

/** Prepares a slot to hold origins. @param stride  words per lane @return the origins */
struct origin *proof_open(struct vg_warp *w, uint32_t slot, uint32_t stride);

/** If type and operation are constants, compilers reduce these functions to a few instructions. */
#define PROOF_INLINE static inline __attribute__((always_inline))

/** @return the number that the bits of a type represent; for a pair, its lower number. */
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

/** @return whether numbers of a type are halves of words. */
PROOF_INLINE bool proof_is_half(enum ptx_type type)
{
    return type == PTX_TYPE_f16 || type == PTX_TYPE_f16x2 || type == PTX_TYPE_bf16 ||
           type == PTX_TYPE_bf16x2;
}

/** @return a loss as a float32. No loss is rounded to 0, because a double can be scaled back from
 * numbers that are 0 as float32. */
PROOF_INLINE float proof_loss(double loss)
{
    const float least = 0x1p-126f, rounded = (float)loss;
    return loss > 0 && rounded < least ? least : rounded;
}

/** @return the value of a result. A value whose element is 0, for instance the rest of a split
 * value, has no way. Its loss is at most its number, whatever its history, so that compensated sums
 * (Kahan's) lose little. It is also at most the loss of its operands, because one sum in 2^30 is
 * zero by chance. */
PROOF_INLINE struct proof_value proof_value_of(uint32_t element, uint64_t way, double number,
                                               double lost)
{
    const double size = __builtin_fabs(number), least = element || lost < size ? lost : size;
    return (struct proof_value){PROOF_ELEMENT | element, proof_loss(least), element ? way : 0,
                                number};
}

/** Flag in the loss of a half word: its value has the bits of a float16, otherwise of a
 * bfloat16. */
#define PROOF_IS_F16 UINT32_C(0x80000000)
/** The loss of the lower half of a float32, which is not a number of its own: a NaN exceeds every
 * bound. */
#define PROOF_NO_HALF UINT32_C(0x7fff)

/** @return the value of an operand: a number of a type, with the element of its word or half word.
 * A word whose upper half is a bfloat16 is also read as a float32 if its lower half is zero. */
PROOF_INLINE struct proof_value proof_operand_of(struct origin o, double number, enum ptx_type type,
                                                 int half)
{
    const bool upper = half || (!o.low && type == PTX_TYPE_f32);
    struct proof_value r = {.element = upper ? o.high : o.low, .number = number};
    if (!r.element)
        return r;
    if (upper && !half && bits_of_f32((float)number) & 0xffff)
        return (struct proof_value){.number = number};
    const int left = !upper && proof_is_half(type) ? 16 : 0;
    const uint32_t mask = upper ? 0xffff0000 : 0xffffffff, lost = o.lost << left & mask;
    const uint32_t value = o.value << left & mask;
    const float expected =
        lost & PROOF_IS_F16 ? lane_f32_from_f16(value >> 16) : f32_of_bits(value);
    r.way = o.way;
    r.lost = f32_of_bits(lost & ~PROOF_IS_F16);
    const double apart = number - (double)expected;
    if (apart != 0) /* also if it is a NaN: the difference of infinities */
        r.lost += proof_loss(__builtin_fabs(apart));
    return r;
}

/** @return the origin of a word that contains a result; a result of a half type is in the lower half
 * of its word. */
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

/** @return whether a word with an element is one number, not two halves. */
static inline bool proof_is_whole(struct origin o)
{
    return !o.high && o.value >> 16;
}

/** Copies field by field: copying the whole structure would stall until the fields just written
 * reach memory. */
PROOF_INLINE void proof_write(struct origin *to, const struct origin *o)
{
    to->low = o->low;
    to->high = o->high;
    to->way = o->way;
    to->step = o->step;
    to->value = o->value;
    to->lost = o->lost;
    to->maker = o->maker;
}

/** @return one half of a word, as the lower half of a new word. */
static inline struct origin proof_part(struct origin o, int half)
{
    const uint32_t element = half ? o.high : o.low;
    return (struct origin){.low = element,
                           .way = element ? o.way : 0,
                           .step = element ? halves_part(o.step, half) : 0,
                           .value = o.value >> 16 * half & 0xffff,
                           .lost = !half && proof_is_whole(o) ? PROOF_NO_HALF
                                                              : o.lost >> 16 * half & 0xffff};
}

/** @return a word made of two halves. */
static inline struct origin proof_joined(struct origin low, struct origin high)
{
    return (struct origin){.low = low.low,
                           .high = high.low,
                           .way = way_sum(low.way, high.way),
                           .step = halves_joined(low.step, high.step),
                           .value = (low.value & 0xffff) | (high.low ? high.value << 16 : 0),
                           .lost = (low.low ? low.lost & 0xffff : 0) | high.lost << 16};
}

/** @return the value of a number without an element. */
struct proof_value proof_plain_number(double number, enum ptx_type type);

/** @return a value with an element: its own, or otherwise its number's. */
PROOF_INLINE struct proof_value proof_number(struct proof_value v, enum ptx_type type)
{
    return v.element ? v : proof_plain_number(v.number, type);
}

/** Bound of the loss of a result by rounding; a sum loses at most the smaller addend. */
#define ROUNDING 0x1p-23
PROOF_INLINE struct proof_value proof_sum(struct proof_value a, struct proof_value b)
{
    const double sum = a.number + b.number, rounding = ROUNDING * __builtin_fabs(sum);
    double smaller = __builtin_fabs(a.number);
    smaller = __builtin_fabs(b.number) < smaller ? __builtin_fabs(b.number) : smaller;
    return proof_value_of(field_add(a.element & FIELD_MASK, b.element & FIELD_MASK),
                          way_sum(a.way, b.way), sum,
                          (double)a.lost + b.lost + (smaller < rounding ? smaller : rounding));
}

/** @return the value of a product. @param multiplied  becomes whether it is a product of x and k */
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

/** The lanes that fuse_lanes() has computed (handlers.h), as sets. */
struct proof_fused {
    uint32_t done;       /**< all lanes that have their results */
    uint32_t both;       /**< those of them that multiplied x by k */
    uint32_t multiplied; /**< those of them whose product is not 0 */
    uint32_t padded;     /**< lanes that multiplied an element of x or k by a zero without one */
};

/** The lanes whose pairs fuse_pairs() has computed, as sets. */
struct proof_pairs {
    uint32_t done;         /**< all lanes that have their results */
    uint32_t lower, upper; /**< those whose product in this half is not 0 */
    uint32_t paired;       /**< those with products in both halves, for different sums */
    uint32_t padded;       /**< those that multiplied an element by a zero in one half */
};

/** The numbers of a matrix, row-major: at most 32 x 16. Some more, so that the arrays do not share
 * the sets of a cache. */
enum { PROOF_FACTORS = 32 * 16 + 8 };
struct proof_factors {
    uint64_t element[PROOF_FACTORS]; /**< and the flags PROOF_ELEMENT and PROOF_COUNTS */
    uint64_t way[PROOF_FACTORS];
    double number[PROOF_FACTORS], lost[PROOF_FACTORS];
    uint64_t ways; /**< "or" of the ways of all nonzero elements */
    bool wayless;  /**< some nonzero elements have no way */
};
/** Flag: the number counts. Only zeros without an element do not. */
#define PROOF_COUNTS (UINT64_C(1) << 32)

/** Counts products of x and k. @param count  in all lanes together */
void proof_multiplied(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes, uint32_t count);

/** Writes lanes of a slot. @param from  [32] @param stride  words per lane: 1 or 2 @param word  1:
 * writes the second of two words */
void proof_put(struct vg_warp *w, uint32_t slot, uint32_t lanes, const struct origin *from,
               uint32_t stride, uint32_t word);
/** Clears lanes of a slot. */
void proof_clear(struct vg_warp *w, uint32_t slot, uint32_t lanes);

/** Finds the addresses of the lanes of an access, before it is executed. */
void proof_addresses(const struct vg_warp *w, const struct ir_insn *in, uint64_t to[VG_LANES]);
/** @return the lanes selected by a guard. */
uint32_t proof_lanes(const struct vg_warp *w, const struct ir_insn *in);

/** @return the origin of a word of a thread's local memory, or of a block's shared memory. @pre the
 * word exists */
struct origin *proof_local(const struct vg_warp *w, int lane, size_t word);
struct origin *proof_shared(struct vg_block *b, size_t word);
/** @return whether the tiles of this block are watched. */
static inline bool proof_tile_watched(const struct vg_warp *w)
{
    return w->block->proof.watched;
}

/** The first function stores the elements of k, if tiles are watched. The second decides whether a block is watched. In
 * watched blocks, the others record stores of x to a word of shared memory, loads from it, and
 * products. */
bool proof_tile_weights(struct proof *p, const uint32_t *elements, size_t n);
bool proof_tile_chosen(const struct vg_block *b);
void proof_tile_stored(struct vg_warp *w, size_t word);
void proof_tile_loaded(const struct vg_warp *w, size_t word, struct origin *to);
void proof_tile_multiplied(struct vg_warp *w, struct origin a, struct origin b);
/** @return the origin of a word with these bits that came from the host. */
struct origin proof_by_value(const struct proof *p, uint32_t value);

/** The location of a word in memory. */
struct proof_place {
    struct origin *origin;  /**< NULL: not a valid location */
    enum ptx_space space;   /**< found from the address */
    uint64_t address;       /**< in its space */
    int lane;               /**< the lane that makes the access */
    struct vg_block *owner; /**< of shared memory: this block, or another of its cluster */
};
struct proof_place proof_place(const struct vg_warp *w, const struct ir_insn *in, int lane,
                               uint64_t address);
/** @return the origin that a load of a word, or of a half of it, finds. Counts the load.
 * @param half  0 low, 1 high, -1: the whole word */
struct origin proof_fetch(struct vg_warp *w, const struct ir_insn *in, struct proof_place from,
                          int half);
void proof_keep(struct vg_warp *w, const struct ir_insn *in, struct proof_place to, int half,
                struct origin what);
/** Sets the origin of a whole word that an atomic operation of a lane changes. Unlike proof_keep(),
 * it keeps the word's proof_joins, and does not mark the lane as one that stored a result. */
void proof_keep_atomic(struct vg_warp *w, const struct ir_insn *in, struct proof_place to,
                       struct origin what);

/** Ends a run of outputs that a lane stored without computing products in between. */
void proof_run_end(struct vg_warp *w, int lane);

/** @return the slot of element @p k of an access. @param single  the slot if there is only one */
static inline uint32_t proof_element_slot(const struct vg_warp *w, const struct ir_insn *in, int k,
                                          uint32_t single)
{
    return in->vector == 1 ? single : w->frame->function->extra[in->extra + (uint32_t)k];
}

/** Called before an instruction is executed. */
void proof_step(const struct ir_insn *in, struct vg_warp *w);
void proof_load(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_store(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
/** Execute accesses to bytes. */
void proof_load_bytes(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_store_bytes(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_atomic(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_copy_async(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_texture(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_surface(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes);
void proof_matrix(const struct ir_insn *in, struct vg_warp *w);

/** The rest of the executor calls these functions. They do nothing when no proof runs. */
bool proof_frame_new(struct vg_worker *worker, struct vg_frame *frame);
void proof_frame_fill(struct vg_frame *frame, const struct vg_launch *launch);
void proof_frame_free(struct vg_frame *frame);
bool proof_block_prepare(struct vg_block *block);
void proof_block_start(struct vg_block *block);
void proof_block_end(struct vg_block *block);
void proof_local_copy(const struct vg_warp *w, int lane, size_t to, size_t from, size_t bytes);
/** Handles bytes of an allocation that the host has written. @param from  NULL: all bytes were set
 * to one value */
void proof_written(struct vg_device *d, struct vg_allocation *a, uint64_t to, const void *from,
                   size_t bytes);
void proof_copied(struct vg_device *d, struct vg_allocation *a, uint64_t to,
                  struct vg_allocation *b, uint64_t from, size_t bytes);
/** Handles a finding. @param thread  number in the block; also @p other, -1: no other thread */
void proof_found(struct vg_block *block, enum vg_fault_kind kind, int64_t thread, int64_t other);
bool proof_launch_start(struct vg_launch *launch);
/** @return whether a basic block has loaded elements or computed products in launches of this
 * kernel. In a kernel that adds sums by atomics, the blocks that store sums instead count, too. */
bool proof_works(const struct vg_launch *launch, const struct ir_function *f, uint32_t block);
void proof_launch_end(struct vg_launch *launch);
void proof_close(struct vg_device *d);
