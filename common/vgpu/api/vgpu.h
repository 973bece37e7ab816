/** @file
 * The interface of the virtual GPU for the program that contains it: memory, modules, launches,
 * findings. It is independent of CUDA's runtime API, of sockets and of labs. The device process
 * (vgpu-device_main.c) offers it through a socket; tests call it directly.
 *
 * Address space of a device: global memory starts at VG_GLOBAL_BASE, far from any address of a host
 * process. So a host pointer is always invalid in a kernel, and a device pointer faults in the
 * host. Shared and local memory have separate windows for generic addressing.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VG_GLOBAL_BASE UINT64_C(0x0000700000000000)
#define VG_SHARED_BASE UINT64_C(0x0000600000000000)
#define VG_LOCAL_BASE  UINT64_C(0x0000610000000000)

struct progress_shared; /* base/progress.h */
struct vg_device;
struct vg_module;
struct vg_kernel;

/** A GPU: the values of a profile (common/vgpu/gpus/NAME.yaml). */
struct vg_profile {
    char name[32];    /**< "h200" */
    char product[96]; /**< "NVIDIA H200" */
#define FIELD(type, name, least) type name;
#include "vgpu/api/profile.def"
#undef FIELD
};

enum vg_fault_kind {
#define FAULT(name, ...) VG_FAULT_##name,
#include "vgpu/api/fault_kinds.def"
#undef FAULT
    VG_FAULT_KINDS
};

/** One finding of the checks; equal findings are merged. */
struct vg_fault {
    enum vg_fault_kind kind;
    char kernel[256];     /**< demangled */
    char file[256];       /**< from .loc, "" without -lineinfo */
    int line;             /**< 0 without -lineinfo */
    char other_file[256]; /**< races: file of the other access */
    int other_line;
    uint32_t block[3], thread[3];
    uint64_t address;
    int access_bytes;
    bool is_write;
    bool is_copied;   /**< unwritten bytes were copied to this shared memory */
    char detail[512]; /**< "4 bytes past the end of the 3600-byte allocation from cudaMalloc #2" */
    uint64_t count;   /**< number of equal findings */
};

/** Counters of one launch, or of one of its source lines. */
struct vg_counters {
    uint64_t warp_instructions, thread_instructions;
    uint64_t by_class[16]; /**< warp instructions per cost class, see ptx/opcodes.def */
    uint64_t global_load_requests, global_load_sectors, global_store_requests, global_store_sectors,
        global_atomic_requests, global_atomic_sectors;
    uint64_t local_load_requests, local_load_sectors, local_store_requests, local_store_sectors;
    uint64_t shared_load_requests, shared_load_wavefronts, shared_store_requests,
        shared_store_wavefronts;
    uint64_t constant_requests, constant_wavefronts;
    uint64_t branches, divergent_branches, barriers;
    uint64_t fp32_fma, fp32_add_mul, fp64_ops, fp16_ops; /**< thread-level, for flop counts */
    /* as requested by the threads, including lanes that a guard switches off */
    uint64_t global_load_bytes, global_store_bytes, shared_load_bytes, shared_store_bytes;
};

/** The terms of a kernel's time: X(NAME, text, group). The text names the term in the trace:
 * "limiter" is the largest term, "ns_TEXT" the time of the term alone. Work passes the resources of
 * a group one after another, so the slowest resource determines the group's time; groups overlap
 * (vgpu/probe/model.h). */
#define VG_TERM_MAP(X)                                                                             \
    X(ISSUE, issue, ARITHMETIC)                                                                    \
    X(FP32, fp32, ARITHMETIC)                                                                      \
    X(FP64, fp64, ARITHMETIC)                                                                      \
    X(FP16, fp16, ARITHMETIC)                                                                      \
    X(INT, int, ARITHMETIC)                                                                        \
    X(SPECIAL, special, ARITHMETIC)                                                                \
    X(TENSOR, tensor, ARITHMETIC)                                                                  \
    X(SHARED, shared, LOAD_STORE)                                                                  \
    X(L1, l1, LOAD_STORE)                                                                          \
    X(L2, l2, MEMORY)                                                                              \
    X(DRAM, dram, MEMORY)                                                                          \
    X(ATOMIC, atomic, MEMORY)                                                                      \
    X(LATENCY, latency, LATENCY)                                                                   \
    X(BLOCKS, blocks, BLOCKS)                                                                      \
    X(CONSTANT, constant, CONSTANT)                                                                \
    X(BARRIERS, barriers, BARRIERS)                                                                \
    X(LAUNCH, launch, NONE)

enum vg_term {
#define VG_TERM_ENUM(name, text, group) VG_TERM_##name,
    VG_TERM_MAP(VG_TERM_ENUM)
#undef VG_TERM_ENUM
        VG_TERMS
};

/** Sizes of a launch. */
struct vg_dim {
    uint32_t x, y, z;
};

/** The report of one launch. */
struct vg_launch_report {
    bool faulted; /**< a finding ended the kernel */
    enum vg_fault_kind fault;
    struct vg_counters counters;
    int registers;
    int registers_sm; /**< architecture of the cubin that states them: 90 for sm_90; 0: estimated */
    size_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
    double occupancy;         /**< modelled achieved occupancy: resident warps / maximum */
    double modelled_ns;       /**< duration on the profile's GPU */
    char limiter[32];         /**< "dram", "fp32", "issue", "shared", "latency", ... */
    double term_ns[VG_TERMS]; /**< the terms of modelled_ns */
    double balance;           /**< mean work of a multiprocessor / work of the busiest one */
    double scheduler_balance; /**< mean work of its schedulers / work of the busiest one */
    double dram_bytes, l2_read_bytes, l2_write_bytes; /**< modelled traffic */
    double l1_wavefronts; /**< of global and local accesses: clocks of L1's data stage */
    char *blocks;         /**< after vg_blocks_keep(): malloc'd, freed by the caller; else NULL */
    char left[128]; /**< "31 of the block's 256 threads returned at line 21 and never reached the
                               barrier at line 33": the first such block; or "" */
};

/** Opens a virtual GPU. @param cores  worker threads; 0: one per core that the process may use. */
enum st_code vg_device_open(struct vg_device **device, const struct vg_profile *profile, int cores,
                            struct st_error *err);
/** A seed for vg_device_seed(): blocks run in the order of their numbers, one after the other. */
#define VG_SEED_ONE_BY_ONE UINT64_MAX
/** From now on blocks and warps run in an order that the seed determines, one block after the
 * other, which exposes programs that depend on the order. 0: in the order of their numbers, on all
 * cores. */
void vg_device_seed(struct vg_device *device, uint64_t seed);
/** The engine: the interpreter; native code, translated before its first run (if a translator
 * exists); or AUTO, the interpreter, with native code for parts that run often, translated while
 * the interpreter runs them. Results, findings, counters and times are the same. */
enum vg_engine { VG_ENGINE_AUTO, VG_ENGINE_INTERPRETER, VG_ENGINE_NATIVE };
/** Name of the threads that make native code: their time is not charged to a program. */
#define VG_TRANSLATOR_THREAD "translator"
struct vg_translator;
/** Sets the engine of modules that are loaded from now on; the initial engine is the interpreter.
 * @param find  called once, when the translator is needed, to return it; it may return NULL. */
void vg_device_engine_set(struct vg_device *device, enum vg_engine engine,
                          const struct vg_translator *(*find)(void));
/** Says that few launches follow: AUTO then translates only what a launch will still execute when its
 * code is made. */
void vg_device_brief_set(struct vg_device *device);
/** The instruction set with which this machine executes kernels: "base", "avx2", "avx512". */
const char *vg_device_instruction_set(const struct vg_device *device);
/** Frees everything a device holds. NULL is allowed. */
void vg_device_close(struct vg_device *device);

/** Allocates memory, which the checks treat as uninitialised. Its alignment is 256; before and
 * after it are gaps that are never valid. @return ST_NO_MEMORY beyond the profile's
 * global_bytes. */
enum st_code vg_memory_alloc(struct vg_device *device, size_t bytes, uint64_t *address,
                             struct st_error *err);
/** Allocates managed or pinned host memory: its contents are in a file (a memfd of at least
 * @p bytes rounded up to whole pages) that a client maps at the same address. The address is a
 * multiple of 4096, no other allocation shares its pages, and the memory counts as initialised. The
 * caller keeps ownership of the descriptor. */
enum st_code vg_memory_alloc_shared(struct vg_device *device, int fd, size_t bytes,
                                    uint64_t *address, struct st_error *err);
enum st_code vg_memory_free(struct vg_device *device, uint64_t address, struct st_error *err);
/** Reserves an address for memory of a graph. The memory is allocated when the graph runs, and may be
 * freed and allocated again until vg_memory_release(). */
enum st_code vg_memory_reserve(struct vg_device *device, size_t bytes, uint64_t *address,
                               struct st_error *err);
bool vg_memory_is_reserved(const struct vg_device *device, uint64_t address, bool *live);
/** Allocates reserved memory. @return ST_USAGE if it is already allocated */
enum st_code vg_memory_occupy(struct vg_device *device, uint64_t address, size_t *bytes,
                              struct st_error *err);
void vg_memory_release(struct vg_device *device, uint64_t address);
/** Memory of a device that other devices of this process map. */
struct vg_exported {
    int fd; /**< closed by the caller */
    uint64_t address;
    size_t bytes, offset; /**< offset: of the address in its page */
};
/** Exports the allocation around an address; it then counts as initialised. */
enum st_code vg_memory_export(struct vg_device *device, uint64_t address, struct vg_exported *to,
                              struct st_error *err);
/** Maps exported memory of another device, until vg_memory_free(). */
enum st_code vg_memory_import(struct vg_device *device, const struct vg_exported *from,
                              uint64_t *address, struct st_error *err);
/** The rights of memory that the program maps; each value includes the rights of those before. */
enum vg_rights { VG_UNMAPPED, VG_NO_ACCESS, VG_READ_ONLY, VG_READ_WRITE };
/** The unit of reserved ranges and mapped memory. */
#define VG_RANGE_UNIT ((size_t)2 << 20)
/** A part of a range into which memory is mapped. */
struct vg_piece {
    uint64_t offset; /**< in the range */
    size_t bytes;
    enum vg_rights rights;
};
/** Reserves a range of addresses without memory. @param alignment  0 or a power of 2 */
enum st_code vg_range_reserve(struct vg_device *device, size_t bytes, size_t alignment,
                              uint64_t *address, struct st_error *err);
/** Frees a range. @pre no memory is mapped into it */
void vg_range_free(struct vg_device *device, uint64_t range);
/** Sets the rights of all parts of a range. @param pieces  [n] in the order of their addresses; the
 * other parts of the range have no memory */
enum st_code vg_range_show(struct vg_device *device, uint64_t range, const struct vg_piece *pieces,
                           size_t n, struct st_error *err);
/** Maps the file @p fd at an address in a range. @param is_written  the memory counts as
 * initialised */
enum st_code vg_range_map(struct vg_device *device, uint64_t address, size_t bytes, int fd,
                          bool is_written, struct st_error *err);
void vg_range_unmap(struct vg_device *device, uint64_t address, size_t bytes);
/** Marks mapped memory as initialised. */
void vg_range_mark(struct vg_device *device, uint64_t address, size_t bytes);
/** Counts memory that is created without an address. @return false if the GPU does not have it */
bool vg_memory_charge(struct vg_device *device, size_t bytes);
void vg_memory_discharge(struct vg_device *device, size_t bytes);
/** Creates a condition of a graph, which kernels set (cudaGraphSetConditional()). @return its handle */
uint64_t vg_condition_new(struct vg_device *device);
/** @return the address of a condition's value, or NULL. */
uint32_t *vg_condition(struct vg_device *device, uint64_t handle);
/** Copies between host memory and the device; checks bounds. Writing marks memory initialised. */
enum st_code vg_memory_write(struct vg_device *device, uint64_t to, const void *from, size_t bytes,
                             struct st_error *err);
enum st_code vg_memory_read(struct vg_device *device, void *to, uint64_t from, size_t bytes,
                            struct st_error *err);
enum st_code vg_memory_copy(struct vg_device *device, uint64_t to, uint64_t from, size_t bytes,
                            struct st_error *err);
enum st_code vg_memory_set(struct vg_device *device, uint64_t to, int value, size_t bytes,
                           struct st_error *err);

/** Facts about the machine code of one kernel. */
struct vg_kernel_info {
    char name[1024]; /**< mangled */
    int sm;          /**< the cubin's architecture: 90 for sm_90 */
    int registers;
    size_t local_bytes;            /**< per thread, including spilled registers */
    uint32_t spills, instructions; /**< of the machine code: moves of spilled registers; all
                                        instructions */
};
/** Compiles PTX into a module on this device: parses and validates it (reports all that is
 * unsupported at once, with lines), then allocates and initialises its global and constant
 * variables.
 * @param info  facts about the kernels from the embedded cubin; may be NULL (see fatbin.h). */
enum st_code vg_module_load(struct vg_device *device, struct vg_module **module, const char *ptx,
                            size_t ptx_bytes, const struct vg_kernel_info *info, size_t infos,
                            struct st_error *err);
/** One unit of a program: the arguments of vg_module_load(). */
struct vg_image {
    const char *ptx;
    size_t ptx_bytes;
    const struct vg_kernel_info *info;
    size_t infos;
};
/** Like vg_module_load() for a program compiled in several units (nvcc -rdc=true), which use each
 * other's functions and variables: they become one module. */
enum st_code vg_module_link(struct vg_device *device, struct vg_module **module,
                            const struct vg_image *images, size_t n, struct st_error *err);
void vg_module_unload(struct vg_device *device, struct vg_module *module);
/** @return the kernel with a (mangled) name, or NULL. */
struct vg_kernel *vg_module_kernel(struct vg_module *module, const char *name);
/** Finds the address and size of a global or constant variable. @return false if none has this
 * name. */
bool vg_module_variable(struct vg_module *module, const char *name, uint64_t *address,
                        size_t *bytes);
/** @return the name of kernel @p i of a module; NULL: it has only *@p count kernels */
const char *vg_module_kernel_name(const struct vg_module *module, uint64_t i, size_t *count);
/** @return the (mangled) name of a kernel. */
const char *vg_kernel_symbol(const struct vg_kernel *kernel);
/** @return why a kernel cannot be launched (it, or a function that it calls, has unsupported
 * instructions); NULL if it can. */
const char *vg_kernel_refusal(const struct vg_kernel *kernel);
/** Bytes of a kernel's parameter block, and offset and size of parameter @p i (false past the end).
 */
size_t vg_kernel_parameter_bytes(const struct vg_kernel *kernel);
bool vg_kernel_parameter(const struct vg_kernel *kernel, int i, size_t *offset, size_t *bytes);
/** Static facts of a kernel (registers, shared and local bytes, largest block). */
struct vg_kernel_attributes {
    int registers, max_threads_per_block;
    bool registers_are_estimated; /**< no machine code states the number */
    size_t static_shared_bytes, local_bytes, constant_bytes;
    struct vg_dim cluster;    /**< blocks of a thread block cluster; x 0: the kernel states none */
    int max_cluster;          /**< blocks of the largest cluster that it allows; 0: any */
    bool explicit_cluster;    /**< its launches must state the size of clusters */
    bool blocks_are_clusters; /**< its launches count clusters, not blocks */
    int ptx_sm;               /**< architecture of the PTX, 75 for compute_75 */
    int binary_sm;            /**< architecture of the machine code that the profile's GPU would
                                   run */
};
void vg_kernel_attributes_get(const struct vg_kernel *kernel, struct vg_kernel_attributes *to);
/** @return the largest dynamic shared memory of a launch; initially the default limit per block. */
size_t vg_kernel_dynamic_shared_most(const struct vg_kernel *kernel);
void vg_kernel_dynamic_shared_allow(struct vg_kernel *kernel, size_t bytes);
/** Sets the facts about a kernel's machine code, if its module contained none. */
void vg_kernel_info_set(struct vg_kernel *kernel, const struct vg_kernel_info *info);

/** The blocks of the next launch take turns on one core. This is for cooperative launches, whose
 * blocks wait for each other: how often they poll, and so the counters, would otherwise depend on
 * the cores. */
void vg_one_core(struct vg_device *device);
/** The next launch uses clusters of this size, which must divide the grid, instead of the size that
 * the kernel states. */
void vg_clusters(struct vg_device *device, struct vg_dim size);
/** Runs a kernel to its end. Findings are added to the device's list. @param parameters  the block
 * of vg_kernel_parameter_bytes() bytes. @return ST_OK even if the kernel faulted: see report. */
enum st_code vg_launch(struct vg_device *device, struct vg_kernel *kernel, struct vg_dim grid,
                       struct vg_dim block, size_t dynamic_shared_bytes, const void *parameters,
                       struct vg_launch_report *report, struct st_error *err);

/* ---- work that kernels launch ------------------------------------------------------------------ */

#define VG_NO_CHILD SIZE_MAX

enum vg_child_kind {
    VG_CHILD_KERNEL,
    VG_CHILD_COPY,
    VG_CHILD_FILL,
    VG_CHILD_RECORD,
    VG_CHILD_WAIT
};

/** A request that a kernel makes: a kernel, a copy, a fill, or to record an event or wait for
 * one. */
struct vg_child {
    enum vg_child_kind kind;
    struct vg_kernel *kernel;
    struct vg_dim grid, block;
    size_t dynamic_shared_bytes;
    void *parameters;                   /**< owned */
    uint64_t to, from;                  /**< of a copy or fill, device addresses */
    size_t to_pitch, from_pitch, bytes; /**< bytes: of a row */
    size_t rows;
    int value;
    uint64_t stream, event;    /**< handles in device code */
    bool is_tail;              /**< runs after the grid and its other work */
    uint64_t block_number;     /**< of the requesting block, in the order of the launch */
    uint32_t number;           /**< index among the block's requests */
    uint32_t thread_number;    /**< index among the launches, copies and fills of its thread */
    struct child_watch *watch; /**< later accesses of the requesting block, or NULL */
    size_t after[2];           /**< requests that it must follow, by stream and by event, or
                                    VG_NO_CHILD */
};
static inline bool vg_child_is_work(const struct vg_child *c)
{
    return c->kind != VG_CHILD_RECORD && c->kind != VG_CHILD_WAIT;
}

/** Sets the nesting depth of the next launch, and the request that it runs (0, NULL: the host
 * launches). */
void vg_nesting_set(struct vg_device *device, int depth, const struct vg_child *child);
/** Set and get the value of a cudaLimit. */
void vg_limit_set(struct vg_device *device, int limit, size_t value);
size_t vg_limit(const struct vg_device *device, int limit);
/** Takes the requests of the last launch, in an order that respects all streams: they may run one
 * after another, each together with the work that it requests. @return the list, malloc'd; NULL:
 * empty. */
struct vg_child *vg_children_take(struct vg_device *device, size_t *count);
void vg_children_free(struct vg_child *list, size_t count);
/** Carries out a copy or fill. */
enum st_code vg_child_move(struct vg_device *device, const struct vg_child *child,
                           struct st_error *err);

/** Makes a launch on another thread end soon, as if it had made no progress. Does nothing if none
 * runs. Only this function may be called during vg_launch(). */
void vg_interrupt(struct vg_device *device);
/** Asks whether the host waits, too, while a kernel only polls memory that it shares with the host.
 * Called often, by several threads. @p look changes each time the kernel has read the memory again.
 * @return the call in which the host waits; NULL if the host can still write to this memory, or may
 * have written since the last read */
typedef const char *vg_host_waits(void *context, uint32_t look);
void vg_host_set(struct vg_device *device, vg_host_waits *waits, void *context);
enum vg_lateness {
    VG_NOT_LATE,
    VG_LATE,     /**< a copy that has not been made yet will write the address */
    VG_UNORDERED /**< a copy that nothing orders with the kernel writes it */
};
/** Asks whether a copy will write an address. Called by several threads while a kernel runs, for
 * findings. */
typedef enum vg_lateness vg_late_copy(void *context, uint64_t address);
void vg_late_copies_set(struct vg_device *device, vg_late_copy *is_late, void *context);
/** From now on, kernels find that nothing has written these bytes, until vg_memory_show(). @return
 * false: they are not known to be written now, or others may write to them, too; nothing changes */
bool vg_memory_hide(struct vg_device *device, uint64_t address, uint64_t bytes);
void vg_memory_show(struct vg_device *device, uint64_t address, uint64_t bytes);
/** Copies the contents of the memory if they are at most @p most bytes. @return the number of bytes */
uint64_t vg_contents_keep(struct vg_device *device, uint64_t most);
void vg_contents_drop(struct vg_device *device);
/** The bytes that a launch changed. */
struct vg_written;
/** @return what the last launch changed since vg_contents_keep(); to be freed. NULL: nothing */
struct vg_written *vg_written_find(struct vg_device *device);
bool vg_written_contains(const struct vg_written *w, uint64_t address);
/** @return whether a launch changed bytes of an address range, if the allocation is still the same. */
bool vg_written_within(const struct vg_device *d, const struct vg_written *w, uint64_t address,
                       uint64_t bytes);
/** @return whether two launches changed the same byte by plain stores. @param address  becomes its
 * address */
bool vg_written_twice(const struct vg_written *w, const struct vg_written *other,
                      uint64_t *address);
/** @return whether the last launch, which changed @p w, replaced the contents of an allocation that
 * an earlier launch was the last to read. @param address  becomes the allocation's address */
bool vg_written_over(const struct vg_device *device, const struct vg_written *w, uint64_t launch,
                     uint64_t *address);
/** As vg_memory_hide() and vg_memory_show(). @pre the bytes are written */
void vg_written_hide(struct vg_device *device, const struct vg_written *w);
void vg_written_show(struct vg_device *device, const struct vg_written *w);
void vg_written_free(struct vg_written *w);
/** How kernels used an allocation, except by accesses that synchronise. */
struct vg_use {
    uint64_t address, bytes;
    uint64_t loaded_by, stored_by; /**< numbers of the last launches; 0: none */
    bool is_shared;                /**< with the host or another device */
};
/** @return false: no live allocation contains the address. */
bool vg_use_of(const struct vg_device *device, uint64_t address, struct vg_use *use);
/** @return the number of the last launch. */
uint64_t vg_launch_number(const struct vg_device *device);
/** @return whether the last launch wrote to memory that is shared with the host. */
bool vg_tells_host(const struct vg_device *device);
/** Adds a finding that no kernel made. */
void vg_fault_add(struct vg_device *device, const struct vg_fault *fault);
/** From now on counts launches, their blocks and ended blocks in shared memory; NULL: stops
 * counting. */
void vg_progress_set(struct vg_device *device, struct progress_shared *shared);

/** From now on each launch report has the number of threads that ran each basic block, as text:
 * "FUNCTION.BLOCK:THREADS ..." with ptx_decode()'s numbers; blocks that no thread ran are omitted. An
 * asterisk follows if the block has loaded elements of x or k, or multiplied them, in a proof. */
void vg_blocks_keep(struct vg_device *device);
/** From now on records a block of each kernel: the one in the middle of its largest launch's
 * grid. */
void vg_blocks_record(struct vg_device *device);
/** Writes the recordings, one JSON object per line (probe/picture.h has the members). */
void vg_recordings_write(const struct vg_device *device, FILE *out);
/** Names what is at an address: "#2+64" is 64 bytes into the second cudaMalloc, "weights+0" the
 * start of a variable; "" if the address is unknown. */
void vg_address_name(const struct vg_device *device, uint64_t address, char *to, size_t room);

/** The tensors of a proof by execution (exec/proof.h). */
enum vg_proof_tensor { VG_PROOF_X, VG_PROOF_K, VG_PROOF_Y, VG_PROOF_TENSORS };

/** Starts or restarts a proof, with new random elements. Call it before the first launch; a proof
 * runs in the interpreter, on one core. */
enum st_code vg_proof_start(struct vg_device *device, struct st_error *err);
/** Sets the number of weights per output map. @param tiles  recognise tiles of the unrolled matrix
 * by their weights, which takes time */
void vg_proof_taps(struct vg_device *device, size_t taps, bool tiles);
/** Sets the address of a tensor, which already holds its values. @return false: out of memory. */
bool vg_proof_tensor(struct vg_device *device, enum vg_proof_tensor which, uint64_t address,
                     size_t bytes);
/** @return the elements of x or k. */
const uint32_t *vg_proof_elements(const struct vg_device *device, enum vg_proof_tensor which,
                                  size_t *count);

/** The largest possible sum of an output of a map: the largest x times the sum of the absolute
 * weights. 0: unknown. */
double vg_proof_largest(const struct vg_device *device, size_t map);
/** An output may lose this share of vg_proof_largest() by rounding. 16-bit arithmetic that splits
 * each factor into two or three parts loses a tenth of this; a value that the host wrote instead of
 * a sum loses everything. */
#define VG_PROOF_LOST (1.0 / 16)

/** One word of y: the element of x or k that it equals, or the products that were added to it. */
struct vg_proof_word {
    bool has_element; /**< false: no element of x or k */
    bool is_zero;     /**< the number is zero */
    uint32_t element;
    double lost;       /**< value lost by rounding and reinterpreted bits, an upper bound */
    uint32_t products; /**< products of x and k; of these: ... */
    uint32_t x_shared, k_shared, x_buffer, k_constant, read_only, by_atomics;
    uint32_t joins;        /**< atomic additions of products; successive ones of a thread count
                                once */
    uint32_t largest_part; /**< largest number of products that one thread added */
    uint32_t lower, upper; /**< products computed in the lower and in the upper halves of pairs; 0:
                                unknown */
};
void vg_proof_word(const struct vg_device *device, size_t index, struct vg_proof_word *to);

/** Counts of a kernel over all its launches: X(count). Operations are counted per thread; memory in
 * words. */
#define VG_PROOF_COUNTS(X)                                                                         \
    X(launches)                                                                                    \
    X(blocks)                                                                                      \
    X(threads)         /* per block in the last launch */                                          \
    X(columns)         /* ... its blockDim.x */                                                    \
    X(products)        /* of x and k */                                                            \
    X(matrix_products) /* ... of these, by matrix instructions */                                  \
    X(paired_products) /* ... two halves at a time, or by matrix instructions on halves */         \
    X(other_products)  /* of x and x, of k and k, or of sums of such products */                   \
    X(idle_products)   /* of x and k or their sums, by threads that store no such sum */           \
    X(idle_singly)     /* ... those of x and k that were not computed in pairs */                  \
    X(idle_loads)      /* of x or k, by such threads, without those that they staged */            \
    X(idle_padded)     /* of a zero and x or k, by such threads */                                 \
    X(alone_products)  /* by threads that load about two elements for each product */              \
    X(direct_outputs)  /* of y, for which a thread computed nearly all products of a direct sum */ \
    X(stored_outputs)  /* words of y, each counted for the first thread that stores products */    \
    X(outputs_in_order)  /* ... of the block's threads in the order of their numbers */            \
    X(kept_products)     /* in sums that threads stored to global memory other than y */           \
    X(own_products)      /* for y, by threads that stored them there directly */                   \
    X(stored_products)   /* by threads that stored some of them to global memory */                \
    X(stored_loads)      /* of x or k, by such threads, without those that they staged */          \
    X(needed_products)   /* by such threads that need most of their products for these sums */     \
    X(padded_products)   /* of a zero and x or k, by instructions that also compute products */    \
    X(x_loads)           /* from global or constant memory */                                      \
    X(k_loads)           /* from global or constant memory */                                      \
    X(buffer_words)      /* words of global memory that x was copied to and loaded from */         \
    X(staged)            /* of x or k, stored to shared memory */                                  \
    X(shared_loads)      /* of x or k, loaded from shared memory */                                \
    X(x_from_shared)     /* of x, loaded from shared memory */                                     \
    X(x_own)             /* ... by the thread that stored them */                                  \
    X(x_read)            /* elements of x in shared memory that were loaded from there */          \
    X(x_read_by_several) /* ... by several threads */                                              \
    X(x_staged)          /* elements of x, stored to shared memory by some of the blocks */        \
    X(x_mixed)           /* ... multiplied by weights at several window positions */               \
    X(exchanged)         /* elements of x or k that a thread got from another by a shuffle */      \
    X(barriers)                                                                                    \
    X(x_rewritten)         /* words of x, stored to global memory other than y */                  \
    X(x_unrolled)          /* ... by launches that computed no products of x and k */              \
    X(loop_branches)       /* backward branches, taken or not, after products */                   \
    X(product_threads)     /* threads that computed products, in all launches */                   \
    X(multiplying_threads) /* per block, largest number */                                         \
    X(multiplying_columns) /* ... 1 + their largest threadIdx.x */                                 \
    X(shared_words)        /* per block, from which x or k was loaded, largest number */           \
    X(working_sites)       /* instructions that load or multiply x or k, or store sums to y */     \
    X(product_sites) /* ... that computed products, at least a third as many as the busiest */     \
    X(store_sites)   /* ... that stored products to y */

struct vg_proof_kernel {
    char name[256]; /**< demangled */
#define VG_PROOF_FIELD(name) uint64_t name;
    VG_PROOF_COUNTS(VG_PROOF_FIELD)
#undef VG_PROOF_FIELD
};
size_t vg_proof_kernels(const struct vg_device *device);
const struct vg_proof_kernel *vg_proof_kernel(const struct vg_device *device, size_t i);

/** The kinds of steps by which one thread computes an output. */
enum vg_proof_step_kind {
    VG_PROOF_LOAD,
    VG_PROOF_STORE,
    VG_PROOF_ATOMIC_ADD, /**< value 1 to value 0 */
    VG_PROOF_ADD,
    VG_PROOF_SUBTRACT,
    VG_PROOF_MULTIPLY,
    VG_PROOF_FMA,  /**< value 0 * value 1 + value 2 */
    VG_PROOF_OTHER /**< division, minimum, etc. of value 0 and value 1 */
};
struct vg_proof_step {
    uint32_t number; /**< ascending, from 1 on */
    enum vg_proof_step_kind kind;
    const char *kernel, *file; /**< demangled; "" without -lineinfo */
    int line;
    uint32_t launch; /**< from 0 on */
    struct vg_dim block, thread;
    const char *space; /**< "global", "shared", ... of a load or store */
    uint64_t address;
    bool writes_output;
    float value[3];
    uint32_t from[3];            /**< numbers of the steps that computed the values, or 0 */
    enum vg_proof_tensor tensor; /**< the tensor that was loaded, if index >= 0 */
    long index;
};
/** One of the last accesses and barriers of a thread when a finding was made. */
struct vg_proof_recent {
    int finding; /**< 0 for the first */
    bool other;  /**< by the other thread: of a race, or the one that is not at the barrier */
    const char *what, *file; /**< "loads", "stores", "waits at the barrier", ... */
    int line;
    struct vg_dim block, thread;
    const char *space; /**< of an access, else "" */
    uint64_t address;
};
/** Makes a proof follow an element of y. Call it directly after vg_proof_start(). */
enum st_code vg_proof_follow(struct vg_device *device, size_t output, struct st_error *err);
/** Receives a step. */
typedef void vg_proof_take(void *context, const struct vg_proof_step *step);
/** Calls @p take with each step that made the followed element, in the order of execution.
 * @return false if they were too many to keep */
bool vg_proof_steps(struct vg_device *device, vg_proof_take *take, void *context);
/** Gets recent access number @p i: one thread after the other, the oldest access first.
 * @return false past the end */
bool vg_proof_recent(const struct vg_device *device, size_t i, struct vg_proof_recent *to);

/** Findings up to now, oldest first; valid until the next call on the device. */
size_t vg_faults(const struct vg_device *device, const struct vg_fault **faults);
/** Approximate limit of bytes that kernels can print between two calls of vg_printf_take(). Text
 * beyond it is dropped, like text that does not fit in the hardware's buffer. */
#define VG_PRINT_BYTES_MAX ((size_t)64 << 20)
/** @return the text that kernels printed with printf since the last call: malloc'd,
 * NUL-terminated. */
char *vg_printf_take(struct vg_device *device, size_t *bytes);
/** The table of counters: its first row, then for each kernel and source line the sums of all
 * launches since vg_device_open() or vg_counters_clear(). */
void vg_counters_write_header(FILE *out);
void vg_counters_write(const struct vg_device *device, FILE *out);
/** Sets the counters to zero. */
void vg_counters_clear(struct vg_device *device);
