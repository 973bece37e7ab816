/** @file
 * Starting a device process, and the owner's calls.
 *
 * The owner is vgpu-run or the grader. It passes the door to the program that uses the virtual GPU,
 * and may keep a control channel: through this channel it can take the records of the device
 * process at any time. A program cannot forge or clear these records, because it can only use its
 * own connection.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Options of a device process. NULL selects the default. */
struct vg_process_options {
    const char *folder;  /**< the folder of vgpu-device and of the folder vgpu/: build/ */
    const char *profile; /**< the GPU to model, or the path of a .yaml file */
    const char *faults, *counters, *trace,
        *work;              /**< files for the process's records, written at its end */
    const char *recordings; /**< file for recordings of blocks, also written at the end: JSON for
                          device/picture_page.h */
    const char *seed, *cores;
    const char *stream_order;    /**< one of vg_order_words */
    const char *engine;          /**< one of vg_engine_words */
    const char *prove;           /**< "B,M,C,H,W,K", or two of them with ";" between: prove these
                                      convolutions by execution, one after the other; after
                                      "tiles;": recognise tiles of the unrolled matrix */
    bool host_tensors;           /**< a record's first three page-locked allocations are x, k, y */
    const char *multiprocessors; /**< number of multiprocessors, instead of the profile's */
    const char *memory;          /**< MiB of memory, if less than in the profile */
    int output;                  /**< descriptor for messages; -1: the owner's stderr */
    int code_store; /**< descriptor of memory for native code (vg_code_store_make()), or 0 */
    int progress;   /**< descriptor of a struct progress_shared that counts blocks, or 0 */
    const char *suppressions; /**< file of findings that are not reported */
    bool is_brief;            /**< few launches follow, see vg_device_brief_set() */
    bool leak_check;          /**< report memory that is never freed as a finding */
    bool tells_findings;      /**< exit with VG_PROCESS_FOUND if the process has findings */
    bool owned;               /**< with a control channel, and in a separate process group */
};

/** @return a descriptor of memory in which the device processes of one program share native code,
 * or 0. The caller closes it. */
int vg_code_store_make(void);
/** Closes the descriptor unless it is 0, and sets it to 0. */
void vg_code_store_close(int *store);

/** The values of --engine, in the order of enum vg_engine; ends with NULL. */
extern const char *const vg_engine_words[];
/** The text of --help for --engine. */
#define VG_ENGINE_HELP                                                                             \
    "the engine that executes kernels on the virtual GPU: auto (default) compiles kernels that run long to native code; interpreter and native use one engine only; results and times are the same"

struct vg_process {
    pid_t pid;            /**< a child; 0: none */
    int door;             /**< pass it on, then close it; close-on-exec. -1: none */
    int control;          /**< -1: none */
    double translated_s;  /**< for vg_process_work_s(): the time of ended translator threads */
    double translating_s; /**< and of translator threads that ran at its last call */
};

/** Exit statuses of a device process: it used more memory than vg_process_limit() allows; it has
 * findings, and tells_findings is set. */
enum { VG_PROCESS_TOO_MUCH = 3, VG_PROCESS_FOUND = 4 };

#define VG_PROCESS_NONE ((struct vg_process){.door = -1, .control = -1})

/** Starts a device process and waits until it is ready. It is killed when the calling thread ends.
 * @return ST_OK, or ST_CHILD if it ended early, after printing the reason. */
enum st_code vg_process_start(struct vg_process *process, const struct vg_process_options *options,
                              struct st_error *err);

/** Libraries that a program must preload. */
enum vg_preload {
    VG_PRELOAD_NONE,    /**< none: the program finds the runtime itself */
    VG_PRELOAD_RUNTIME, /**< our runtime, which replaces NVIDIA's inside the program */
    /** For a program without GPU code (a script, an interpreter): the runtime, for the programs
     * that it starts, and a library that hides NVIDIA's linker from Python packages, because the
     * virtual GPU cannot run the linker's machine code. */
    VG_PRELOAD_ALL
};

/** @return the environment for a program on the virtual GPU: the caller's, with the runtime
 * library's path and the door, for execve(). One free() releases it. NULL: out of memory.
 * @param door  the descriptor's number in the program */
char **vg_process_environment(const char *folder, int door, enum vg_preload preload);

/** The order in which the device process runs work of streams that do not wait for each other. Times
 * are only right in the order of the calls. */
enum vg_stream_order {
    VG_ORDER_CALLS,        /**< the order of the calls */
    VG_ORDER_FIRST_STREAM, /**< all work of the first stream, then of the second, ... */
    VG_ORDER_LAST_STREAM,  /**< all work of the last stream first */
    VG_ORDER_TURNS,        /**< one work of each stream in turn */
    VG_ORDERS
};
/** The values of --stream-order, in this order; ends with NULL. */
extern const char *const vg_order_words[];
/** Orders of blocks. */
enum vg_block_order {
    VG_BLOCKS_BY_NUMBER,  /**< on all cores: neighbours run at the same time */
    VG_BLOCKS_MIXED,      /**< in another order than that of their numbers, one after the other */
    VG_BLOCKS_ONE_BY_ONE, /**< by number, one after the other */
    VG_BLOCK_ORDERS
};
/** An order of the work. */
struct vg_order {
    enum vg_stream_order streams;
    enum vg_block_order blocks;
};
/** Sets the order from now on. */
void vg_process_order(const struct vg_process *process, struct vg_order order);

/** The records of all clients since the last call, as text: TSV tables with a header row (record.h
 * has their columns). malloc'd, NUL-terminated. */
struct vg_process_record {
    char *trace, *faults, *counters, *work, *proof;
    size_t trace_bytes, faults_bytes, counters_bytes, work_bytes, proof_bytes;
    uint64_t lost; /**< rows of the trace that were dropped because the table was full */
};

/** Requests the records, which arrive after the current request: wait until the control channel is
 * readable, then call vg_process_answer(). @return false if the process has ended. */
bool vg_process_ask(const struct vg_process *process);
/** Reads the records. @return ST_OK; ST_CHILD if the process has ended; ST_NO_MEMORY. */
enum st_code vg_process_answer(const struct vg_process *process, struct vg_process_record *record,
                               struct st_error *err);
/** Releases the texts; harmless on a zeroed record. */
void vg_process_record_free(struct vg_process_record *record);

/** Sets the memory limit of the process from now on. Above the limit, the process ends itself. */
void vg_process_limit(const struct vg_process *process, size_t bytes);

/** @return the processor time of a device process in seconds, without translation to native code; 0
 * if no process runs. */
double vg_process_work_s(struct vg_process *process);

/** Waits briefly for the end of a process that has closed its control channel.
 * @param status  set as by waitpid(). @return false: it has not ended. */
bool vg_process_ended(const struct vg_process *process, int *status);

/** Kills the process, waits for it and closes its descriptors; harmless if no process runs. */
void vg_process_kill(struct vg_process *process);
/** Closes the process's channels: it then ends by itself, after storing the native code that it is
 * translating. */
void vg_process_leave(struct vg_process *process);
