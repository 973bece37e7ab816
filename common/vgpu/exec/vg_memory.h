/** @file
 * Global memory: its allocations, and which bytes are initialised. api/vgpu.h declares the calls of
 * the program that contains the virtual GPU.
 */
#pragma once

#include "vgpu/api/vgpu.h"

struct vg_allocation {
    uint64_t address;
    size_t bytes;
    bool live;
    bool reserved;    /**< its range stays reserved while it is not live, see vg_memory_reserve() */
    bool initialised; /**< every byte is initialised */
    bool touched;     /**< kernels wrote to it since the last check: see vg_memory_touch() */
    uint8_t *shadow;  /**< part of the memory's shadow for this allocation */
    size_t populated; /**< bytes at its beginning whose pages have been requested, see populate() */
    uint32_t number;  /**< "cudaMalloc #number", 0 for a variable */
    int copy_line;    /**< of the load by which unwritten memory was copied to it; 0: none */
    char name[64];    /**< of a variable, otherwise "" */
    bool shared;      /**< whole pages, backed by a file of the device's owner */
    bool exported;    /**< backed by a file that other devices also map: see memory_export.c */
    double passed_at; /**< vg_memory.passed_bytes at its last use; 0: not used yet */
    uint64_t loaded_by, stored_by; /**< numbers of the last launches, see struct vg_use */
    uint64_t changed_by;           /**< ... that changed it by atomics */
    char *seen;                    /**< during a proof, if shared: contents after the last launch */
    uint64_t range;        /**< address of the reserved range of which it is a part; 0: none */
    enum vg_rights rights; /**< in a range */
};

struct vg_device;
/** @return the shadow of a live allocation, which is now exact; NULL: there is none. */
uint8_t *vg_memory_tracked(struct vg_device *d, uint64_t address, uint64_t bytes);

/** Between two allocations; accesses that check only a warp's active lanes may load from it. */
enum { VG_GAP_BYTES = 64 * 1024 };

struct vg_memory {
    char *arena;     /**< host memory for addresses from VG_GLOBAL_BASE on */
    uint8_t *shadow; /**< one bit per byte: whether it is initialised */
    size_t arena_bytes, next, used_bytes, limit_bytes;
    struct vg_allocation *list; /**< sorted by address, including freed ones */
    size_t count, room;
    uint32_t numbers;
    double passed_bytes;   /**< bytes that passed through the L2 cache so far */
    vg_late_copy *is_late; /**< see vg_late_copies_set(), or NULL */
    void *late_context;
};

enum st_code vg_memory_open(struct vg_memory *memory, size_t limit_bytes, struct st_error *err);
void vg_memory_close(struct vg_memory *memory);
enum st_code vg_memory_take(struct vg_memory *memory, size_t bytes, const char *name,
                            uint64_t *address, struct st_error *err);
/** @return the last allocation that starts at or below an address, or NULL. */
struct vg_allocation *vg_memory_below(const struct vg_memory *memory, uint64_t address);
/** @return whether an access to bytes at an address of an allocation, or of NULL, is valid. */
static inline bool vg_memory_permits(const struct vg_allocation *a, uint64_t address, size_t bytes,
                                     bool is_write)
{
    return a && a->live && address - a->address <= a->bytes &&
           bytes <= a->bytes - (address - a->address) && !(is_write && a->rights == VG_READ_ONLY);
}
/** Describes an allocation in a message. */
void vg_allocation_text(const struct vg_allocation *a, char *to, size_t room);
/** @return why no memory of a reserved range may be accessed at an allocation, or NULL. */
const char *vg_range_refusal(const struct vg_allocation *a, bool is_write);
/** Marks bytes as initialised. @pre they are inside an allocation. */
void vg_memory_mark(struct vg_memory *memory, uint64_t address, size_t bytes);
/** Marks bytes as not initialised: a kernel has copied such bytes there.
 * @param bytes  a bit for each byte from @p address on @param line  of the load, see copy_line */
void vg_memory_unmark(struct vg_device *device, uint64_t address, uint32_t bytes, int line);
/** @return a bit for each of at most 32 bytes that is not initialised. */
uint32_t vg_memory_unset(const struct vg_memory *memory, uint64_t address, size_t bytes);
/** @return whether a copy or other work writes the first of at most 32 bytes that is not
 * initialised. */
enum vg_lateness vg_lateness_of(const struct vg_memory *memory, uint64_t address, size_t bytes);
/** @return whether all of these bytes are initialised. */
bool vg_memory_marked(const struct vg_memory *memory, uint64_t address, size_t bytes);
/** Finds the allocations, written by kernels, that are now fully initialised. */
void vg_memory_settle(struct vg_memory *memory);
/** Counts bytes of an allocation that pass through the L2 cache. */
static inline void vg_memory_pass_l2(struct vg_memory *memory, struct vg_allocation *a,
                                     double bytes)
{
    memory->passed_bytes += bytes;
    a->passed_at = memory->passed_bytes;
}
/** @return whether an L2 cache of this size still holds an allocation, if it evicts the oldest
 * first. */
static inline bool vg_memory_in_l2(const struct vg_memory *memory, const struct vg_allocation *a,
                                   double l2_bytes)
{
    const double since = memory->passed_bytes - a->passed_at;
    return a->passed_at > 0 && since + (double)a->bytes <= 0.8 * l2_bytes;
}
/** Records that a kernel has written to an allocation; several workers may do so at the same
 * time. */
static inline void vg_memory_touch(struct vg_allocation *a)
{
    if (!__atomic_load_n(&a->touched, __ATOMIC_RELAXED))
        __atomic_store_n(&a->touched, true, __ATOMIC_RELAXED);
}
static inline char *vg_memory_host(const struct vg_memory *memory, uint64_t address)
{
    return memory->arena + (address - VG_GLOBAL_BASE);
}
