/** @file
 * The protocol between a client (the CUDA runtime shim) and the device process.
 *
 * A program inherits one descriptor, the door: a SOCK_SEQPACKET socket whose number is in the
 * environment variable VP_DOOR_VARIABLE. To connect, a process creates a socket pair, sends one end
 * through the door (one byte and the descriptor) and keeps the other. So no name can be left
 * behind, and a sandbox only needs the descriptor. Outside a sandbox, a process that did not
 * inherit the door can request it from the socket in VP_NAME_VARIABLE (door.h).
 *
 * On its own socket a client sends a request, then reads its reply; each is one packet: the fixed
 * part below and up to VP_PAYLOAD_MAX bytes. Bulk data goes through the window, a sealed memfd of
 * VP_WINDOW_BYTES that comes with the reply to HELLO. The device checks everything: a malformed
 * packet ends the connection; an impossible argument gets an error.
 *
 * Requests are carried out in order. LAUNCH is answered before the kernel runs; the next request
 * waits for the kernel. So launches are asynchronous for the client, and all work is ordered as if
 * in one stream; only the virtual clock (timeline.h) distinguishes streams. While a kernel waits
 * for the host, requests that need not wait for the kernel are answered (session_step.c).
 */
#pragma once

#include "vgpu/api/vgpu.h"

#include <stdint.h>

#define VP_DOOR_VARIABLE "CONVLAB_VGPU_FD"
#define VP_NAME_VARIABLE "CONVLAB_VGPU_NAME"
#define VP_VERSION       1
#define VP_WINDOW_BYTES  ((size_t)4 << 20)
#define VP_PAYLOAD_MAX   ((size_t)40 << 10)
#define VP_NAME_MAX      16
#define VP_ARGUMENTS     7
#define VP_RESULTS       5
/** Device addresses, for the client: managed and pinned memory is also mapped there. */
#define VP_ADDRESS_END (VG_GLOBAL_BASE + (UINT64_C(1) << 43))

/** Requests: name, treatment by the device (enum vp_treatment), arguments, results. Addresses and
 * sizes are bytes. */
#define VP_MAP(X)                                                                                  \
    X(HELLO, VP_SURVIVES, "version", "payload: struct vg_profile; descriptor: the window")         \
    X(RESET, VP_SURVIVES, "", "")                                                                  \
    X(CALL, VP_AT_ONCE, "(only advances the clock)", "")                                           \
    X(MODULE_DATA, 0, "offset, bytes in the window, total", "")                                    \
    X(MODULE_LOAD, 0, "1: more images of the module follow", "module")                             \
    X(MODULE_UNLOAD, VP_SURVIVES, "module", "")                                                    \
    X(KERNEL, VP_AT_ONCE, "module; payload: name",                                                 \
      "kernel, parameter bytes; payload: u32 offset, size each")                                   \
    X(KERNEL_NAME, 0, "module, index of a kernel", "number of kernels; payload: the name")         \
    X(VARIABLE, 0, "module; payload: name", "address, bytes")                                      \
    X(KERNEL_INFO, VP_AT_ONCE, "kernel", "payload: struct vp_kernel_info")                         \
    X(KERNEL_SET, 0, "kernel, enum vp_kernel_setting, value", "")                                  \
    X(OCCUPANCY, VP_AT_ONCE, "kernel, threads, dynamic shared, blocks",                            \
      "blocks per multiprocessor, shared")                                                         \
    X(CLUSTERS, 0, "kernel, threads, dynamic shared, cluster x|y<<16|z<<32, grid in this format",  \
      "active clusters, blocks of the largest cluster")                                            \
    X(LAUNCH, VP_IS_CALL | VP_MOVES,                                                               \
      "kernel, grid x|y<<32, grid z|block z<<32, block x|y<<32, shared, cooperative, "             \
      "cluster x|y<<16|z<<32 or 0",                                                                \
      "")                                                                                          \
    X(ALLOC, 0, "bytes", "address")                                                                \
    X(ALLOC_SHARED, 0, "bytes, managed", "address, mapped bytes; descriptor: the memory")          \
    X(FREE, VP_SYNCS, "address, enum vp_memory, 1: in stream order, without waiting",              \
      "mapped bytes to unmap")                                                                     \
    X(MEMORY_INFO, 0, "", "free, total")                                                           \
    X(POINTER, VP_SURVIVES, "address", "enum vp_memory, base, bytes")                              \
    X(COPY_IN, VP_SYNCS | VP_MOVES | VP_STREAM,                                                    \
      "to, width, height, pitch, window offset, whether the piece is the last, flags", "")         \
    X(COPY_OUT, VP_SYNCS | VP_STREAM,                                                              \
      "from, width, height, pitch, window offset, whether the piece is the last, flags", "")       \
    X(COPY_DEVICE, VP_MOVES | VP_STREAM, "to, from, width, height, to pitch, from pitch, flags",   \
      "")                                                                                          \
    X(COPY_SHARED, VP_SYNCS | VP_MOVES | VP_STREAM,                                                \
      "as COPY_DEVICE; one side is page-locked host memory", "")                                   \
    X(FILL, VP_IS_CALL | VP_MOVES | VP_STREAM, "to, value, width, height, pitch, flags", "")       \
    X(STREAM_CREATE, VP_AT_ONCE, "flags, priority", "stream")                                      \
    X(STREAM_DESTROY, 0, "", "")                                                                   \
    X(STREAM_SYNC, VP_SYNCS | VP_STREAM, "", "")                                                   \
    X(STREAM_QUERY, VP_STREAM | VP_AT_ONCE, "", "")                                                \
    X(STREAM_WAIT, VP_STREAM | VP_EVENT, "event", "")                                              \
    X(STREAM_INFO, VP_STREAM, "", "flags, priority")                                               \
    X(EVENT_CREATE, VP_AT_ONCE, "flags", "event")                                                  \
    X(EVENT_DESTROY, 0, "event", "")                                                               \
    X(EVENT_RECORD, VP_STREAM | VP_EVENT, "event", "")                                             \
    X(EVENT_SYNC, VP_SYNCS | VP_EVENT, "event", "")                                                \
    X(EVENT_QUERY, VP_EVENT | VP_AT_ONCE, "event", "")                                             \
    X(EVENT_ELAPSED, VP_EVENT, "from, to", "milliseconds, the bits of a double")                   \
    X(DEVICE_SYNC, VP_SYNCS, "", "")                                                               \
    X(LIMIT, 0, "enum cudaLimit, value", "")                                                       \
    X(GRAPH_MEMORY, 0, "enum vp_graph_memory, its argument", "its results")                        \
    X(IPC, 0, "enum vp_ipc, address or event, or the two words of a handle",                       \
      "two words, or an address or event")                                                         \
    X(RANGE, VP_SYNCS, "enum vp_range, its arguments", "its results")                              \
    X(CONDITION, 0, "handle, 0: a new one; whether to set it, value", "handle, value")             \
    X(FENCE, VP_SURVIVES, "(waits for earlier work; no modelled time)", "")                        \
    X(THREAD_END, VP_SURVIVES | VP_AT_ONCE,                                                        \
      "(the thread makes no more requests; no modelled time)", "")                                 \
    X(PRINTF_TAKE, VP_SURVIVES, "", "bytes in the window, bytes left")

enum vp_treatment {
    VP_SYNCS = 1,    /**< waits for earlier work; so kernels' output is then complete */
    VP_SURVIVES = 2, /**< is also carried out after a kernel has faulted */
    VP_IS_CALL = 4,  /**< takes the time of a call even if the client names no API function */
    VP_MOVES = 8,    /**< reads or writes memory that may be shared with the client */
    VP_STREAM = 16,  /**< is refused for a stream that does not exist */
    VP_EVENT = 32,   /**< is refused for an event (the first argument) that does not exist */
    VP_AT_ONCE = 64, /**< is answered while a kernel runs, and before kept requests */
};

enum vp_op {
#define VP_ENUM(name, treatment, arguments, results) VP_##name,
    VP_MAP(VP_ENUM)
#undef VP_ENUM
        VP_OPS
};

/** @return the treatment of requests of a kind; 0 if there is no such kind. */
static inline unsigned vp_treatment(enum vp_op op)
{
    static const unsigned char of[VP_OPS] = {
#define VP_TREATMENT(name, treatment, arguments, results) treatment,
        VP_MAP(VP_TREATMENT)
#undef VP_TREATMENT
    };
    return op < VP_OPS ? of[op] : 0;
}

/** The fixed part of a request. */
struct vp_request {
    uint16_t op;
    uint16_t alone; /**< 1: the client's process has no other thread */
    uint32_t payload_bytes;
    uint32_t thread; /**< of the client: 0: the main thread */
    uint32_t reserved;
    uint64_t stream; /**< 0 and 1: legacy default, 2: per-thread default; others from
                          STREAM_CREATE */
    uint64_t a[VP_ARGUMENTS];
    char api[40]; /**< the runtime function, for the trace; "" costs no modelled time */
};

/** The fixed part of a reply. */
struct vp_reply {
    int32_t error; /**< enum vp_error */
    uint32_t payload_bytes, flags, reserved;
    uint64_t r[VP_RESULTS];
};

#define VP_PRINTF_PENDING 1u /**< reply flag: kernels have printed; send PRINTF_TAKE */

/** Flags of copies and fills. */
#define VP_ASYNC   1u /**< the host does not wait */
#define VP_PINNED  2u /**< host memory is page-locked */
#define VP_MANAGED 4u /**< a managed variable, which the program shares with the device */
#define VP_TO_HOST 8u /**< for COPY_SHARED: host memory is written, not read */

enum vp_memory { VP_MEMORY_NONE, VP_MEMORY_DEVICE, VP_MEMORY_PINNED, VP_MEMORY_MANAGED };
/** Requests about memory of graphs; amounts are as in enum cudaGraphMemAttributeType. */
enum vp_graph_memory {
    VP_GRAPH_RESERVE, /**< bytes: reserves the address of a node's allocation */
    VP_GRAPH_STATE,   /**< address: whether a node has it, and whether it is allocated */
    VP_GRAPH_ALLOC,   /**< address: allocates, because the node runs */
    VP_GRAPH_RELEASE, /**< address: releases it, because its node is gone */
    VP_GRAPH_COUNTS,  /**< returns the bytes of each enum vp_graph_amount */
    VP_GRAPH_RESET,   /**< 1 or 3: the maximum becomes the current value */
    VP_GRAPH_TRIM,    /**< releases unused reserved memory */
};
/** The results of VP_GRAPH_COUNTS. */
enum vp_graph_amount {
    VP_GRAPH_USED,
    VP_GRAPH_USED_MOST,
    VP_GRAPH_RESERVED,
    VP_GRAPH_RESERVED_MOST,
    VP_GRAPH_AMOUNTS
};
/** Memory and events of a client that other clients use. */
enum vp_ipc {
    VP_IPC_GET,        /**< address: returns a handle */
    VP_IPC_OPEN,       /**< handle: returns an address */
    VP_IPC_CLOSE,      /**< address */
    VP_IPC_GET_EVENT,  /**< event: returns a handle */
    VP_IPC_OPEN_EVENT, /**< handle: returns an event */
};
/** Properties of memory without an address; compression has no effect. */
enum vp_memory_property { VP_MAY_EXPORT = 1, VP_COMPRESSIBLE = 2 };
/** Reserved addresses, and memory that is mapped there. */
enum vp_range {
    VP_RANGE_RESERVE, /**< bytes, alignment: returns an address */
    VP_RANGE_FREE,    /**< address, bytes */
    VP_RANGE_CREATE,  /**< bytes, enum vp_memory_property: returns a handle */
    VP_RANGE_RELEASE, /**< handle */
    VP_RANGE_MAP,     /**< address, bytes, offset, handle */
    VP_RANGE_UNMAP,   /**< address, bytes */
    VP_RANGE_RIGHTS,  /**< address, bytes, enum vg_rights */
    VP_RANGE_LOOK,    /**< address, whether to retain the handle: returns the handle of the memory
                              there, its rights, its address and bytes */
    VP_RANGE_PROPERTIES, /**< handle: returns bytes and enum vp_memory_property */
    VP_RANGE_EXPORT,     /**< handle: returns two words */
    VP_RANGE_IMPORT,     /**< two words: returns a handle */
};
enum vp_kernel_setting {
    VP_SET_DYNAMIC_SHARED,
    VP_SET_CARVEOUT,
    VP_SET_CLUSTER_WIDTH,
    VP_SET_CLUSTER_HEIGHT,
    VP_SET_CLUSTER_DEPTH,
    VP_SET_CLUSTER_MUST_BE_SET,
    VP_SET_NON_PORTABLE_CLUSTER,
    VP_KERNEL_SETTINGS
};

struct vp_kernel_info {
    struct vg_kernel_attributes attributes;
    uint64_t max_dynamic_shared_bytes;
    int32_t carveout;
    uint32_t required_cluster[3]; /**< from __cluster_dims__ or set by the program; 0: none */
    int32_t must_set_cluster, non_portable_cluster;
};

/** The owner's request on the control channel, a socket that no client has: one byte, answered by a
 * struct vp_control_reply and a descriptor. The orders (VP_CONTROL_STREAMS + enum vg_stream_order,
 * VP_CONTROL_BLOCKS + enum vg_block_order) are not answered. */
#define VP_CONTROL_TAKE    'T'
#define VP_CONTROL_STREAMS '0'
#define VP_CONTROL_BLOCKS  'a'

/** The answer: the descriptor's file has the records since the last request, the tables of record.h
 * one after another. */
struct vp_control_reply {
    uint64_t bytes[5]; /**< length of the trace, the findings, the counters, the work, the proof */
    uint64_t lost;     /**< rows of the trace that were dropped for lack of room */
};

/** The cudaError_t values that the device process returns. */
enum vp_error {
    VP_OK = 0,
    VP_INVALID_VALUE = 1,
    VP_OUT_OF_MEMORY = 2,
    VP_INVALID_SYMBOL = 13,
    VP_UNAVAILABLE = 46,
    VP_INVALID_DEVICE_FUNCTION = 98,
    VP_NO_DEVICE = 100,
    VP_INVALID_IMAGE = 200,
    VP_INVALID_CONTEXT = 201,
    VP_NO_IMAGE = 209,
    VP_INVALID_PTX = 218,
    VP_NEWER_PTX = 222,
    VP_INVALID_HANDLE = 400,
    VP_NOT_READY = 600,
    VP_ILLEGAL_ADDRESS = 700,
    VP_OUT_OF_RESOURCES = 701,
    VP_TIMEOUT = 702,
    VP_ASSERT = 710,
    VP_MISALIGNED = 716,
    VP_LAUNCH_FAILURE = 719,
    VP_COOPERATIVE_TOO_LARGE = 720,
    VP_NOT_SUPPORTED = 801,
    VP_INVALID_CLUSTER_SIZE = 912,
    VP_UNKNOWN = 999,
};
