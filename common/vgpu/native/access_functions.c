/* The inline part of native code: memory, counters and the running warp. Like lane_functions.c,
 * this file is compiled to bitcode; the translator calls these functions and LLVM inlines them.
 * Each access function does the work of the interpreter's fast path (exec/ops_memory_warp.inc), for
 * the shapes for which it is compiled. If the access is invalid, the function changes nothing and
 * returns false; then native code calls the instruction's handler in the interpreter. */
#include "vgpu/exec/fragments.h"
#include "vgpu/exec/special_registers.h"
#include "vgpu/exec/wavefronts.h"
#include "vgpu/exec/workers.h"

#include <stddef.h>
#include <string.h>

#define NATIVE     __attribute__((always_inline))
#define CALLED     __attribute__((noinline))
#define INLINE     static inline __attribute__((always_inline))
#define UNROLLED   _Pragma("clang loop unroll(full)")
#define ONE_BY_ONE _Pragma("clang loop vectorize(disable)")

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef u32 v16 __attribute__((ext_vector_type(16)));
typedef u32 v32 __attribute__((ext_vector_type(32)));
typedef u64 v2u64 __attribute__((ext_vector_type(2), aligned(8)));
typedef uint16_t v16u16 __attribute__((ext_vector_type(16), aligned(2)));
typedef u8 v16u8 __attribute__((ext_vector_type(16), aligned(1)));
typedef u32 v2 __attribute__((ext_vector_type(2)));
typedef u32 v4 __attribute__((ext_vector_type(4)));
typedef u32 v8 __attribute__((ext_vector_type(8)));
typedef v2 v2_any __attribute__((aligned(4)));
typedef v8 v8_any __attribute__((aligned(4)));
typedef v4 v4_any __attribute__((aligned(4)));
typedef v16 v16_any __attribute__((aligned(4)));
typedef v32 v32_any __attribute__((aligned(4)));

/* The translator defines these: store the lanes of a mask; load words at 16 signed distances from
 * an address; find which of 16 elements equal a value. */
void native_store_16(u32 *to, const v16 *value, u32 mask);
void native_mark_16(u32 *to, const v16 *value, u32 mask); /* may rewrite the other lanes */
void native_gather_16(u32 *to, const char *from, const u32 *relative);
u32 native_equal_16(const u32 *of, u32 value);
u32 native_equal_bytes_16(const u8 *of, u8 value);
/* The translator defines these as calls of functions in memory_marks.c. */
u32 native_runs_marked(const struct vg_site *site, const struct vg_shape *s, u64 first);
u32 native_range_marked(const struct vg_site *site, u64 first, u64 end);
void native_mark_runs(const struct vg_site *site, const struct vg_shape *s, u64 first);

/* ---- the warp -------------------------------------------------------------------------------- */

NATIVE u32 native_index(const struct ir_insn *in)
{
    return in->index;
}

NATIVE char *native_registers(struct vg_warp *w)
{
    return w->regs;
}

NATIVE u32 native_alive(struct vg_warp *w)
{
    return w->alive;
}

NATIVE u32 native_copies_unset(struct vg_warp *w)
{
    return w->copies_unset;
}

NATIVE u32 native_mask(struct vg_warp *w)
{
    return w->mask;
}

NATIVE struct vg_site *native_sites(struct vg_warp *w)
{
    return w->sites;
}

/* @return the instruction of the running fragment's meeting, which is in its frame; or NULL. */
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

/* As vg_split(), for lanes that only wait. */
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

NATIVE u32 native_special_register(struct vg_warp *w, u32 which)
{
    return (u32)special_register(w, (enum ir_sreg)which, 0);
}

NATIVE u64 native_local_base(struct vg_warp *w)
{
    return w->frame->local_base;
}

NATIVE u64 native_dynamic_start(struct vg_warp *w)
{
    return w->block->launch->dynamic_start;
}

/* @return the host memory that device address 0 would have. */
NATIVE char *native_memory(struct vg_warp *w)
{
    return w->worker->device->memory.arena - VG_GLOBAL_BASE;
}

/* @return whether registers are at home as a plan requires; if so, this code now owns them. */
NATIVE bool native_continues(struct vg_warp *w, const void *as)
{
    if (w->saved_as != as)
        return false;
    w->saved_as = NULL;
    return true;
}

/* Keeps registers at home while a warp waits. @return false if other lanes of the warp run
 * meanwhile, since they may also save registers. */
NATIVE bool native_keeps(struct vg_warp *w, const void *as)
{
    if (w->fragment_count)
        return false;
    w->saved_as = as;
    return true;
}

NATIVE u64 *native_span_edges(struct vg_warp *w)
{
    return w->worker->span_edges;
}

NATIVE struct vg_worker *native_worker(struct vg_warp *w)
{
    return w->worker;
}

#include "vgpu/native/access_moves.inc"

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

/* @param size  bytes per lane */
INLINE bool global_in_order(const struct vg_site *site, const struct vg_shape *s, u64 first,
                            u32 size, u32 knows)
{
    return __builtin_expect(((first | s->bits) & (size - 1)) == 0 && has_shape(s, knows) &&
                                covers(site, first + (u64)s->low, first + (u64)s->high),
                            1);
}

NATIVE bool native_is_initialised(const struct vg_site *site)
{
    return __builtin_expect(site->allocation->initialised, 1);
}

/* Loads n elements of 4 bytes per lane. */
INLINE bool load_global(u32 *to, const char *memory, struct vg_site *site, const struct vg_shape *s,
                        u64 first, u32 n, u32 knows)
{
    if (!global_in_order(site, s, first, 4 * n, knows) ||
        (!native_is_initialised(site) && !native_runs_marked(site, s, first)))
        return false;
    count_sectors(site, s->sectors[(first & 31) >> 2]);
    if (n == 1 && knows == KNOWS_ALL && s->kinds >> VG_SITE_PIECES & 1)
        take_pieces(to, s, memory + first);
    else
        take(to, s, memory + first, n, knows);
    return true;
}

/* Loads the same n elements for all lanes. @param to  [n] */
INLINE bool load_global_same(u32 *to, const char *memory, struct vg_site *site, u64 first, u32 n)
{
    const u32 size = 4 * n;
    if (__builtin_expect((first & (size - 1)) != 0 || !covers(site, first, first + size), 0) ||
        (!native_is_initialised(site) && !native_range_marked(site, first, first + size)))
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
    if (!native_is_initialised(site))
        native_mark_runs(site, s, first);
    put(memory + first, s, from, n, mask, knows);
    return true;
}

/* ---- shared memory --------------------------------------------------------------------------- */

INLINE bool in_block(const struct vg_block *b, const struct vg_shape *s, u64 first, u32 size)
{
    return !((first | s->bits) & (size - 1)) && first + (u64)s->low <= b->shared_bytes &&
           first + (u64)s->high <= b->shared_bytes;
}

/* @return whether both rows are inside shared memory. Rows begin at lanes 0 and 16, even if these
 * are inactive. */
INLINE bool rows_are_inside(const struct vg_shape *s, u64 first)
{
    return (s64)(first + (u64)s->group_base[0]) >= 0 && (s64)(first + (u64)s->group_base[2]) >= 0;
}

/* Whether a read is entered for races. A strong read (volatile, relaxed) is not: it races only with
 * plain writes before it. */
enum reading { PLAINLY, STRONGLY };

/* Checks a row of 4-byte elements. Each half of a warp reads 16 adjacent words; only the words of
 * lanes in the mask count. @param needed  mask of those that must be initialised */
INLINE bool read_row_of(struct vg_block *b, u32 at, u32 mask, u32 needed, enum reading how)
{
    const u32 written = native_equal_16(b->race.written_at + at, b->race.epoch);
    const u32 set = native_equal_bytes_16(b->shared_set + at, 0x0f);
    const v16 epoch = (v16)b->race.epoch;
    if (how == PLAINLY)
        native_mark_16(b->race.read_at + at, &epoch, mask);
    return !((written | (~set & needed)) & mask);
}

INLINE bool read_row(struct vg_block *b, u32 at, u32 mask, enum reading how)
{
    return read_row_of(b, at, mask, ~0u, how);
}

INLINE bool write_row_is_free(struct vg_block *b, u32 at, u32 mask)
{
    return !((native_equal_16(b->race.written_at + at, b->race.epoch) |
              native_equal_16(b->race.read_at + at, b->race.epoch)) &
             mask);
}

INLINE void write_row(struct vg_block *b, u32 at, u32 mask)
{
    static const v16 bits = {1,   2,   4,    8,    16,   32,   64,    128,
                             256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    const v16 epoch = (v16)b->race.epoch;
    v16u8 *const set = (v16u8 *)(b->shared_set + at);
    native_mark_16(b->race.written_at + at, &epoch, mask);
    if (mask == 0xffff) {
        *set = (v16u8)0x0f;
        return;
    }
    const v16u8 in = __builtin_convertvector((v16)(((v16)mask & bits) != (v16)0), v16u8);
    *set = (*set & ~in) | (in & (v16u8)0x0f);
}

INLINE bool read_words(struct vg_block *b, u32 at, u32 n, enum reading how)
{
    u32 odd = 0;
    UNROLLED for (u32 k = 0; k < n; k++)
    {
        odd |= b->race.written_at[at + k] == b->race.epoch;
        odd |= b->shared_set[at + k] ^ 0x0f;
        if (how == PLAINLY)
            b->race.read_at[at + k] = b->race.epoch;
    }
    return !odd;
}

/* @return a mask of the first n of 16 lanes. */
INLINE u32 first_of_16(u32 n)
{
    return (1u << n) - 1;
}

/* Checks each run of an access whose shape is neither uniform nor rows. */
INLINE bool read_runs(struct vg_block *b, const struct vg_shape *s, u64 first, enum reading how)
{
    bool all = true;
    EACH_16_WORDS(s, first,
                  all &= n == 1 ? read_words(b, at, 1, how) : read_row(b, at, first_of_16(n), how))
    return all;
}

INLINE bool read_shared(struct vg_block *b, const struct vg_shape *s, u64 first, u32 n, u32 mask,
                        u32 knows, enum reading how)
{
    if (b->is_complete)
        return true;
    if (knows & KNOWS_UNIFORM && s->kind == SHAPE_UNIFORM)
        return read_words(b, (u32)first / 4, n, how);
    if (n == 1 && (knows == KNOWS_ROWS || (knows & KNOWS_ROWS && s->kind == SHAPE_ROWS))) {
        if (!rows_are_inside(s, first))
            return knows != KNOWS_ROWS && read_runs(b, s, first, how);
        const bool low = read_row(b, (u32)(first + (u64)s->group_base[0]) / 4, mask & 0xffff, how);
        return read_row(b, (u32)(first + (u64)s->group_base[2]) / 4, mask >> 16, how) & low;
    }
    return read_runs(b, s, first, how);
}

/* @return whether the access is scattered */
INLINE bool log_scattered(struct race_shadow *race, struct race_entry *r, const struct vg_shape *s,
                          u32 knows)
{
    r->is_scattered = knows >> SHAPE_SCATTERED & 1 && s->kind == SHAPE_SCATTERED;
    if (r->is_scattered)
        *(v32_any *)race_relative(race, r) = *(const v32_any *)s->relative_32;
    return r->is_scattered;
}

INLINE void log_access(struct vg_warp *w, u32 insn, const struct vg_shape *s, u32 first, u32 size,
                       bool is_write, u32 knows)
{
    struct race_shadow *const race = &w->block->race;
    struct race_entry *const r = &race->log[race->logged++];
    vg_shared_step(w);
    r->insn = insn;
    r->step = w->step;
    r->mask = s->mask;
    memcpy(&r->warp, &w->index, sizeof r->warp + sizeof r->warp_epoch);
    r->bytes = (uint8_t)size;
    r->is_write = is_write;
    *(v4_any *)r->base = (v4)first + *(const v4_any *)s->log_base;
    memcpy(r->stride, s->log_stride, sizeof r->stride);
    if (log_scattered(race, r, s, knows))
        r->relative = race_relative(race, r);
}

INLINE bool may_read(const struct vg_warp *w, enum reading how)
{
    const struct vg_block *const b = w->block;
    return b->is_read_only ||
           (how == PLAINLY ? b->race.logged < b->race.room : b->launch->cluster_blocks <= 1);
}

INLINE void enter_read(struct vg_warp *w, u32 insn, const struct vg_shape *s, u32 first, u32 size,
                       u32 knows, enum reading how)
{
    if (w->block->is_read_only)
        return;
    if (how == PLAINLY)
        log_access(w, insn, s, first, size, false, knows);
    else
        vg_shared_step(w);
}

INLINE bool load_shared(u32 *to, struct vg_warp *w, struct vg_site *site, const struct vg_shape *s,
                        u64 first, u32 n, u32 mask, u32 insn, u32 knows, enum reading how)
{
    struct vg_block *const b = w->block;
    if (__builtin_expect(!may_read(w, how) || !has_shape(s, knows) ||
                             !in_block(b, s, first, 4 * n) ||
                             !read_shared(b, s, first, n, mask, knows, how),
                         0))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    enter_read(w, insn, s, (u32)first, 4 * n, knows, how);
    take(to, s, b->shared + first, n, knows);
    return true;
}

/* @return whether a copy to any of n words is pending; n is a multiple of 4. */
INLINE bool is_pending(const struct vg_block *b, u32 at, u32 n)
{
    u32 four, any = 0;
    for (u32 k = 0; k < n; k += 4) {
        memcpy(&four, b->shared_set + at + k, sizeof four);
        any |= four;
    }
    return any & VG_COPY_PENDING * 0x01010101u;
}

/* Loads vectors of four words, of which some are not read: they may be padding that nothing wrote.
 * @param needed  mask of the words that are read, for 16 words */
CALLED bool native_load_shared_padded(u32 *to, struct vg_warp *w, struct vg_site *site,
                                      const struct vg_shape *s, u64 first, u32 insn, u32 needed)
{
    struct vg_block *const b = w->block;
    bool valid = may_read(w, PLAINLY) && has_shape(s, KNOWS_ALL) && in_block(b, s, first, 16);
    if (__builtin_expect(!valid, 0))
        return false;
    if (!b->is_complete)
        EACH_16_WORDS(s, first,
                      valid &=
                      read_row_of(b, at, first_of_16(n), needed, PLAINLY) & !is_pending(b, at, n))
    if (__builtin_expect(!valid, 0))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    enter_read(w, insn, s, (u32)first, 16, KNOWS_ALL, PLAINLY);
    take(to, s, b->shared + first, 4, KNOWS_ALL);
    return true;
}

/* Loads two rows of 16 neighbouring elements of 2 bytes. @param low, high  their addresses */
CALLED bool native_load_shared_halves(u32 *to, struct vg_warp *w, struct vg_site *site, u32 low,
                                      u32 high, u32 insn)
{
    enum { ROW = 32 };
    struct vg_block *const b = w->block;
    const u32 first[2] = {low / 4, high / 4};
    const u32 words[2] = {ROW / 4 + (low % 4 != 0), ROW / 4 + (high % 4 != 0)};
    const u32 start = low < high ? low : high, end = (low < high ? high : low) + ROW;
    if (__builtin_expect(
            !may_read(w, PLAINLY) || (low | high) & 1 || end < ROW || end > b->shared_bytes, 0))
        return false;
    if (!b->is_complete && !(read_row(b, first[0], first_of_16(words[0]), PLAINLY) &
                             read_row(b, first[1], first_of_16(words[1]), PLAINLY)))
        return false;
    site->shared_requests++;
    site->wavefronts += wavefronts_of_rows(start, end - ROW, ROW);
    if (!b->is_read_only) {
        struct race_entry *const r = &b->race.log[b->race.logged++];
        vg_shared_step(w);
        r->insn = insn;
        r->step = w->step;
        r->mask = VG_FULL;
        memcpy(&r->warp, &w->index, sizeof r->warp + sizeof r->warp_epoch);
        r->bytes = 2;
        r->is_write = r->is_scattered = false;
        *(v4_any *)r->base = (v4){low, low + ROW / 2, high, high + ROW / 2};
        r->stride[0] = r->stride[1] = r->stride[2] = r->stride[3] = 2;
    }
    const v16u16 *const rows[2] = {(const v16u16 *)(b->shared + low),
                                   (const v16u16 *)(b->shared + high)};
    *(v16 *)to = __builtin_convertvector(*rows[0], v16);
    *(v16 *)(to + 16) = __builtin_convertvector(*rows[1], v16);
    return true;
}

/* Loads the words that contain elements of 1 or 2 bytes. The log gets the elements themselves.
 * @param s  the shape of the words @param at  the elements' addresses */
CALLED bool native_load_shared_narrow(u32 *to, struct vg_warp *w, struct vg_site *site,
                                      const struct vg_shape *s, u64 first, u32 mask, u32 insn,
                                      const v32 *at, u32 size)
{
    struct vg_block *const b = w->block;
    if (__builtin_expect(!may_read(w, PLAINLY) || !in_block(b, s, first, 4) ||
                             !read_shared(b, s, first, 1, mask, KNOWS_ALL, PLAINLY),
                         0))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    if (!b->is_read_only) {
        struct race_entry *const r = &b->race.log[b->race.logged];
        log_access(w, insn, s, 0, size, false, KNOWS_ALL);
        r->is_scattered = true;
        r->base[0] = 0;
        r->relative = race_relative(&b->race, r);
        *(v32_any *)race_relative(&b->race, r) = *at;
    }
    take(to, s, b->shared + first, 1, KNOWS_ALL);
    return true;
}

/* Loads the same n elements for all lanes. @param s  a shape in which all lanes use one
 * address */
INLINE bool load_shared_same(u32 *to, struct vg_warp *w, struct vg_site *site,
                             const struct vg_shape *s, u64 first, u32 n, u32 insn, enum reading how)
{
    struct vg_block *const b = w->block;
    const u32 size = 4 * n;
    if (__builtin_expect(!may_read(w, how) || (first & (size - 1)) != 0 ||
                             first + size > b->shared_bytes ||
                             !(b->is_complete || read_words(b, (u32)first / 4, n, how)),
                         0))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    enter_read(w, insn, s, (u32)first, size, KNOWS_UNIFORM, how);
    memcpy(to, b->shared + first, size);
    return true;
}

INLINE bool write_rows(struct vg_block *b, const struct vg_shape *s, u64 first, u32 mask)
{
    const u32 at = (u32)(first + (u64)s->group_base[0]) / 4,
              up = (u32)(first + (u64)s->group_base[2]) / 4;
    if (__builtin_expect(
            !write_row_is_free(b, at, mask & 0xffff) || !write_row_is_free(b, up, mask >> 16), 0))
        return false;
    write_row(b, at, mask & 0xffff);
    write_row(b, up, mask >> 16);
    return true;
}

/* Stores a word for each lane, if all lanes are active and no two of them are neighbours, as in a
 * column of a tile. */
INLINE bool write_words(struct vg_block *b, const struct vg_shape *s, u64 first, const u32 *from)
{
    u32 at[VG_LANES] __attribute__((aligned(128))), odd = 0;
    const u32 epoch = b->race.epoch, *const written = b->race.written_at,
              *const read = b->race.read_at;
    *(v32 *)at = ((v32)(u32)first + *(const v32_any *)s->relative_32) >> 2;
    ONE_BY_ONE for (u32 i = 0; i < VG_LANES; i++) odd |=
        (u32)(written[at[i]] == epoch) | (u32)(read[at[i]] == epoch);
    if (__builtin_expect(odd, 0))
        return false;
    ONE_BY_ONE for (u32 i = 0; i < VG_LANES; i++)
    {
        b->race.written_at[at[i]] = epoch;
        b->shared_set[at[i]] = 0x0f;
        ((u32 *)b->shared)[at[i]] = from[i];
    }
    return true;
}

/* Checks and enters each run of an access whose shape is neither uniform nor rows. */
INLINE bool write_runs(struct vg_block *b, const struct vg_shape *s, u64 first)
{
    bool is_free = true;
    EACH_16_WORDS(s, first, is_free &= write_row_is_free(b, at, first_of_16(n)))
    if (__builtin_expect(!is_free, 0))
        return false;
    EACH_16_WORDS(s, first, write_row(b, at, first_of_16(n)))
    return true;
}

INLINE bool store_shared(const u32 *from, struct vg_warp *w, struct vg_site *site,
                         const struct vg_shape *s, u64 first, u32 n, u32 mask, u32 insn, u32 knows)
{
    struct vg_block *const b = w->block;
    if (__builtin_expect(b->race.logged >= b->race.room || !has_shape(s, knows) || s->overlaps ||
                             !in_block(b, s, first, 4 * n),
                         0))
        return false;
    const bool alone = n == 1 && knows == KNOWS_ALL && s->run_count == VG_LANES;
    if (alone ? !write_words(b, s, first, from)
        : n == 1 && knows & KNOWS_ROWS && s->kind == SHAPE_ROWS && rows_are_inside(s, first)
            ? !write_rows(b, s, first, mask)
            : (n == 1 && knows == KNOWS_ROWS) || !write_runs(b, s, first))
        return false;
    site->shared_requests++;
    site->wavefronts += s->wavefronts;
    log_access(w, insn, s, (u32)first, 4 * n, true, knows);
    if (!alone)
        put(b->shared + first, s, from, n, mask, knows);
    return true;
}

/* ---- one function for each number of elements and set of shapes -------------------------------
 * The code for all shapes is long: a module has it once, in functions that are called. */

#define SHAPES_ROWS KNOWS_ROWS
#define SHAPES_ANY  KNOWS_ALL
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
        return load_shared(to, w, site, s, first, N, mask, insn, SHAPES_##WAY, PLAINLY);           \
    }                                                                                              \
    KEPT bool native_load_strong_##N##_##WAY(u32 *to, struct vg_warp *w, struct vg_site *site,     \
                                             const struct vg_shape *s, u64 first, u32 mask,        \
                                             u32 insn)                                             \
    {                                                                                              \
        return load_shared(to, w, site, s, first, N, mask, insn, SHAPES_##WAY, STRONGLY);          \
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
        return load_shared_same(to, w, site, s, first, N, insn, PLAINLY);                          \
    }                                                                                              \
    NATIVE bool native_load_strong_##N##_SAME(u32 *to, struct vg_warp *w, struct vg_site *site,    \
                                              const struct vg_shape *s, u64 first, u32 insn)       \
    {                                                                                              \
        return load_shared_same(to, w, site, s, first, N, insn, STRONGLY);                         \
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

#include "vgpu/native/access_strands.inc"
