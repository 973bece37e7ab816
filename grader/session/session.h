/** @file
 * One runner process with one lab, as the grader sees it.
 *
 * A session is started, runs convolutions one at a time, and ended. Whatever the student's code
 * does - crash, exit, hang, stop itself, close descriptors, print without end - a call here returns
 * in bounded time with a verdict, and gr_session_end() leaves no process behind.
 */
#pragma once

#include "base/progress.h"
#include "base/status.h"
#include "exercise/exercise.h"
#include "grader/session/device_record.h"
#include "grader/sandbox/box.h"
#include "grader/session/session_output.h"
#include "runner/arena.h"
#include "runner/runner_protocol.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** How one request ended. Only GR_RAN has outputs to compare. */
enum gr_outcome {
    GR_RAN,          /**< conv_forward() returned 0 */
    GR_RETURNED,     /**< it returned another value */
    GR_CRASHED,      /**< a fatal signal */
    GR_EXITED,       /**< the process ended by itself */
    GR_TIMED_OUT,    /**< no answer within the limit */
    GR_DEVICE_ERROR, /**< a CUDA error; its cause is the virtual GPU's finding, if there is one */
    GR_SILENT,       /**< the process lives, but closed its channel or sent nonsense */
    GR_NOT_LOADED,   /**< the library could not be loaded */
    GR_DEVICE_LOST   /**< one of our own processes (the virtual GPU's or the sandbox's) ended: could
                          not grade */
};

/** How a runner is started: its device and our programs. */
struct gr_host {
    enum runner_device device;
    const struct exercise *exercise; /**< NULL: the first exercise */
    char profile[64];                /**< virtual GPU: name of the simulated GPU */
    const char *engine;              /**< virtual GPU: --engine, or NULL */
    bool is_brief;                   /**< virtual GPU: few images follow the unit shapes */
    const char *prove;           /**< virtual GPU: the shape whose work is proved by execution, or
                                      NULL */
    const char *multiprocessors; /**< virtual GPU: number of multiprocessors; NULL: as in the
                                      profile */
    int code_store;              /**< virtual GPU: memory that keeps native code, or 0 */
    int progress_fd;             /**< virtual GPU: memory that counts finished blocks, or 0 */
    struct progress_shared *progress; /**< the memory of progress_fd, or NULL */
    const atomic_bool *given_up;      /**< all waits end once it is true; or NULL */
    char source[1024];                /**< name of the student's file in findings; "": the file's
                                           own name */
    char runner[PATH_MAX];            /**< the runner program */
    char build[PATH_MAX];             /**< the folder with the virtual GPU's programs */
    struct gr_sandbox sandbox;
};

/** A session. The opaque parts belong to the session's files. */
struct gr_session {
    struct gr_box box; /**< the process, and all processes that it starts */
    int channel, pipe;
    bool alive;
    uint64_t requests;
    size_t memory_kills; /**< number of kills in our control group at the start */
    char library[1024];
    char device_name[128];           /**< the GPU's name, or "" */
    char device_id[64];              /**< the GPU's UUID, or "" */
    struct vg_process device;        /**< virtual GPU: its process, a child of ours */
    int device_crash;                /**< the signal that killed it, unless we sent it; 0: none */
    struct gr_device_record *record; /**< virtual GPU: record of the last request */
    const struct gr_host *host;
    const struct arena *arena;
    size_t processes, memory_bytes; /**< counted at the last check */
    bool worked_long; /**< the last wait reached the limit on the virtual GPU's work */
    struct gr_output output;
};

/** A session that has not been started: gr_session_end() is harmless on it. */
#define GR_SESSION_CLOSED                                                                          \
    ((struct gr_session){.box = GR_BOX_NONE, .channel = -1, .pipe = -1, .device = VG_PROCESS_NONE})

/** Result of one request. */
struct gr_run {
    enum gr_outcome outcome;
    int returned;
    double op_time_s; /**< on the virtual GPU's clock; otherwise on the runner's, or on ours if the
                           two disagree */
    uint64_t free_bytes; /**< GR_RAN: free device memory afterwards; 0: unknown, or no device */
    uint32_t workspaces; /**< GR_RAN: number of calls of conv_workspace() */
    char message[640];   /**< not GR_RAN, or a finding: a message for the student */
    char hint[320];
    char idle[192];   /**< GR_RAN on the virtual GPU: states that kernels did not do the arithmetic;
                           otherwise "". Only for right outputs: wrong ones have another cause */
    char pattern[32]; /**< GR_DEVICE_ERROR: "out_of_bounds", ..., "launch_failed". GR_RAN: the kind
                           of the first finding that did not end the kernel ("race_raw"), or "" */
};

/** Starts a runner with a lab. A library that does not load is not an error but the outcome
 * GR_NOT_LOADED of @p run.
 * @param host    must outlive the session
 * @param arena   its tensors; must outlive the session. */
enum st_code gr_session_start(struct gr_session *session, const struct gr_host *host,
                              const char *library, const struct arena *arena, struct gr_run *run,
                              struct st_error *err);

/** Restarts the process of a session with the same library if it has crashed; keeps its output so
 * far. */
enum st_code gr_session_revive(struct gr_session *session, const struct arena *arena,
                               struct st_error *err);

/** Seconds of a shape's time limit that allow for other users of the machine, who may occupy cores.
 * The limit on the virtual GPU's own work is shorter by these seconds. */
enum { GR_SESSION_OTHERS_S = 27 };

/** The hint for kernels that work too long. */
#define GR_SESSION_REPEATS_HINT                                                                    \
    "does every loop of the kernel end, and is each output computed once? If threads loop over outputs, the step is the number of all threads, gridDim.x * blockDim.x"

/** Runs one convolution on the tensors in the arena. After GR_RAN, the process is frozen until the
 * next call, so that none of its threads can still write. @param limit_s  time limit of the run. */
void gr_session_run(struct gr_session *session, const struct conv_shape *shape,
                    const struct arena *arena, double limit_s, struct gr_run *run);

/** Sets the order in which the virtual GPU runs blocks and, if the exercise is about streams, work of
 * streams that do not wait for each other. */
void gr_session_order(const struct gr_session *session, struct vg_order order);

/** The pattern of a check that fails because kernels did not do the work (gr_run.idle). */
#define GR_IDLE_PATTERN "not_on_gpu"
#define GR_IDLE_HINT                                                                               \
    "compute y in a kernel, as sums of products of x and k (a division by a value that depends on x or k is not followed); not on the host, and not from an earlier call. Does each sum begin with 0?"

/** Turns a run that ended with GR_DEVICE_LOST into an error. @return the error's status. */
enum st_code gr_device_lost(const struct gr_run *run, struct st_error *err);

/** The virtual GPU's record of the last gr_session_run(), whatever its outcome. Valid until the
 * next call on the session. @return NULL on other devices, or if there is no record. */
const struct gr_device_record *gr_session_device_record(const struct gr_session *session);

/** Kills the process and all that it has started; harmless on an ended session. Output stays
 readable.
 */
void gr_session_end(struct gr_session *session);
/** As gr_session_end(), but lets the device process first finish its translation to native code,
 * for other sessions of this host. @param left  set to that process; its old value is dropped */
void gr_session_leave_device(struct gr_session *session, struct vg_process *left);
void gr_session_drop_device(struct vg_process *left);
