/** @file
 * A client of the device process: its virtual GPU (memory, modules, findings), its streams and
 * events, its clock. Clients share nothing: each has its own context, like processes on a real GPU.
 *
 *     client_session.c   a client's beginning and end, printf
 *     session_step.c     requests in order, and requests while a kernel waits for the host
 *     session_request.c  one request
 *     session_reply.c    replies, errors, rows of the trace
 *     session_threads.c  the virtual time of each thread of the host
 *     session_host.c     the host's work between its calls
 *     session_allocations.c  the list of allocations
 *     session_memory.c   allocations, copies, fills
 *     session_copies.c   copies of rows
 *     session_order.c    the order in which the work of several streams runs
 *     session_races.c    work of several streams that nothing orders
 *     session_shared.c   the table of a client's work, memory that it shares with the device
 *     session_module.c   modules, kernels, variables
 *     session_launch.c   checks of a launch, occupancy
 *     session_cluster.c  the size of clusters
 *     session_grid.c     running a grid
 *     session_children.c work launched by kernels
 *     session_graph.c    memory and conditions of graphs
 *     session_proof.c    the proof by execution (session_proof.h)
 *     session_ipc.c      memory and events that several clients use
 *     session_ranges.c   reserved ranges of addresses, and memory that is mapped there
 *     session_stream.c   streams, events, synchronisation
 */
#pragma once

#include "base/sha256.h"
#include "vgpu/device/handles.h"
#include "vgpu/device/device_process.h"
#include "vgpu/device/device_protocol.h"
#include "vgpu/device/record.h"
#include "vgpu/device/session_proof.h"
#include "vgpu/device/timeline.h"
#include "vgpu/fatbin/fatbin.h"

#include <pthread.h>
#include <stdbool.h>

/** State that all clients share. */
struct session_shared {
    struct vg_profile profile;
    struct record *record;
    int cores;
    uint64_t seed;     /**< determines the order of blocks and warps; 0: fixed order */
    bool owned;        /**< an owner takes the records, and can ask why a program did not end */
    bool charges_host; /**< the client's processor time moves the clock (session_host.c) */
    enum vg_engine engine;
    bool is_brief; /**< see vg_device_brief_set() */
    bool leak_check;
    bool host_tensors; /**< a record's first three page-locked allocations are x, k, y */
    const struct vg_translator *(*find_translator)(void);
    enum vg_stream_order order;
    const struct session_proved *proved; /**< NULL: no proof */
    struct progress_shared *progress;    /**< counts blocks, or NULL */
    struct ipc_export *exports;          /**< see session_ipc.c */
    size_t export_count;
    struct memory **memories; /**< of all clients, see session_ranges.c */
    size_t memory_count;
    /** The client whose kernel runs now, for the watcher of server.c. */
    pthread_mutex_t running_lock;
    struct session *running;
    uint64_t launches;
    size_t mapped_bytes; /**< total memory that clients share with the device */
};

enum {
    SESSION_RACED_MOST = 64,  /**< bits of a set of noted work */
    SESSION_KEPT_MOST = 1024, /**< as on hardware, further launches wait */
    SESSION_THREADS_MOST = 256
};

struct module {
    struct vg_module *module;
    char ptx_hash[SHA256_HEX]; /**< hash of the PTX of all its units */
    char *ptx;                 /**< for ptxas; NULL: ptxas is not run */
    size_t ptx_bytes;
};

struct kernel {
    struct vg_kernel *kernel;
    struct module *module; /**< freed when its module is unloaded */
    char name[1024];       /**< demangled */
    int carveout;
    struct vg_dim required_cluster; /**< set by the program; x 0: none */
    bool must_set_cluster, non_portable_cluster;
    bool asked;             /**< ptxas ran for its registers */
    unsigned char passed[]; /**< the parameters of its last launch by the host */
};

struct stream {
    struct tl_stream time;
    uint64_t flags, priority;
};

struct event {
    uint64_t flags;
    bool recorded;
    double ns;
    uint64_t after; /**< noted work before it: a set, see session_races.c */
};

/** One allocation, in an array sorted by address. */
struct allocation {
    uint64_t address;
    size_t bytes;
    size_t mapped_bytes; /**< shared with the client: the length of its mapping */
    unsigned char *seen; /**< contents at the last check; NULL: zeros */
    enum vp_memory kind;
    bool is_tensor;    /**< the harness's x, k or y, in host memory */
    bool of_graph;     /**< a node of a graph allocated it */
    uint64_t imported; /**< first word of another client's handle; 0: own memory */
    int opened;        /**< how often the client has opened it */
};

struct session;
struct exchange;
/** Carries out a request. @return an error, or VP_OK */
typedef int session_handler(struct session *s, struct exchange *x);

/** A client's work between its calls, in processor time. */
struct host_meter {
    bool is_on;
    double seen_ns; /**< the process's time at its last request */
    double free_ns, spent_ns, charged_ns;
};

struct session {
    struct session_shared *shared;
    int fd, window_fd, number;
    unsigned char *window;
    struct vg_device *device;
    struct timeline time;
    struct host_thread {
        uint32_t number;
        bool is_ended;
        double ns;
    } threads[SESSION_THREADS_MOST]; /**< the first is the main thread */
    int thread_count;                /**< without the main thread */
    int thread;                      /**< index of the thread whose time the timeline has */
    struct host_meter host;
    double moved_bytes[2]; /**< moved out of and into the device by pieces of copies, not yet
                                timed */
    struct {               /**< the call whose copy is in progress; "": none */
        char api[sizeof((struct vp_request *)0)->api];
        double start_ns;
    } copying;
    struct session_order {
        struct kept *kept[SESSION_KEPT_MOST];
        session_handler *handle;
        int count;
        uint64_t last_stream; /**< of the request that was carried out last */
    } order;                  /**< requests that wait, in the order of the calls: session_order.c */
    struct session_races {
        struct raced {
            uint64_t bit;            /**< in sets of noted work; 0: none */
            uint64_t launch;         /**< of a kernel; 0: a copy or fill */
            uint64_t address, bytes; /**< of a copy or fill */
            bool writes, is_hidden;
            struct vg_written *written; /**< of a kernel, if known */
            char name[256];             /**< the kernel, or the call */
        } list[SESSION_RACED_MOST];
        int next;                    /**< the one that is forgotten next */
        bool hidden;                 /**< some are hidden */
        bool threads;                /**< the host has several */
        uint64_t kept;               /**< sum of the bytes kept before launches */
        uint64_t piece, piece_bytes; /**< device memory of the copy in progress, in pieces */
    } races;                         /**< the last work in streams: session_races.c */
    struct session_proof proof;
    int host_tensors;   /**< page-locked tensors in this record so far */
    bool many_reported; /**< a note about too many launches from a kernel was printed */
    int sticky;         /**< the error that every call returns after a kernel has faulted */
    size_t faults_printed;
    struct record_reported reported;
    /* While a kernel runs, see session_step.c; guarded by running_lock. */
    uint64_t running_on; /**< the kernel's stream */
    double
        pending_since_s; /**< start of the client's wait; -1: it has no other thread; 0: no wait */
    uint32_t pending_look; /**< the kernel's `look` when the wait was noticed */
    char pending_api[sizeof((struct vp_request *)0)->api]; /**< the call that waits */
    struct deferred *deferred;
    int deferred_count;
    bool interrupted; /**< the client ended while its kernel ran; guarded by running_lock */
    char *printed;    /**< text that kernels printed and the client has not read */
    size_t printed_bytes, printed_taken;
    struct handles modules, kernels, streams, events;
    struct stream legacy, per_thread;
    struct allocation *allocations;
    size_t allocation_count;
    struct range *ranges; /**< see session_ranges.c */
    size_t range_count;
    struct handles memories;
    char *image; /**< the fat binary being received */
    size_t image_bytes;
    struct fatbin_module *units; /**< received units, to be linked with later ones */
    size_t unit_count;
    uint64_t graph_memory[VP_GRAPH_AMOUNTS];
};

/** A request with its payload, and the reply under construction. */
struct exchange {
    struct vp_request request;
    unsigned char payload[VP_PAYLOAD_MAX + 1]; /**< NUL-terminated after the payload's end */
    struct stream *stream;                     /**< that the request names, or NULL */
    struct event *event; /**< that the request's first argument names, or NULL */
    struct vp_reply reply;
    unsigned char reply_payload[VP_PAYLOAD_MAX];
    int reply_fd; /**< -1: none; closed after sending */
    bool replied; /**< the operation has already sent its reply */
};

struct session *session_open(struct session_shared *shared, int fd, int number);
/** Closes the connection and frees the client's device, after recording its findings. */
void session_close(struct session *s);
/** Records the findings and counts of the client's device since the last call. */
void session_record(struct session *s);
/** Checks the memory that is shared with the client, if the owner records the work.
 * @param by_client  the client made the changes since the last check: they are recorded as a copy
 * from the host */
void session_shared_look(struct session *s, bool by_client);
/** @return whether the harness's x, k or y in host memory begins at an address. */
bool session_is_host_tensor(struct session *s, uint64_t address);
/** Times pieces of copies whose last piece has not arrived: moved bytes take time. */
void session_copies_settle(struct session *s);
/** Records a copy or fill in the table of work; address 0 means host memory. */
void session_copy_record(struct session *s, const char *kind, uint64_t to, uint64_t from,
                         double bytes);
/** @return whether the size of a copy's or fill's rectangle does not overflow. */
bool session_rectangle(uint64_t width, uint64_t height, uint64_t pitch);
/** Joins rows without gaps to one row. */
void session_rows_join(uint64_t *width, uint64_t *height, uint64_t pitch);
/** Copies a rectangle between device addresses. @param a  arguments of COPY_DEVICE
 * @param api  the function that errors name @return an error, or VP_OK */
int session_copy_rows(struct session *s, const uint64_t *a, const char *api);
/** @return whether a request is answered now and carried out later, or is refused: then its reply
 * has the error. */
bool session_order_keep(struct session *s, struct exchange *x, session_handler *handle);
/** @return whether a request can be carried out before the kept ones. */
bool session_order_need_not_wait(enum vp_op op);
/** @return whether a query of a stream or event asks for a kept request. */
bool session_order_is_behind(const struct session *s, const struct vp_request *query);
/** Carries out the kept requests. */
void session_order_settle(struct session *s);
/** Frees the kept requests. */
void session_order_drop(struct session *s);
/** Called before a request is carried out: a host with several threads may order the work itself. */
void session_races_request(struct session *s, const struct exchange *x);
/** Reports noted work that races with a copy or fill, which reads or writes an address range. */
void session_races_move(struct session *s, const struct exchange *x, uint64_t address,
                        uint64_t bytes, bool writes);
/** Reports noted work that races with a release in stream order. */
void session_races_free(struct session *s, const struct exchange *x, uint64_t address,
                        uint64_t bytes);
/** Notes an asynchronous copy or fill. */
void session_races_moved(struct session *s, const struct exchange *x, uint64_t address,
                         uint64_t bytes, bool writes);
/** Called before a kernel: the kernel cannot see what noted copies write for which its stream does
 * not wait. */
void session_races_hide(struct session *s, struct tl_stream *stream);
bool session_races_is_hidden(const struct session *s, uint64_t address);
/** Forgets all noted work. */
void session_races_drop(struct session *s);
/** Called after a kernel: reports races, and notes it. */
void session_races_launched(struct session *s, struct tl_stream *stream, const char *kernel);
/** @return whether a copy of the session @p context in another stream than the running kernel's
 * writes an address: a kept copy later, or a noted one perhaps at the same time. */
enum vg_lateness session_copy_is_late(void *context, uint64_t address);
/** A grid to run, launched by the host or by a kernel. */
struct grid_run {
    struct vg_kernel *kernel;
    const char *name, *ptx_hash;
    struct vg_dim grid, block;
    size_t dynamic_shared_bytes;
    const void *parameters;
    double sent_bytes;      /**< parameters that differ from those of the kernel's last launch */
    uint64_t stream;        /**< stream of the host's launch */
    struct tl_stream *time; /**< stream on the virtual clock in which the grid runs */
};
/** Runs a grid, and records it. @return false if the client is gone or the grid faulted */
bool session_grid_run(struct session *s, const struct grid_run *run, struct tl_span *span);
/** Runs all the work that a finished grid has launched, directly and indirectly. @param span  the
 * grid's time @return the time at which all this work has ended */
double session_children_run(struct session *s, const struct grid_run *root, struct tl_span span);
/** @return the error with which a requested launch is refused, or VP_OK. */
int session_launch_check(struct session *s, const struct exchange *x);
/** The timeline's host continues as the thread that makes a request. @return the index of the
 * thread before, for session_thread_set() */
int session_thread_enter(struct session *s, const struct exchange *x);
void session_thread_set(struct session *s, int thread);
/** Called before a request: advances the virtual clock by the client's work since the last
 * request. */
void session_host_meter(struct session *s, const struct exchange *x);
/** Called when the records are taken: reports the charged time, and starts again from 0. */
void session_host_settle(struct session *s);
/** Reads a packet; sets x->replied if none has arrived. @return false if the client is gone or
 * its packet is malformed. */
bool session_read(struct session *s, struct exchange *x);
/** Looks up the objects of a request. @return an error if an object is missing, or VP_OK. */
int session_look_up(struct session *s, struct exchange *x);
/** Carries out or keeps a request, and replies. @return false if the client is gone. */
bool session_carry_out(struct session *s, struct exchange *x);
/** Collects the text that kernels have printed since the last call. */
void session_printf_collect(struct session *s);
/** Handles one request, and the requests that waited for it. @return false if the client is gone or
 * broke the protocol. */
bool session_step(struct session *s);
/** Carries out the kept requests of a client that makes none: its host may wait for them without a
 * call. @return false if the client is gone. */
bool session_idle(struct session *s);
/** Sends the reply of an exchange. */
bool session_reply(struct session *s, struct exchange *x);

/** @return the CUDA error for a status. Prints the report if it is useful. */
int session_error(struct session *s, enum st_code code, const struct st_error *err,
                  const char *doing);
/** Adds a runtime call that ends now to the trace. */
void session_trace_call(struct session *s, const char *api, double start_ns, uint64_t stream,
                        int error);
/** Adds a copy or fill to the trace. @param host_memory  "pageable", "pinned" or "variable"; NULL:
 * no host memory is involved. */
void session_trace_work(struct session *s, const char *kind, const char *name, uint64_t stream,
                        struct tl_span span, double bytes, const char *host_memory);

/** Adds an allocation to the list. @return false: out of memory */
bool session_allocation_add(struct session *s, struct allocation a);
/** @return the last allocation that starts at or below an address, or NULL. */
struct allocation *session_allocation_below(struct session *s, uint64_t address);
/** Finds the allocation that starts at an address, or NULL; the second function removes one from
 * the list. */
struct allocation *session_allocation_at(struct session *s, uint64_t address);
void session_allocation_remove(struct session *s, struct allocation *a);
/** The operation POINTER for mapped memory. */
int session_ranges_pointer(struct session *s, struct exchange *x);
/** @return the bytes of memory that handles and mappings of the client refer to. */
size_t session_ranges_bytes(const struct session *s);
/** Prints up to @p most ranges and handles that the client has not freed. @return their number */
size_t session_ranges_leaks(struct session *s, size_t most);
/** Frees the client's ranges and handles. @pre its device is closed */
void session_ranges_end(struct session *s);
/** Revokes the export of a client's memory at an address; 0: all its exports. */
void session_exports_end(struct session *s, uint64_t address);

void session_module_free(void *module);
/** If a kernel's registers are only estimated, gets them from ptxas, once. @param attributes
 * updated. */
void session_registers_settle(struct session *s, struct kernel *kernel,
                              struct vg_kernel_attributes *attributes);
/** Reports allocations that the client has not freed. */
void session_leaks_report(struct session *s);
/** Frees the units of a module that was not loaded. */
void session_units_free(struct session *s);

/* The operations, which are in the files listed above; the result is an enum vp_error. */
#define SESSION_OP(name) int op_##name(struct session *s, struct exchange *x)

#define DECLARE(name, treatment, arguments, results) SESSION_OP(name);
VP_MAP(DECLARE)
#undef DECLARE
