/** @file
 * One runner process with one lab in it, as the grader sees it.
 *
 * A session is started, asked for convolutions one at a time, and ended. Whatever the student's
 * code does - crash, exit, hang, stop itself, close descriptors, print without end - a call here
 * returns in bounded time with a verdict, and nothing of the process is left after
 * gr_session_end().
 */
#ifndef CONVLAB_GRADER_SESSION_H
#define CONVLAB_GRADER_SESSION_H

#include "base/status.h"
#include "conv.h"
#include "runner/arena.h"
#include "runner/protocol.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** How one request ended. Only GR_RAN has outputs to compare. */
enum gr_outcome {
    GR_RAN,          /**< conv_forward() returned 0 */
    GR_RETURNED,     /**< it returned something else */
    GR_CRASHED,      /**< a fatal signal */
    GR_EXITED,       /**< the process ended by itself */
    GR_TIMED_OUT,    /**< no answer within the limit */
    GR_DEVICE_ERROR, /**< a CUDA error; on the virtual GPU also a finding of its checks */
    GR_SILENT,       /**< the process lives but its channel is closed, or spoke nonsense */
    GR_NOT_LOADED    /**< the library could not be loaded */
};

/** How a runner is started: on which device, through which programs. */
struct gr_host {
    enum runner_device device;
    char profile[64];        /**< virtual GPU: which GPU it plays */
    char runner[PATH_MAX];   /**< the runner program */
    char vgpu_run[PATH_MAX]; /**< virtual GPU: the program that starts another on it */
};

/** What the student's code printed, capped and escaped. */
struct gr_output {
    char text[8192]; /**< whole lines, printable characters, tabs and newlines only */
    size_t length;
    unsigned long lines, lines_kept;
    bool midline, dropping;
};

/** Opaque parts are the session's own. */
struct gr_session {
    pid_t pid;
    int channel, pipe, pidfd;
    bool alive;
    uint64_t requests;
    char library[1024];
    char device_name[128]; /**< the GPU's name, or "" */
    char findings[64];     /**< virtual GPU: the file of its findings, or "" */
    const struct gr_host *host;
    struct gr_output output;
};

/** A session that has not been started: gr_session_end() is harmless on it. */
#define GR_SESSION_CLOSED ((struct gr_session){.channel = -1, .pipe = -1, .pidfd = -1})

/** What one request gave. */
struct gr_run {
    enum gr_outcome outcome;
    int returned;
    double op_time_s;  /**< by the runner's clock, or by ours if the two disagree */
    char message[640]; /**< not GR_RAN: what happened, for the student */
    char hint[320];
    char pattern[32]; /**< GR_DEVICE_ERROR: "out_of_bounds", ..., "launch_failed" */
};

/** Starts a runner with a lab. A library that does not load is not an error here but the outcome
 * GR_NOT_LOADED of @p run.
 * @param host    must outlive the session
 * @param arena   its tensors; must outlive the session. */
enum st_code gr_session_start(struct gr_session *session, const struct gr_host *host,
                              const char *library, const struct arena *arena, struct gr_run *run,
                              struct st_error *err);

/** Starts the process of a session again if it has ended (a crash), with the same library; its
 * output so far is kept. */
enum st_code gr_session_revive(struct gr_session *session, const struct arena *arena,
                               struct st_error *err);

/** Lets the process end by itself, so that a virtual GPU writes its findings down, and tells the
 * first of them, if any, in @p run (outcome GR_DEVICE_ERROR). The session is ended.
 * @return whether there was one. */
bool gr_session_finish(struct gr_session *session, struct gr_run *run);

/** Runs one convolution on the tensors that lie in the arena. After GR_RAN the process is frozen
 * until the next call, so that no thread of it can still write.
 * @param limit_s  how long it may take. */
void gr_session_run(struct gr_session *session, const struct conv_shape *shape,
                    const struct arena *arena, double limit_s, struct gr_run *run);

/** Kills the process and all it has started; harmless on an ended session. Output stays readable.
 */
void gr_session_end(struct gr_session *session);

#endif
