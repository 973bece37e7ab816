/** @file
 * Inside the virtual GPU: device, launch, block, warp.
 *
 *     device ── workers (threads) ── resident blocks ── warps ── fragments
 *
 * A warp's lanes at the same instruction form a fragment. One fragment of a warp runs at a time;
 * the others are ready, or wait at a meeting point, at a barrier, or for the lanes of a mask.
 *
 * Divergence: a branch that splits a fragment creates a meeting (the immediate post-dominator of
 * the branch, and the lanes expected there). Fragments that reach it wait until all its lanes have
 * arrived or ended, and continue as one. A call also creates a meeting, at its return. If a warp
 * makes no progress because lanes that wait at a meeting hold a lock that others spin for, the
 * meeting releases them (Volta's guarantee of progress).
 */
#pragma once

#include "vgpu/api/vgpu.h"
#include "vgpu/probe/race.h"
#include "vgpu/ptx/ptx_ast.h"
#include "vgpu/ptx/ptx_decode.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { VG_RESERVED_SHARED = 1024 };
/** Flag in shared_set: a copy to this word is pending, so fast accesses reject the word. */
enum { VG_COPY_PENDING = 0x10 };
enum {
    VG_LANES = 32,
    VG_BARRIERS = 16,
    SINK_WORDS = 32,
    VG_CLUSTER_MOST = 16,
    VG_PRODUCT_GROUPS = 8
};
/** An address in another block's shared memory has this block's rank in the cluster, plus one,
 * above the offset. */
enum { VG_RANK_SHIFT = 24 };
#define VG_FULL 0xffffffffu

/* ---- memory ---------------------------------------------------------------------------------- */

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
    char name[64];    /**< of a variable, otherwise "" */
    bool shared;      /**< whole pages, backed by a file of the device's owner */
    bool exported;    /**< backed by a file that other devices also map: see memory_export.c */
    double passed_at; /**< vg_memory.passed_bytes at its last use; 0: not used yet */
    char *seen;       /**< during a proof: shared memory after the last launch */
};

struct vg_memory {
    char *arena;     /**< host memory for addresses from VG_GLOBAL_BASE on */
    uint8_t *shadow; /**< one bit per byte: whether it is initialised */
    size_t arena_bytes, next, used_bytes, limit_bytes;
    struct vg_allocation *list; /**< sorted by address, including freed ones */
    size_t count, room;
    uint32_t numbers;
    double passed_bytes; /**< bytes that passed through the L2 cache so far */
};

enum st_code vg_memory_open(struct vg_memory *memory, size_t limit_bytes, struct st_error *err);
void vg_memory_close(struct vg_memory *memory);
enum st_code vg_memory_take(struct vg_memory *memory, size_t bytes, const char *name,
                            uint64_t *address, struct st_error *err);
/** @return the last allocation that starts at or below an address, or NULL. */
struct vg_allocation *vg_memory_below(const struct vg_memory *memory, uint64_t address);
/** Marks bytes as initialised. @pre they are inside an allocation. */
void vg_memory_mark(struct vg_memory *memory, uint64_t address, size_t bytes);
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

/* ---- modules --------------------------------------------------------------------------------- */

struct vg_kernel {
    struct vg_module *module;
    struct ir_function *function;
    char name[256];              /**< demangled */
    struct vg_tally *tally;      /**< sums of all launches */
    struct vg_kernel_info cubin; /**< registers 0: there is no cubin */
    uint32_t *unset; /**< slots that may be read before they are written, once it was launched */
    size_t unset_count;
    size_t dynamic_shared_most; /**< most bytes that a launch may request */
};

/** @return the registers of a thread, from the cubin if there is one; otherwise an estimate. */
static inline int vg_kernel_registers(const struct vg_kernel *k)
{
    return k->cubin.registers ? k->cubin.registers : k->function->registers;
}
/** @return the local memory of a thread on the GPU: the cubin's, if there is one (arrays may have
 * become registers, and registers may have been spilled); otherwise the PTX's. */
static inline size_t vg_kernel_local_bytes(const struct vg_kernel *k)
{
    return k->cubin.registers ? k->cubin.local_bytes : k->function->local_bytes;
}

struct vg_module {
    struct vg_device *device;
    struct vg_module *next;
    struct ptx_ast ast;
    struct ir_module ir;
    struct vg_kernel *kernels;
    size_t kernel_count;
    uint32_t block_count;
    struct ir_insn **insns; /**< [insn_count] every instruction by its number */
    uint32_t *block_of;     /**< [insn_count] the instruction's basic block */
    size_t *stack_known;  /**< [function_count] local memory with its calls', plus 1; 0: unknown */
    uint32_t *block_cost; /**< [block_count] number of instructions; NULL: not counted yet */
    struct vg_entry *entries; /**< [entry_count] see entries.c; NULL: the interpreter runs alone */
    uint32_t entry_count;
    struct translation *translations;
    size_t saved_bytes;              /**< size of vg_warp.saved */
    _Atomic(uint64_t *) *live_slots; /**< [insn_count] cached sets, see spinning.c */
    bool has_malloc, has_launches;   /**< kernels may allocate memory; may launch kernels */
    uint64_t error_texts;            /**< address in global memory, see error_texts.h; 0: none */
    bool has_reserved_shared;        /**< uses the part of shared memory that the system reserves */
};

/* ---- launches -------------------------------------------------------------------------------- */

/** Bytes without a gap, relative to the first lane's address. */
struct vg_run {
    int64_t start;
    uint32_t bytes;
};

enum vg_shape_kind { SHAPE_UNIFORM, SHAPE_ROWS, SHAPE_GROUPS, SHAPE_SCATTERED, VG_SHAPE_KINDS };
enum { VG_SHAPES_PER_SITE = 4, SHAPE_SECTORS = 8 };

/** The pattern of a memory instruction's addresses, see access_shape.inc. */
struct vg_shape {
    /** Address of each lane minus the first lane's, and a mask: all ones for active lanes. */
    _Alignas(64) uint64_t relative[VG_LANES];
    uint64_t want[VG_LANES];
    uint32_t relative_32[VG_LANES], want_32[VG_LANES]; /**< the same in 32 bits */
    uint32_t mask, size;
    uint64_t bits; /**< "or" of all elements of `relative` */
    int64_t low, high;
    int64_t group_base[4]; /**< relative address of lane 0, 8, 16, 24; extrapolated if inactive */
    uint32_t group_step[4];
    uint32_t log_base[4]; /**< for struct race_entry, relative to the first lane's address */
    uint16_t log_stride[4];
    enum vg_shape_kind kind;
    uint8_t lead;             /**< the first active lane */
    bool ascending, overlaps; /**< order of the runs; whether lanes share bytes */
    bool unsure;              /**< `overlaps` may not be set yet, see shape_find_overlaps() */
    uint8_t wavefronts;       /**< 0: not counted yet */
    /** Index: (address of the first lane & 31) / 4; value 0: not counted yet. Stored twice, for
     * native code. */
    uint8_t sectors[2 * SHAPE_SECTORS];
    uint32_t run_count;
    struct vg_run runs[VG_LANES];
    struct vg_shape *next; /**< the site's next shape, less recently used */
};

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
    uint64_t low, span; /**< allocation of the last access; span 0: none */
    struct vg_allocation *allocation;
    uint64_t requests, sectors;
    uint64_t divergent; /**< divergent branches */
    uint64_t shared_requests, wavefronts, local_requests, local_sectors;
    struct vg_shape *shape; /**< the last access's shape */
    int credit;             /**< lasting shapes minus changed ones, within bounds */
    uint64_t learned_at;    /**< number of requests when the last shape was learned */
    uint64_t turned;        /**< accesses of a new shape that is not rows */
};

/** A finding that may still change. */
struct vg_finding {
    struct vg_fault fault;
    uint32_t insn, other_insn;
    uint64_t order; /**< number of the block; the finding keeps the details of the smallest */
};

/** The last adder to each word of an allocation; see addition_races.c. */
struct vg_noted {
    _Atomic(const struct vg_allocation *) of;
    atomic_ullong *notes; /**< [bytes / 4], or NULL */
};
enum { VG_NOTED = 4 };

/** The work of a block; see block_work.c. */
struct vg_block_work {
    uint64_t issued; /**< issued instructions */
    bool asks;       /**< uses results of other blocks' atomics: its work may depend on the order */
};

struct vg_launch {
    struct vg_device *device;
    struct vg_kernel *kernel;
    struct vg_module *module;
    struct vg_dim grid, block;
    struct vg_dim cluster;   /**< size in blocks; 1 x 1 x 1: none */
    uint32_t cluster_blocks; /**< number of blocks in a cluster */
    bool has_clusters;       /**< the launch or the kernel sets a cluster size */
    bool cluster_is_checked; /**< for races between the cluster's blocks, see distributed.h */
    bool reads_async;        /**< bulk copies or wgmma read shared memory: see shared_ranges.c */
    uint32_t threads, warps;
    uint64_t blocks;
    size_t shared_bytes, dynamic_start, dynamic_bytes;
    size_t reserved_start; /**< of VG_RESERVED_SHARED bytes after the block's memory, if used */
    const char *parameters;
    char *parameter_copy; /**< readable at PTX_PARAM_BASE, padded */
    size_t parameter_bytes;
    size_t local_bytes, stack_bytes; /**< per thread; above the stack: parameters of launches */
    size_t local_stride; /**< distance of two lanes' local memory: an odd number of cache lines */
    size_t child_room;   /**< for the parameters of one launch */
    uint64_t workspace;  /**< workspace of cooperative groups */
    _Alignas(64) atomic_ullong next_block; /**< (constant members are in other cache lines) */
    atomic_ullong fault_block;             /**< number of the smallest block that faulted */
    atomic_int active;                     /**< number of workers that are not done */
    atomic_bool reads_host; /**< a worker that only spins has read memory that the host shares */
    _Atomic(const char *) host_waits; /**< the call in which the host only waits, or NULL */
    atomic_ullong quiet;              /**< count of workers that only spin | their progress << 32 */
    _Alignas(64) uint64_t number;
    const struct vg_child *child;     /**< the kernel request that it runs, or NULL */
    bool concurrent;                  /**< several workers run it: atomics must be atomic */
    uint64_t order_start, order_step; /**< the i-th block is number (start + i * step) % blocks */
    uint64_t seed;                    /**< for the order of blocks and warps; 0: by their numbers */
    struct vg_block_work *work;       /**< [blocks] NULL: not recorded */
    struct vg_noted noted[VG_NOTED];
};

/** The origin of a word during a proof (proof.h). `low`: of its 32 bits (of 64: of the first word),
 * or of its lower 16; `high`: of its upper 16. All zeros: no origin. */
struct origin {
    uint32_t low, high;
    uint64_t way;
    uint32_t step;  /**< log entry that made the value; 0: none (proof_log.h) */
    uint32_t value; /**< the value that the word should hold: a float32, or 16 bits for each half */
    uint32_t lost;  /**< upper bound of the loss: a float32, or its upper 16 bits for each half */
};

/** The origins of a memory's words, in a proof. */
struct proof_words {
    struct origin *words;
    size_t room, used;
    uint32_t staged;   /**< number of words that have held elements of x or k */
    uint32_t *places;  /**< [room] of a block: window positions of a word's weights */
    uint16_t *writers; /**< [room] of a block: the thread that last stored x there, plus one */
};

/** The state of a warp in a proof. */
struct proof_warp {
    struct proof_words local;
    struct proof_bytes *bytes;   /**< [32] words that are stored byte by byte, or NULL */
    uint32_t multiplied;         /**< lanes that computed a product of x and k */
    uint32_t multiplies;         /**< the same since the last backward branch */
    uint32_t used;               /**< lanes that stored or exchanged a result */
    uint32_t made[VG_LANES];     /**< products of each lane, those of sums included */
    struct proof_recent *recent; /**< [32] while an output is followed (proof_log.h), or NULL */
};

enum vg_fragment_state {
    FRAGMENT_READY,
    FRAGMENT_MEETING, /**< its lanes have arrived at its meeting */
    FRAGMENT_BARRIER,
    FRAGMENT_CLUSTER, /**< waits at the barrier of the cluster */
    FRAGMENT_SYNC,    /**< waits for the lanes of a mask */
};

struct vg_frame {
    char *regs;
    struct ir_function *function;
    struct vg_frame *caller;
    uint32_t local_base, local_top;
    struct vg_frame *next_free;
    uint32_t room;
    struct origin *origins; /**< [room / 4] of the registers, during a proof */
    uint8_t *holds; /**< [room / 4] words per lane in the slot that begins there; 0: no origins */
};

struct vg_fragment {
    const struct ir_insn *pc;
    struct vg_frame *frame;
    uint32_t mask, wanted; /**< wanted: the lanes it waits for */
    int meeting;
    enum vg_fragment_state state;
    uint8_t barrier;
    bool spins;    /**< at the end of its last turn the registers were as at its beginning */
    uint64_t seen; /**< hash of its registers when it last yielded */
};

/** A point where fragments meet. */
struct vg_meeting {
    const struct ir_insn *pc; /**< ENTER_JOIN, or the instruction after a call */
    struct vg_frame *frame;   /**< the frame whose function contains it */
    uint32_t expected, arrived;
    int parent;
    bool is_call, used;
    struct vg_frame *callee;
    const struct ir_insn *call;
};

/** Asynchronous copies of a warp to shared memory that are still pending. */
struct vg_copies {
    uint32_t insn;  /**< number of the instruction in the module */
    uint32_t epoch; /**< epoch of the race shadow in which it was issued */
    uint32_t lanes, bytes;
    uint32_t to[VG_LANES], group[VG_LANES];
    char data[VG_LANES][16];
};

/** A moment in the life of a warp. */
struct vg_moment {
    uint32_t epoch, step; /**< the race shadow's; the warp's in it */
};

struct vg_block;
struct vg_worker;
struct sample_warp;
struct vg_sample;

struct vg_warp {
    char *regs; /**< of the running fragment's frame */
    uint32_t mask;
    int meeting;
    const struct ir_insn *insns; /**< of the running function */
    struct vg_site *sites;
    uint64_t *block_warps, *block_threads;
    struct vg_block *block;
    struct vg_worker *worker;
    struct vg_frame *frame;
    int quantum;
    uint16_t index, warp_epoch;
    uint32_t step, step_epoch; /**< shared memory instructions in the epoch; that epoch */
    struct vg_moment fenced;   /**< at the last fence.proxy.async */
    uint32_t alive;
    uint32_t tid[3][VG_LANES]; /**< %tid.x, y, z */
    struct vg_frame *entry;
    struct vg_fragment fragments[VG_LANES];
    int fragment_count, running;
    struct vg_meeting *meetings;
    int meeting_room;
    char *local; /**< [32][local_stride] */
    size_t local_room;
    const struct ir_insn *resume; /**< set by a handler that ends the fragment's turn */
    bool yielded;
    uint32_t gather_own;          /**< the running fragment's lanes in a gathered operation */
    const struct ir_insn *forced; /**< an operation that continues although lanes are missing */
    uint64_t clock;
    bool looked_at_clock; /**< during this turn: a loop that waits for time is not spinning */
    uint64_t spins;
    struct sample_warp *sample; /**< records the warp's accesses, or NULL */
    bool recorded;              /**< its block is recorded, see block_recording.h */
    bool watched;               /**< its accesses are watched, see child_races.h */
    struct vg_copies *copies;   /**< [copy_room] in the order of their instructions */
    int copy_count, copy_room;
    uint32_t groups[VG_LANES];      /**< copy groups that each lane has ended */
    uint32_t bulk_groups[VG_LANES]; /**< groups of bulk copies that each lane has ended */
    struct vg_bulk *bulk;           /**< their copies, until the lanes wait for them */
    uint32_t products;              /**< of warpgroups: number computed so far */
    uint32_t product_groups[VG_PRODUCT_GROUPS]; /**< `products` at the end of the last groups */
    uint32_t product_group_count;
    uint32_t announced, opened; /**< lanes at the cluster's closed barrier; that may pass it */
    /** Registers of the running fragment: native code saves them here when it returns. While
     * saved_as names their plan, they have not been written to the frame. */
    char *saved;
    size_t saved_room;
    const struct native_saved *saved_as;
    struct proof_warp proof;
};

struct vg_barrier {
    uint32_t arrived, expected; /**< in threads; expected 0: all threads */
    uint32_t red_all, red_any, red_count;
};

/** Blocks that run together on one worker and can access each other's shared memory. See
 * clusters.c. */
struct vg_cluster {
    struct vg_block *blocks[VG_CLUSTER_MOST]; /**< by rank */
    uint32_t size;
    uint32_t announced; /**< number of threads that have arrived at the barrier */
};

struct vg_block {
    struct vg_worker *worker;
    struct vg_launch *launch;
    uint64_t number;
    uint32_t id[3];
    struct vg_cluster cluster_room, *cluster; /**< cluster: the cluster_room of its first block */
    uint32_t rank;                            /**< in the cluster */
    uint32_t started_at;                      /**< race epoch in which the block started */
    uint32_t ordered_at; /**< ... and in which the whole cluster was last ordered */
    uint64_t place;      /**< index by id in the grid; number: index by start order */
    struct vg_distributed *distributed; /**< what other blocks did to its shared memory, or NULL */
    struct vg_warp *warps;
    uint32_t warp_count, alive_threads;
    uint32_t absent; /**< threads that had ended when the block's last barrier opened, */
    const struct ir_insn *absent_at; /**< ... and that barrier */
    char *shared;
    uint8_t *shared_set; /**< [words] mask of initialised bytes, and VG_COPY_PENDING */
    bool has_copies;     /**< some copies may be pending */
    struct vg_bulk
        *bulk;        /**< copies to its shared memory, until a thread tests their barrier object */
    uint64_t reached; /**< barrier objects changed by other blocks; bit: address / 8 % 64 */
    size_t shared_bytes;
    struct race_shadow race;
    struct vg_barrier barriers[VG_BARRIERS];
    uint32_t awaited;    /**< one bit for each barrier at which threads have arrived */
    bool stop;           /**< a fault has ended the kernel for this block */
    bool is_beside;      /**< started because the worker's other blocks only spun */
    uint32_t first_warp; /**< the warp that has the first turn of a round */
    bool warps_backwards;
    char *text; /**< text that kernels printed */
    size_t text_bytes, text_room;
    struct child_work *children; /**< its launches, see child_work.h; NULL: none yet */
    struct vg_block *next;
    uint64_t prepared_for;      /**< number of the launch for which it was prepared */
    struct vg_dim numbered_for; /**< block size for which the warps' tid were set */
    size_t shared_room;
    uint32_t warp_room;
    struct proof_words proof;
};

/** A thread of the device's pool, and its counts and findings during a launch. */
struct vg_worker {
    _Alignas(64) atomic_uint progress; /**< changes when one of its blocks does more than spin */
    struct vg_device *device;
    int index;
    pthread_t thread;
    struct vg_launch *launch;
    size_t site_room, block_room;
    uint64_t used_by; /**< number of the launch to which the counts belong */
    struct vg_site *sites;
    uint64_t *block_warps, *block_threads;
    struct vg_shape *shapes; /**< [2 * site_room] */
    size_t shape_count;
    struct vg_shape passing_shape; /**< for accesses whose shape is not kept */
    struct vg_finding *findings;
    size_t finding_count, finding_room;
    struct vg_block *idle, *resident;
    struct vg_frame *free_frames;
    struct patterns *patterns; /**< for native code, in one allocation */
    struct vg_printed {
        uint64_t block;
        char *text;
        size_t bytes;
    } * printed;
    size_t printed_count, printed_room;
    struct vg_child *children; /**< requests of blocks that ended on this worker */
    size_t child_count, child_room;
    uint64_t barriers;
    uint64_t worked; /**< counted work of its blocks so far, see block_work.c */
    uint64_t asked;  /**< how often their warps executed code that uses other blocks' results */
    bool no_memory;
    void (*settle)(struct vg_warp *w); /**< writes back saved registers, see translator.h */
};

struct vg_device {
    struct vg_profile profile;
    struct vg_memory memory;
    struct vg_module *modules;
    int worker_count, started;
    bool uses_all_cores;       /**< has a worker for each core */
    bool one_core;             /**< for the next launch */
    struct vg_dim cluster;     /**< for the next launch; x 0: the kernel decides */
    struct vg_worker *workers; /**< [worker_count]; number 0 is the caller's thread */
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    unsigned generation;
    int busy;
    bool quit;
    bool keeps_blocks;         /**< see vg_blocks_keep() */
    uint64_t seed;             /**< see vg_device_seed() */
    atomic_bool interrupt;     /**< the running launch must end soon */
    vg_host_waits *host_waits; /**< see vg_host_set() */
    void *host;
    struct progress_shared *progress; /**< see vg_progress_set(), or NULL */
    struct vg_launch *launch;
    struct vg_fault *faults;
    size_t fault_count, fault_room;
    char *printed;
    size_t printed_bytes, printed_room;
    atomic_size_t printing;    /**< bytes that kernels have tried to print since vg_printf_take() */
    struct vg_child *children; /**< of the last launch */
    size_t child_count;
    int nesting;                  /**< depth of the next launch; 0: launched by the host */
    const struct vg_child *child; /**< the next launch's request, or NULL */
    size_t limits[16];            /**< indexed by enum cudaLimit */
    uint32_t *conditions;         /**< of graphs, see vg_condition_new() */
    size_t condition_count, condition_room;
    char *retired; /**< counter rows of unloaded modules: a lab's library is unloaded at exit */
    size_t retired_bytes;
    uint64_t launches;
    struct vg_sample *sample;         /**< of the running launch, see cache_sample.h */
    struct vg_recordings *recordings; /**< recordings of blocks, or NULL: see block_recording.h */
    uint64_t workspace;               /**< for the grid barrier of cooperative groups */
    const struct vg_handlers *handlers;
    const char *target; /**< instruction set of the handlers */
    struct vg_engine_state *engine;
    struct proof *proof; /**< the running proof, or NULL */
};

/** @return the coordinates of the thread or block with this number in a block or grid of this
 * size. */
static inline struct vg_dim vg_place(struct vg_dim size, uint64_t number)
{
    return (struct vg_dim){(uint32_t)(number % size.x), (uint32_t)(number / size.x % size.y),
                           (uint32_t)(number / size.x / size.y)};
}

/* ---- functions for handlers ------------------------------------------------------------------ */

/** Records a finding of a lane. If this kind ends the kernel, the block stops. */
void vg_find(struct vg_warp *w, const struct ir_insn *in, enum vg_fault_kind kind, int lane,
             uint64_t address, uint32_t bytes, bool is_write, const char *detail, ...)
    __attribute__((format(printf, 8, 9)));
/** Finds out what is wrong with a global address (out of bounds, freed, null, ...) and records
 * it. */
void vg_find_address(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                     uint32_t bytes, bool is_write);
void vg_find_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t address,
                  uint32_t bytes, bool is_write, struct race_hit hit);

/** Records a read of shared memory that was never written. */
void vg_find_unset_shared(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                          uint32_t bytes);

struct child_access;
/** Records a race: a grid's access to memory that the block which launched the grid also accesses,
 * after the launch. */
void vg_find_child_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                        const struct child_access *other);

/** Records a plain addition to an element of global memory to which several blocks add. @p block,
 * @p thread and the instruction's number @p insn describe the addition. */
void vg_find_addition(struct vg_warp *w, uint64_t block, uint32_t thread, uint32_t insn,
                      uint64_t address, uint32_t bytes);

/** Control flow, in branches.c, calls.c, barriers.c and vg_warp.c. Each function returns the next
 * instruction, or NULL. */
const struct ir_insn *vg_split(struct vg_warp *w, const struct ir_insn *in, uint32_t taken);
/** Makes some lanes wait at the meeting of a branch. */
void vg_wait(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
const struct ir_insn *vg_branch_index(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_meet(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_call(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_return(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
const struct ir_insn *vg_exit(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
const struct ir_insn *vg_barrier(struct vg_warp *w, const struct ir_insn *in);
const struct ir_insn *vg_yield(struct vg_warp *w, const struct ir_insn *resume);
/** Waits for the lanes of the mask in slot f. @return whether all have arrived; then they are in
 * w->mask. */
bool vg_gather(struct vg_warp *w, const struct ir_insn *in);
/** @return whether all lanes of the mask have arrived. @param all  becomes the lanes that have
 * arrived */
bool vg_gather_complete(const struct vg_warp *w, const struct ir_insn *in, uint32_t *all);
/** Called after vg_gather() and the operation: all gathered lanes continue after the
 * instruction. */
const struct ir_insn *vg_gathered(struct vg_warp *w, const struct ir_insn *in);
void vg_warp_start(struct vg_warp *w, const struct ir_insn *first);
/** Runs a warp until all its lanes have to wait. @return whether anything was executed. */
bool vg_warp_run(struct vg_warp *w);
/** Called when lanes have ended: opens barriers that only waited for them. */
void vg_block_lanes_ended(struct vg_block *b);
/** Called when all lanes of a warp wait: ends one wait. @return whether a fragment is then
 * ready. */
bool vg_warp_unstick(struct vg_warp *w);

/** @return a structure for the copies of one instruction. They are pending: their bytes are stored
 * to shared memory when their thread waits for them, and must not be read before. */
struct vg_copies *vg_copies_new(struct vg_warp *w);
/** Makes lanes wait for all their copies, or for all except their last @p groups groups. */
void vg_copies_wait(struct vg_warp *w, uint32_t lanes, bool all, uint32_t groups);
/** @return the race of a read of @p bytes bytes at @p address; RACE_NONE if no copy to them is
 * pending. */
struct race_hit vg_copies_race(struct vg_block *b, uint32_t address, uint32_t bytes);

/** Records that a worker's block made progress. Each worker has its own count: a common one would
 * move from core to core with each barrier. */
static inline void vg_progressed(struct vg_worker *w)
{
    const unsigned now = atomic_load_explicit(&w->progress, memory_order_relaxed);
    atomic_store_explicit(&w->progress, now + 1, memory_order_release);
}

/** @return a lane's local memory, of launch->local_bytes bytes. */
static inline char *vg_local(const struct vg_warp *w, int lane)
{
    return w->local + (size_t)lane * w->block->launch->local_stride;
}

/** Clears local memory of some lanes, so that it does not depend on the blocks that ran before on
 * this core. */
static inline void vg_local_clear(const struct vg_warp *w, uint32_t lanes, size_t at, size_t bytes)
{
    for (; bytes && lanes; lanes &= lanes - 1)
        memset(vg_local(w, __builtin_ctz(lanes)) + at, 0, bytes);
}

/** Counts the warp's shared memory instructions since the last barrier. */
static inline void vg_shared_step(struct vg_warp *w)
{
    if (w->step_epoch != w->block->race.epoch) {
        w->step_epoch = w->block->race.epoch;
        w->step = 0;
    }
    w->step++;
}

/** @return whether blocks of a kernel can wait for each other or agree on an order. */
bool vg_blocks_may_agree(const struct ir_function *f);
/** @return whether a store writes a value that was computed from the stored element's last
 * value. */
bool vg_is_addition(const struct ir_function *f, size_t store);
/** Records the execution of such a store. @param addresses  of the lanes, without the instruction's
 * offset */
void vg_addition(struct vg_warp *w, const struct ir_insn *in, const uint64_t *addresses);
/** Called after a launch: drops the notes of additions. */
void vg_additions_end(struct vg_launch *l);

/** @return a shape for a site, from the worker's pool; NULL if the pool is empty. */
struct vg_shape *vg_shape_new(struct vg_worker *worker);
struct vg_frame *vg_frame_new(struct vg_worker *worker, struct ir_function *f);
void vg_frame_free(struct vg_worker *worker, struct vg_frame *frame);
void vg_frame_fill(struct vg_frame *frame, const struct vg_launch *launch);

void vg_builtin(struct vg_warp *w, const struct ir_insn *in, enum ir_builtin which);

struct proof_factors;
struct matrix_sizes;
/** The handlers of one instruction set: the same source, compiled once for each. */
struct vg_handlers {
    /** Executes instructions from @p first on, until the running fragment has to wait. */
    void (*enter)(const struct ir_insn *first, struct vg_warp *warp);
    /** As enter(), but first records each access (see cache_sample.h). */
    void (*enter_sampled)(const struct ir_insn *first, struct vg_warp *warp);
    /** As enter_sampled(), but also records each instruction (see block_recording.h). */
    void (*enter_recorded)(const struct ir_insn *first, struct vg_warp *warp);
    /** As enter(), with proof_step() before each instruction (proof.h). */
    void (*enter_proved)(const struct ir_insn *first, struct vg_warp *warp);
    /** Computes the shape of an access of lanes at these addresses, with all its counts. */
    void (*learn)(struct vg_shape *shape, const uint64_t addresses[32], uint32_t mask,
                  uint32_t size);
    /** Reads the numbers of an operand (enum matrix_operand) of a product of matrices, row-major
     * (matrix.h). */
    void (*matrix_numbers)(const struct vg_warp *warp, const struct ir_insn *in, int operand,
                           double *matrix);
    /** d += a * b with the origins of a proof (proof_products.inc).
     * @return the number of products of x and k */
    uint32_t (*multiply_factors)(struct proof_factors *d, const struct proof_factors *a,
                                 const struct proof_factors *b, const struct matrix_sizes *sizes);
    ir_handler run[IR_OPS];  /**< may also execute following instructions */
    ir_handler once[IR_OPS]; /**< executes only this instruction */
};
extern const struct vg_handlers vg_handlers_base, vg_handlers_avx2, vg_handlers_avx512;
