/** @file
 * Starting a device process, and the owner's calls.
 *
 * The owner is vgpu-run or the grader. It holds the door, which it passes on to the program that
 * uses the virtual GPU, and optionally the control channel, which it keeps: through this channel it
 * takes the records of the device process at any time. A program cannot forge or clear those
 * records: it only reaches its own connection.
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
        *work; /**< files for its records, written when it ends */
    const char
        *recordings; /**< recordings of blocks, also at the end: JSON for device/picture_page.h */
    const char *seed, *cores;
    const char *engine;          /**< one of vg_engine_words */
    const char *prove;           /**< "B,M,C,H,W,K": prove this convolution by execution */
    bool host_tensors;           /**< x, k and y are the first page-locked memory of each record */
    const char *multiprocessors; /**< their number, instead of the profile's */
    const char *memory;          /**< in MiB, if the profile has more */
    int output;                  /**< descriptor for its messages; -1: the owner's stderr */
    int code_store; /**< descriptor of memory for native code (vg_code_store_make()), or 0 */
    int progress;   /**< descriptor of a struct progress_shared that counts blocks, or 0 */
    const char *suppressions; /**< file of file of findings that are not reported */
    bool leak_check;          /**< memory that is never freed is a finding */
    bool tells_findings;      /**< it ends with VG_PROCESS_FOUND if it has findings */
    bool owned;               /**< with a control channel, in a separate process group */
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
    int door;             /**< to be passed on, then closed here; close-on-exec. -1: none */
    int control;          /**< -1: none */
    double translated_s;  /**< for vg_process_work_s(): the time of all translators so far */
    double translating_s; /**< and of those that ran at its last call */
};

/** Exit status of a device process: it took more memory than vg_process_limit() allows; it has
 * findings and was asked to report them. */
enum { VG_PROCESS_TOO_MUCH = 3, VG_PROCESS_FOUND = 4 };

#define VG_PROCESS_NONE ((struct vg_process){.door = -1, .control = -1})

/** Starts a device process and waits until it is ready. It dies with the calling thread.
 * @return ST_OK, or ST_CHILD if it ended instead, with the reason on its output. */
enum st_code vg_process_start(struct vg_process *process, const struct vg_process_options *options,
                              struct st_error *err);

/** Libraries that a program must load before its own. */
enum vg_preload {
    VG_PRELOAD_NONE,    /**< none: the program finds the runtime itself */
    VG_PRELOAD_RUNTIME, /**< the runtime, which replaces NVIDIA's inside the program */
    /** For a program without GPU code (a script, an interpreter): the runtime, for the programs
     * that it starts, and a library that hides NVIDIA's linker from Python packages, since the
     * virtual GPU cannot run its machine code. */
    VG_PRELOAD_ALL
};

/** @return the environment for a program on the virtual GPU: the caller's, with the places of the
 * runtime library and the door, for execve(); one free() releases it; NULL without memory.
 * @param door  the descriptor's number in the program */
char **vg_process_environment(const char *folder, int door, enum vg_preload preload);

/** The records of all clients since the last call, as text: TSV tables with a header row (record.h
 * has their columns). malloc'd, ends with a NUL. */
struct vg_process_record {
    char *trace, *faults, *counters, *work, *proof;
    size_t trace_bytes, faults_bytes, counters_bytes, work_bytes, proof_bytes;
    uint64_t lost; /**< rows of the trace that were dropped for lack of room */
};

/** Asks for the records. They arrive after the current request: wait until the control channel is
 * readable, then call vg_process_answer(). @return false if the process has ended. */
bool vg_process_ask(const struct vg_process *process);
/** Reads the answer. @return ST_OK; ST_CHILD if the process has ended, ST_NO_MEMORY. */
enum st_code vg_process_answer(const struct vg_process *process, struct vg_process_record *record,
                               struct st_error *err);
/** Releases the texts; harmless on a zeroed record. */
void vg_process_record_free(struct vg_process_record *record);

/** Sets the memory limit of the process from now on; above it, the process ends itself. */
void vg_process_limit(const struct vg_process *process, size_t bytes);

/** @return the time that the cores have worked for a process, in seconds, without the time in which
 * it made native code; 0 without a process. */
double vg_process_work_s(struct vg_process *process);

/** Waits briefly for the end of a process that has closed its control channel.
 * @param status  set as by waitpid(). @return false: it has not ended. */
bool vg_process_ended(const struct vg_process *process, int *status);

/** Kills the process, waits for it and closes its descriptors; harmless without a process. */
void vg_process_kill(struct vg_process *process);
/** Closes its channels: it ends by itself, after it has stored the native code that it is
 * translating. */
void vg_process_leave(struct vg_process *process);
