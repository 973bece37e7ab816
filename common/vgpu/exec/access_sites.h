/** @file
 * Sites: what a worker counts and remembers about each memory instruction. A site keeps the shape
 * of its last access, because most instructions repeat it.
 */
#pragma once

#include "vgpu/exec/warp_size.h"

#include <stdbool.h>
#include <stdint.h>

/** Bytes without a gap, relative to the first lane's address. */
struct vg_run {
    int64_t start;
    uint32_t bytes;
};

enum vg_shape_kind { SHAPE_UNIFORM, SHAPE_ROWS, SHAPE_GROUPS, SHAPE_SCATTERED, VG_SHAPE_KINDS };
enum { SHAPE_SECTORS = 8, SHAPE_PIECES = 3 };
/** Shapes of a worker: half of the places are for 32-bit addresses. */
enum { VG_SHAPE_PLACES = 256, VG_SHAPES_PER_PLACE = 2 };

/** Kinds of accesses and branches for which there is native code of their own, the simplest first. */
enum vg_site_kind {
    VG_SITE_UNKNOWN,
    VG_SITE_UNIFORM, /**< one address */
    VG_SITE_ROWS,    /**< the lanes of each half are adjacent */
    VG_SITE_HALVES,  /**< one address for each half */
    VG_SITE_PIECES, /**< at most SHAPE_PIECES stretches of adjacent lanes of 4 bytes; whole warps */
    VG_SITE_QUARTERS, /**< the 4-byte lanes of each quarter are adjacent, as in blocks of 8 x 8 */
    VG_SITE_OTHER,
    VG_SITE_DIVERGED, /**< a branch whose lanes diverged */
};

/** The shape of an access, see access_shape.inc. */
struct vg_shape {
    /** Address of each lane minus the first lane's, and a mask: all ones for active lanes. */
    _Alignas(64) uint64_t relative[VG_LANES];
    uint64_t want[VG_LANES];
    uint32_t relative_32[VG_LANES], want_32[VG_LANES]; /**< the same in 32 bits */
    uint32_t mask, size;
    uint8_t oldest; /**< of the first shape of a place: index of the next one to replace */
    uint64_t bits;  /**< "or" of all elements of `relative` */
    int64_t low, high;
    int64_t group_base[4]; /**< relative address of lane 0, 8, 16, 24; extrapolated if inactive */
    uint32_t group_step[4];
    uint32_t log_base[4]; /**< for struct race_entry, relative to the first lane's address */
    uint16_t log_stride[4];
    uint8_t log_steps; /**< see struct race_entry */
    /** Of rows: the smallest number of active lanes in a half, if those are adjacent; otherwise 0 */
    uint8_t reach;
    enum vg_shape_kind kind;
    uint8_t kinds;            /**< set of bits 1 << enum vg_site_kind */
    uint8_t lead;             /**< the first active lane */
    bool ascending, overlaps; /**< order of the runs; whether lanes share bytes */
    bool unsure;              /**< `overlaps` may not be set yet, see shape_find_overlaps() */
    uint8_t wavefronts;       /**< 0: not counted yet */
    /** Index: (address of the first lane & 31) / 4; value 0: not counted yet. Stored twice, for
     * native code. */
    uint8_t sectors[2 * SHAPE_SECTORS];
    uint32_t run_count;
    struct vg_run runs[VG_LANES];
    /** Of VG_SITE_PIECES: all ones for the lanes of a piece, from the second on. */
    _Alignas(64) uint32_t piece_lanes[SHAPE_PIECES - 1][VG_LANES];
    int64_t piece_base[SHAPE_PIECES]; /**< relative address of lane 0, extrapolated */
};

/** @return a hash of a shape. @param sum  of all lanes' distances from the first lane, which is
 * another one wherever a row of the lanes ends */
static inline uint32_t vg_shape_hash(uint32_t sum, uint32_t mask, uint32_t size)
{
    return (sum + size + 5 * ~mask) * UINT32_C(0x9e3779b1);
}

/** Executes BODY for every 16 words of each run of an access to shared memory. From word `at` on, n
 * of the 16 words belong to the run. */
#define EACH_16_WORDS(s, first, BODY)                                                              \
    for (uint32_t r_ = 0; r_ < (s)->run_count; r_++) {                                             \
        uint32_t at = ((uint32_t)(first) + (uint32_t)(s)->runs[r_].start) / 4,                     \
                 left_ = (s)->runs[r_].bytes / 4;                                                  \
        for (;; at += 16, left_ -= 16) {                                                           \
            const uint32_t n = left_ >= 16 ? 16 : left_;                                           \
            BODY;                                                                                  \
            if (left_ <= 16)                                                                       \
                break;                                                                             \
        }                                                                                          \
    }

/** The last access of a memory instruction, and its counts, for one worker. */
struct vg_site {
    _Alignas(64) uint64_t low; /**< allocation of the last access ... */
    uint64_t span;             /**< ... 0: none */
    struct vg_allocation *allocation;
    uint64_t requests, sectors;
    uint64_t divergent; /**< divergent branches */
    uint64_t shared_requests, wavefronts, local_requests, local_sectors;
    struct vg_shape *shape; /**< the last access's shape */
    uint32_t kinds;         /**< that shape's kinds */
    /** Numbers of the first `seen` accesses, from VG_SITE_UNIFORM on; may wrap. */
    uint32_t of_kind[VG_SITE_OTHER - VG_SITE_UNIFORM];
    uint64_t seen;
};
_Static_assert(sizeof(struct vg_site) == 128, "a site fills two lines of the host's cache");

/** Counts the kinds of the accesses since the last call: all of them had the last shape. */
static inline void vg_count_kinds(struct vg_site *site)
{
    const uint64_t served = site->requests + site->shared_requests;
    for (int k = VG_SITE_UNIFORM; site->shape && k < VG_SITE_OTHER; k++)
        site->of_kind[k - VG_SITE_UNIFORM] +=
            site->kinds >> k & 1 ? (uint32_t)(served - site->seen) : 0;
    site->seen = served;
}
