/* The inline part of native code: memory, counters and the running warp. Compiled to bitcode, like
 * lane_functions.c; the translator calls these and LLVM inlines them. Each access function does what
 * the interpreter's quick ways do (exec/ops_memory_warp.inc), for the shapes it is asked to know, and
 * returns false with nothing changed when it is not in order: then the interpreter's handler of the
 * instruction is called. */
#include "vgpu/exec/fragments.h"

#include <string.h>

#define NATIVE   __attribute__((always_inline))
#define CALLED   __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline))
#define UNROLLED _Pragma("clang loop unroll(full)")

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef u32 v16 __attribute__((ext_vector_type(16)));
typedef u32 v32 __attribute__((ext_vector_type(32)));
typedef u64 v2u64 __attribute__((ext_vector_type(2), aligned(8)));
typedef u8 v16u8 __attribute__((ext_vector_type(16), aligned(1)));
typedef u32 v2 __attribute__((ext_vector_type(2)));
typedef u32 v4 __attribute__((ext_vector_type(4)));
typedef u32 v8 __attribute__((ext_vector_type(8)));
typedef v2 v2_any __attribute__((aligned(4)));
typedef v8 v8_any __attribute__((aligned(4)));
typedef v4 v4_any __attribute__((aligned(4)));
typedef v16 v16_any __attribute__((aligned(4)));
typedef v32 v32_any __attribute__((aligned(4)));

/* Defined by the translator: stores of the lanes of a mask. */
void native_store_16(u32 *to, const v16 *value, u32 mask);

/* ---- the warp -------------------------------------------------------------------------------- */

NATIVE u32 native_index(const struct ir_insn *in)
{
    return in->index;
}

NATIVE char *native_registers(struct vg_warp *w)
{
    return w->regs;
}

NATIVE u32 native_mask(struct vg_warp *w)
{
    return w->mask;
}

NATIVE struct vg_site *native_sites(struct vg_warp *w)
{
    return w->sites;
}

/* Where the running fragment is to meet others, in its own frame. */
NATIVE const void *native_meeting(struct vg_warp *w)
{
    return w->meeting >= 0 ? w->meetings[w->meeting].pc : NULL;
}

NATIVE void native_count(struct vg_warp *w, u32 block, u32 threads)
{
    w->block_warps[block]++;
    w->block_threads[block] += threads;
}

NATIVE void native_set_mask(struct vg_warp *w, u32 mask)
{
    w->mask = mask;
}

/* vg_split() for lanes that only wait. */
NATIVE void native_part(struct vg_warp *w, struct vg_site *site, u32 parts)
{
    site->divergent += parts;
    if (parts && w->quantum > TURN_DIVERGED)
        w->quantum = TURN_DIVERGED;
}

NATIVE bool native_turn_over(struct vg_warp *w)
{
    return --w->quantum <= 0;
}

NATIVE const u32 *native_tid(struct vg_warp *w, u32 k)
{
    return w->tid[k];
}

NATIVE u64 native_local_base(struct vg_warp *w)
{
    return w->frame->local_base;
}

NATIVE u64 native_dynamic_start(struct vg_warp *w)
{
    return w->block->launch->dynamic_start;
}

/* Host memory of device address 0. */
NATIVE char *native_memory(struct vg_warp *w)
{
    return w->worker->device->memory.arena - VG_GLOBAL_BASE;
}

/* Whether registers are at home as a plan requires; if so, they are taken now. */
NATIVE bool native_continues(struct vg_warp *w, const void *as)
{
    if (w->saved_as != as)
        return false;
    w->saved_as = NULL;
    return true;
}

/* Keeps registers saved while a warp waits. Not if other lanes of it run meanwhile, which may save, too. */
NATIVE bool native_keeps(struct vg_warp *w, const void *as)
{
    if (w->fragment_count)
        return false;
    w->saved_as = as;
    return true;
}

NATIVE struct vg_worker *native_worker(struct vg_warp *w)
{
    return w->worker;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* 16 lanes with n elements of 4 bytes each, lane by lane in z: element by element from there. */
INLINE void spread(u32 *to, const v16 *z, u32 n, u32 half)
{
    if (n == 1) {
        *(v16 *)(to + 16 * half) = z[0];
    } else if (n == 2) {
        *(v16 *)(to + 16 * half) = __builtin_shufflevector(z[0], z[1], 0, 2, 4, 6, 8, 10, 12, 14,
                                                           16, 18, 20, 22, 24, 26, 28, 30);
        *(v16 *)(to + 32 + 16 * half) = __builtin_shufflevector(z[0], z[1], 1, 3, 5, 7, 9, 11, 13,
                                                                15, 17, 19, 21, 23, 25, 27, 29, 31);
    } else {
#define BOTH                                                                                       \
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,  \
        26, 27, 28, 29, 30, 31
        const v32 x = __builtin_shufflevector(z[0], z[1], BOTH);
        const v32 y = __builtin_shufflevector(z[2], z[3], BOTH);
#define FOURTH(e)                                                                                  \
    *(v16 *)(to + 32 * (e) + 16 * half) = __builtin_shufflevector(                                 \
        x, y, (e), (e) + 4, (e) + 8, (e) + 12, (e) + 16, (e) + 20, (e) + 24, (e) + 28, (e) + 32,   \
        (e) + 36, (e) + 40, (e) + 44, (e) + 48, (e) + 52, (e) + 56, (e) + 60)
        FOURTH(0);
        FOURTH(1);
        FOURTH(2);
        FOURTH(3);
#undef FOURTH
#undef BOTH
    }
}

/* 16 lanes that follow one another. */
INLINE void take_rows(u32 *to, const char *from, u32 n, u32 half)
{
    v16 z[4];
    UNROLLED for (u32 k = 0; k < n; k++) z[k] = *(const v16_any *)(from + 64 * k);
    spread(to, z, n, half);
}

/* One address for all lanes, n elements of 4 bytes. */
INLINE void take_same(u32 *to, const char *from, u32 n)
{
    UNROLLED for (u32 e = 0; e < n; e++)
    {
        const u32 v = *(const u32 *)(from + 4 * e);
        *(v32 *)(to + 32 * e) = (v32)v;
    }
}

/* 4 lanes with n elements of 4 bytes each, wherever they are. */
INLINE v4 four_lanes(const char *from, const u64 *relative, u32 n, u32 k)
{
    if (n == 4)
        return *(const v4_any *)(from + relative[k]);
    if (n == 2) {
        const v2_any *const x = (const v2_any *)(from + relative[2 * k]),
                            *const y = (const v2_any *)(from + relative[2 * k + 1]);
        return __builtin_shufflevector((v2)*x, (v2)*y, 0, 1, 2, 3);
    }
    return (v4){*(const u32 *)(from + relative[4 * k]), *(const u32 *)(from + relative[4 * k + 1]),
                *(const u32 *)(from + relative[4 * k + 2]),
                *(const u32 *)(from + relative[4 * k + 3])};
}

INLINE void take_half(u32 *to, const struct vg_shape *s, const char *from, u32 n, u32 half)
{
    v16 z[4];
    const u64 *const relative = s->relative + 16 * half;
    UNROLLED for (u32 k = 0; k < n; k++)
    {
        const v8 x = __builtin_shufflevector(four_lanes(from, relative, n, 4 * k),
                                             four_lanes(from, relative, n, 4 * k + 1), 0, 1, 2, 3,
                                             4, 5, 6, 7);
        const v8 y = __builtin_shufflevector(four_lanes(from, relative, n, 4 * k + 2),
                                             four_lanes(from, relative, n, 4 * k + 3), 0, 1, 2, 3,
                                             4, 5, 6, 7);
        z[k] = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    spread(to, z, n, half);
}

/* 8 lanes with one address each, or one after the other. */
INLINE v8 take_8(const char *from, u32 step)
{
    return step ? (v8) * (const v8_any *)from : (v8) * (const u32 *)from;
}

INLINE void take_groups(u32 *to, const struct vg_shape *s, const char *from, u32 n, u32 half)
{
    const char *const low = from + s->group_base[2 * half], *const high =
                                                                from + s->group_base[2 * half + 1];
    const u32 a = s->group_step[2 * half], b = s->group_step[2 * half + 1];
    if (n > 1 && (a || b)) {
        take_half(to, s, from, n, half);
        return;
    }
    UNROLLED for (u32 e = 0; e < n; e++)
    {
        *(v16 *)(to + 32 * e + 16 * half) =
            __builtin_shufflevector(take_8(low + 4 * e, a), take_8(high + 4 * e, b), 0, 1, 2, 3, 4,
                                    5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
}

enum { KNOWS_UNIFORM = 1 << SHAPE_UNIFORM, KNOWS_ROWS = 1 << SHAPE_ROWS };

/* n elements of 4 bytes per lane: to has 32 words for each. Lanes that take no part get anything. */
INLINE void take(u32 *to, const struct vg_shape *s, const char *from, u32 n, u32 knows)
{
    if (knows & KNOWS_UNIFORM && s->kind == SHAPE_UNIFORM) {
        take_same(to, from, n);
    } else if (knows & KNOWS_ROWS && s->kind == SHAPE_ROWS) {
        take_rows(to, from + s->group_base[0], n, 0);
        take_rows(to, from + s->group_base[2], n, 1);
    } else if (s->kind == SHAPE_GROUPS) {
        take_groups(to, s, from, n, 0);
        take_groups(to, s, from, n, 1);
    } else {
        take_half(to, s, from, n, 0);
        take_half(to, s, from, n, 1);
    }
}

INLINE bool has_shape(const struct vg_shape *s, u32 knows)
{
    return knows >> s->kind & 1;
}

INLINE void put_scattered(char *to, const struct vg_shape *s, const u32 *from, u32 n, u32 mask)
{
    u32 room[4 * VG_LANES] __attribute__((aligned(128)));
    UNROLLED for (u32 e = 0; e < n; e++) * (v32 *)(room + 32 * e) = *(const v32 *)(from + 32 * e);
    _Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 left = mask; left;
                                                                  left &= left - 1)
    {
        const u32 i = (u32)__builtin_ctz(left);
        u32 *const at = (u32 *)(to + (s64)s->relative[i]);
        UNROLLED for (u32 e = 0; e < n; e++) at[e] = room[32 * e + i];
    }
}

INLINE void put(char *to, const struct vg_shape *s, const u32 *from, u32 n, u32 mask, u32 knows)
{
    if (n == 1 && knows & KNOWS_ROWS && s->kind == SHAPE_ROWS) {
        native_store_16((u32 *)(to + s->group_base[0]), (const v16 *)from, mask & 0xffff);
        native_store_16((u32 *)(to + s->group_base[2]), (const v16 *)(from + 16), mask >> 16);
    } else {
        put_scattered(to, s, from, n, mask);
    }
}

/* ---- global memory --------------------------------------------------------------------------- */

INLINE bool covers(const struct vg_site *site, u64 low, u64 high)
{
    return low - site->low < site->span && high - site->low <= site->span;
}

INLINE void count_sectors(struct vg_site *site, u64 sectors)
{
    v2u64 *const counts = (v2u64 *)(void *)&site->requests;
    *counts += (v2u64){1, sectors};
}

/* @param size  bytes of a lane */
INLINE bool global_in_order(const struct vg_site *site, const struct vg_shape *s, u64 first,
                            u32 size, u32 knows)
{
    return __builtin_expect(((first | s->bits) & (size - 1)) == 0 && has_shape(s, knows) &&
                                covers(site, first + (u64)s->low, first + (u64)s->high) &&
                                site->allocation->initialised,
                            1);
}

/* n elements of 4 bytes per lane */
INLINE bool load_global(u32 *to, const char *memory, struct vg_site *site, const struct vg_shape *s,
                        u64 first, u32 n, u32 knows)
{
    if (!global_in_order(site, s, first, 4 * n, knows))
        return false;
    count_sectors(site, s->sectors[(first & 31) >> 2]);
    take(to, s, memory + first, n, knows);
    return true;
}

/* All lanes load the same n elements. @param to  [n] */
INLINE bool load_global_same(u32 *to, const char *memory, struct vg_site *site, u64 first, u32 n)
{
    const u32 size = 4 * n;
    if (__builtin_expect((first & (size - 1)) != 0 || !covers(site, first, first + size) ||
                             !site->allocation->initialised,
                         0))
        return false;
    count_sectors(site, 1);
    memcpy(to, memory + first, size);
    return true;
}

INLINE bool store_global(const u32 *from, char *memory, struct vg_site *site,
                         const struct vg_shape *s, u64 first, u32 n, u32 mask, u32 knows)
{
    if (!global_in_order(site, s, first, 4 * n, knows))
        return false;
    count_sectors(site, s->sectors[(first & 31) >> 2]);
    put(memory + first, s, from, n, mask, knows);
    return true;
}

/* ---- shared memory --------------------------------------------------------------------------- */

INLINE bool in_block(const struct vg_block *b, const struct vg_shape *s, u64 first, u32 size)
{
    return !((first | s->bits) & (size - 1)) && first + (u64)s->low <= b->shared_bytes &&
           first + (u64)s->high <= b->shared_bytes;
}

/* Rows begin at lane 0 and 16, whether these take part or not. */
INLINE bool rows_are_inside(const struct vg_shape *s, u64 first)
{
    return (s64)(first + (u64)s->group_base[0]) >= 0 && (s64)(first + (u64)s->group_base[2]) >= 0;
}

/* Whether any of 16 words, of which those of a mask count, has this epoch. */
INLINE bool any_marked(const u32 *marks, u32 epoch, v16 wanted)
{
    const v16 same = (v16)(*(const v16_any *)marks == (v16)epoch) & wanted;
    return __builtin_reduce_or(same) != 0;
}

INLINE v16 lanes_of(u32 mask)
{
    static const v16 bits = {1,   2,   4,    8,    16,   32,   64,    128,
                             256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    return (v16)(((v16)mask & bits) != (v16)0);
}

INLINE bool all_set(const u8 *set, v16 wanted)
{
    const v16 got = __builtin_convertvector(*(const v16u8 *)set, v16);
    return __builtin_reduce_or((got ^ (v16)0x0f) & wanted) == 0;
}

INLINE void mark(u32 *marks, u32 epoch, v16 wanted)
{
    v16_any *const at = (v16_any *)marks;
    *at = (*at & ~wanted) | ((v16)epoch & wanted);
}

/* Rows of 4-byte elements: the two halves of a warp each have 16 words side by side. */
INLINE bool read_row(struct vg_block *b, u32 at, v16 wanted)
{
    const bool odd = any_marked(b->race.written_at + at, b->race.epoch, wanted) ||
                     !all_set(b->shared_set + at, wanted);
    mark(b->race.read_at + at, b->race.epoch, wanted);
    return !odd;
}

INLINE bool write_row_is_free(struct vg_block *b, u32 at, v16 wanted)
{
    return !any_marked(b->race.written_at + at, b->race.epoch, wanted) &&
           !any_marked(b->race.read_at + at, b->race.epoch, wanted);
}

INLINE void write_row(struct vg_block *b, u32 at, v16 wanted)
{
    mark(b->race.written_at + at, b->race.epoch, wanted);
    const v16u8 in = __builtin_convertvector(wanted, v16u8), old = *(v16u8 *)(b->shared_set + at);
    *(v16u8 *)(b->shared_set + at) = (old & ~in) | (in & (v16u8)0x0f);
}

INLINE bool read_words(struct vg_block *b, u32 at, u32 n)
{
    u32 odd = 0;
    UNROLLED for (u32 k = 0; k < n; k++)
    {
        odd |= b->race.written_at[at + k] == b->race.epoch;
        odd |= b->shared_set[at + k] ^ 0x0f;
        b->race.read_at[at + k] = b->race.epoch;
    }
    return !odd;
}

/* Each run of any other shape, word by word. */
INLINE bool read_runs(struct vg_block *b, const struct vg_shape *s, u64 first)
{
    u32 odd = 0;
    for (u32 r = 0; r < s->run_count; r++) {
        const u32 at = ((u32)first + (u32)s->runs[r].start) / 4, end = at + s->runs[r].bytes / 4;
        for (u32 k = at; k < end; k++) {
            odd |= b->race.written_at[k] == b->race.epoch;
            odd |= b->shared_set[k] ^ 0x0f;
            b->race.read_at[k] = b->race.epoch;
        }
    }
    return !odd;
}

INLINE bool read_shared(struct vg_block *b, const struct vg_shape *s, u64 first, u32 n, u32 mask,
                        u32 knows)
{
    if (knows & KNOWS_UNIFORM && s->kind == SHAPE_UNIFORM)
        return read_words(b, (u32)first / 4, n);
    if (n == 1 && knows & KNOWS_ROWS && s->kind == SHAPE_ROWS && rows_are_inside(s, first)) {
        const bool low =
            read_row(b, (u32)(first + (u64)s->group_base[0]) / 4, lanes_of(mask & 0xffff));
        return read_row(b, (u32)(first + (u64)s->group_base[2]) / 4, lanes_of(mask >> 16)) && low;
    }
    return read_runs(b, s, first);
}

INLINE void log_access(struct vg_warp *w, u32 insn, const struct vg_shape *s, u32 first, u32 size,
                       bool is_write)
{
    struct race_shadow *const race = &w->block->race;
    struct race_entry *const r = &race->log[race->logged++];
    vg_shared_step(w);
    r->insn = insn;
    r->step = w->step;
    r->mask = s->mask;
    r->warp = w->index;
    r->warp_epoch = w->warp_epoch;
    r->bytes = (uint16_t)size;
    r->is_write = is_write;
    r->is_scattered = s->kind == SHAPE_SCATTERED;
    *(v4_any *)r->base = (v4)first + *(const v4_any *)s->log_base;
    memcpy(r->stride, s->log_stride, sizeof r->stride);
    if (r->is_scattered)
        *(v32_any *)race_addresses(race, r) = (v32)first + *(const v32_any *)s->relative_32;
}

INLINE bool load_shared(u32 *to, struct vg_warp *w, struct vg_site *site, const struct vg_shape *s,
                        u64 first, u32 n, u32 mask, u32 insn, u32 knows)
{
    struct vg_block *const b = w->block;
    if (__builtin_expect(b->race.logged == RACE_LOG || !has_shape(s, knows) ||
                             !in_block(b, s, first, 4 * n) ||
                             !read_shared(b, s, first, n, mask, knows),
                         0))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    log_access(w, insn, s, (u32)first, 4 * n, false);
    take(to, s, b->shared + first, n, knows);
    return true;
}

/* All lanes load the same n elements. @param s  a shape of one address */
INLINE bool load_shared_same(u32 *to, struct vg_warp *w, struct vg_site *site,
                             const struct vg_shape *s, u64 first, u32 n, u32 insn)
{
    struct vg_block *const b = w->block;
    const u32 size = 4 * n;
    if (__builtin_expect(b->race.logged == RACE_LOG || (first & (size - 1)) != 0 ||
                             first + size > b->shared_bytes || !read_words(b, (u32)first / 4, n),
                         0))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    log_access(w, insn, s, (u32)first, size, false);
    memcpy(to, b->shared + first, size);
    return true;
}

INLINE bool write_rows(struct vg_block *b, const struct vg_shape *s, u64 first, u32 mask)
{
    const v16 low = lanes_of(mask & 0xffff), high = lanes_of(mask >> 16);
    const u32 at = (u32)(first + (u64)s->group_base[0]) / 4,
              up = (u32)(first + (u64)s->group_base[2]) / 4;
    if (__builtin_expect(!write_row_is_free(b, at, low) || !write_row_is_free(b, up, high), 0))
        return false;
    write_row(b, at, low);
    write_row(b, up, high);
    return true;
}

/* Each run of any other shape, word by word. */
INLINE bool write_runs(struct vg_block *b, const struct vg_shape *s, u64 first)
{
    u32 odd = 0;
    for (u32 r = 0; r < s->run_count; r++) {
        const u32 at = ((u32)first + (u32)s->runs[r].start) / 4, end = at + s->runs[r].bytes / 4;
        for (u32 k = at; k < end; k++)
            odd |= (b->race.written_at[k] == b->race.epoch) | (b->race.read_at[k] == b->race.epoch);
    }
    if (__builtin_expect(odd, 0))
        return false;
    for (u32 r = 0; r < s->run_count; r++) {
        const u32 at = ((u32)first + (u32)s->runs[r].start) / 4, end = at + s->runs[r].bytes / 4;
        for (u32 k = at; k < end; k++) {
            b->race.written_at[k] = b->race.epoch;
            b->shared_set[k] = 0x0f;
        }
    }
    return true;
}

INLINE bool store_shared(const u32 *from, struct vg_warp *w, struct vg_site *site,
                         const struct vg_shape *s, u64 first, u32 n, u32 mask, u32 insn, u32 knows)
{
    struct vg_block *const b = w->block;
    if (__builtin_expect(b->race.logged == RACE_LOG || !has_shape(s, knows) || s->overlaps ||
                             !in_block(b, s, first, 4 * n),
                         0))
        return false;
    if (n == 1 && knows & KNOWS_ROWS && s->kind == SHAPE_ROWS && rows_are_inside(s, first)
            ? !write_rows(b, s, first, mask)
            : knows == KNOWS_ROWS || !write_runs(b, s, first))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    log_access(w, insn, s, (u32)first, 4 * n, true);
    put(b->shared + first, s, from, n, mask, knows);
    return true;
}

/* ---- one function for each number of elements and set of shapes -------------------------------
 * Code for all shapes is long: once in a module, and called. */

#define SHAPES_ROWS KNOWS_ROWS
#define SHAPES_ANY  15
#define ACCESSES(N, WAY, KEPT)                                                                     \
    KEPT bool native_load_global_##N##_##WAY(u32 *to, char *memory, struct vg_site *site,          \
                                             const struct vg_shape *s, u64 first)                  \
    {                                                                                              \
        return load_global(to, memory, site, s, first, N, SHAPES_##WAY);                           \
    }                                                                                              \
    KEPT bool native_store_global_##N##_##WAY(const u32 *from, char *memory, struct vg_site *site, \
                                              const struct vg_shape *s, u64 first, u32 mask)       \
    {                                                                                              \
        return store_global(from, memory, site, s, first, N, mask, SHAPES_##WAY);                  \
    }                                                                                              \
    KEPT bool native_load_shared_##N##_##WAY(u32 *to, struct vg_warp *w, struct vg_site *site,     \
                                             const struct vg_shape *s, u64 first, u32 mask,        \
                                             u32 insn)                                             \
    {                                                                                              \
        return load_shared(to, w, site, s, first, N, mask, insn, SHAPES_##WAY);                    \
    }                                                                                              \
    KEPT bool native_store_shared_##N##_##WAY(const u32 *from, struct vg_warp *w,                  \
                                              struct vg_site *site, const struct vg_shape *s,      \
                                              u64 first, u32 mask, u32 insn)                       \
    {                                                                                              \
        return store_shared(from, w, site, s, first, N, mask, insn, SHAPES_##WAY);                 \
    }
#define SAME(N)                                                                                    \
    NATIVE bool native_load_global_##N##_SAME(u32 *to, char *memory, struct vg_site *site,         \
                                              u64 first)                                           \
    {                                                                                              \
        return load_global_same(to, memory, site, first, N);                                       \
    }                                                                                              \
    NATIVE bool native_load_shared_##N##_SAME(u32 *to, struct vg_warp *w, struct vg_site *site,    \
                                              const struct vg_shape *s, u64 first, u32 insn)       \
    {                                                                                              \
        return load_shared_same(to, w, site, s, first, N, insn);                                   \
    }
ACCESSES(1, ROWS, NATIVE)
ACCESSES(2, ROWS, NATIVE)
ACCESSES(4, ROWS, NATIVE)
ACCESSES(1, ANY, CALLED)
ACCESSES(2, ANY, CALLED)
ACCESSES(4, ANY, CALLED)
SAME(1)
SAME(2)
SAME(4)
