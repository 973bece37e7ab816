/** @file
 * Shared by the session's files only.
 *
 *     session.c          starts and ends the process, sends requests
 *     session_wait.c     waits for replies
 *     session_end.c      explains to the student how the process crashed or ended
 *     session_record.c   the virtual GPU's process, and its record of a run
 */
#pragma once

#include "base/parallel.h"
#include "grader/session/session.h"

/** Reads the output of the student's code, without waiting. */
static inline void gr_session_drain(struct gr_session *session)
{
    gr_output_drain(&session->output, &session->pipe);
}

/** How a wait ended: with a reply, the process's end, a closed channel, a limit of time, or too much
 * memory. */
enum gr_heard {
    GR_HEARD_REPLY,
    GR_HEARD_END,
    GR_HEARD_CLOSED,
    GR_HEARD_NOTHING,
    GR_HEARD_TOO_MUCH
};
/** Waits for a packet with a nonce, and drains the output meanwhile. Two limits, so that an endless
 * loop is ended sooner on an idle machine.
 * @param limit_s  how long to wait
 * @param work_s  how long the cores may work for the device process
 * @param reply  set to the packet, whose text is made printable */
enum gr_heard gr_session_hear(struct gr_session *session, double limit_s, double work_s,
                              uint64_t nonce, struct runner_reply *reply);

/** Sets the outcome of a run, with the message to the student. */
void gr_session_say(struct gr_run *run, enum gr_outcome outcome, const char *message,
                    const char *hint);
/** Reports that the student's code has closed the reply channel. */
void gr_session_say_closed(struct gr_run *run);
/** Reports that the lab has truncated the arena's file; restores the file's size. */
void gr_session_judge_size(const struct arena *arena, struct gr_run *run);
/** Reports that the processes together used more memory than allowed. */
void gr_session_say_too_much(const struct gr_session *session, struct gr_run *run);
/** Reports that the virtual GPU's process has crashed again, with this submission only. */
void gr_session_say_crashed_twice(const struct gr_session *session, enum gr_outcome outcome,
                                  struct gr_run *run);
/** Writes the limit that was reached: "30 s", or "3 s of the virtual GPU's processor time". */
void gr_session_limit_text(const struct gr_session *session, double limit_s, char to[64]);
/** Reports a crash that the runner has caught. @param limit_s  time limit of the run */
void gr_session_explain_crash(const struct gr_session *session, const struct runner_reply *reply,
                              const struct conv_shape *shape, double limit_s, struct gr_run *run);
/** Reports a process that has ended without a reply. */
void gr_session_explain_end(struct gr_session *session, struct gr_run *run);

/** Starts the virtual GPU's process, as our child, not the runner's. @param output  descriptor for
 * its output
 * @param environment  set to the runner's environment, malloc'd as one block */
enum st_code gr_session_device_start(struct gr_session *session, int output, char ***environment,
                                     struct st_error *err);
/** Maximum number of processes and threads of a program, including the driver's on a real GPU. */
static inline unsigned gr_session_processes(void)
{
    return 512 + 4 * (unsigned)parallel_cores();
}
/** @return whether the lab gets x, k and y in page-locked memory, as copies of the arena's
 * tensors. */
bool gr_session_has_host_tensors(const struct gr_session *s);
/** The memory limit of the virtual GPU's process: a copy of the tensors, and scratch memory, which
 * is several times as large for an unrolled matrix. */
size_t gr_session_device_bytes(const struct gr_session *session);
/** Fetches the record since the last call from the device process. @return false, with the outcome
 * set, if the process does not answer; true on other devices. */
bool gr_session_record_take(struct gr_session *session, struct gr_run *run);
/** Discards the record. */
void gr_session_record_drop(struct gr_session *session);
/** After an apparently successful run: takes its Op Time and findings from the device.
 * @return false, with the outcome set, if the session has to end. */
bool gr_session_judge_record(struct gr_session *session, const struct conv_shape *shape,
                             struct gr_run *run);
/** After conv_forward() has returned an error: reports the reason, if the device knows it. Fetching
 * the record also keeps it out of the next request's record. @return false, if the session has to
 * end. */
bool gr_session_explain_returned(struct gr_session *session, int returned, struct gr_run *run);
/** After a run that took too long: ends the program, and on the virtual GPU names the loop that its
 * kernel is executing, if any. */
void gr_session_explain_long(struct gr_session *session, struct gr_run *run);
/** Reports a CUDA error, and on the virtual GPU the finding that caused it. */
void gr_session_explain_device_error(struct gr_session *session, struct runner_reply *reply,
                                     struct gr_run *run);
