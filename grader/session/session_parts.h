/** @file
 * Shared by the session's files only.
 *
 *     session.c          starts it, sends requests, waits and ends it
 *     session_end.c      explains to the student how its process crashed or ended
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

/** Sets the outcome of a run, with the message to the student. */
void gr_session_say(struct gr_run *run, enum gr_outcome outcome, const char *message,
                    const char *hint);
/** The same if the student's code has closed the channel of replies. */
void gr_session_say_closed(struct gr_run *run);
/** The same if the lab has truncated the arena's file; restores its size. */
void gr_session_judge_size(const struct arena *arena, struct gr_run *run);
/** The same for processes that together used more memory than allowed. */
void gr_session_say_too_much(const struct gr_session *session, struct gr_run *run);
/** The same if the virtual GPU's process has crashed again with this submission and with no
 * other. */
void gr_session_say_crashed_twice(const struct gr_session *session, enum gr_outcome outcome,
                                  struct gr_run *run);
/** The part of a shape's time limit that allows for other users of the machine: the virtual GPU may
 * get less of the cores. The limit of its work alone is shorter by this part. */
enum { GR_SESSION_OTHERS_S = 27 };
/** The limit that was reached: "30 s", or "3 s of the virtual GPU's processor time". */
void gr_session_limit_text(const struct gr_session *session, double limit_s, char to[64]);
/** The same for a crash that the runner has caught. @param limit_s  time limit of the run */
void gr_session_explain_crash(const struct gr_session *session, const struct runner_reply *reply,
                              const struct conv_shape *shape, double limit_s, struct gr_run *run);
/** The same for a process that has ended without a reply. */
void gr_session_explain_end(struct gr_session *session, struct gr_run *run);

/** Starts the virtual GPU's process, which is our child and unrelated to the runner. @param output
 * descriptor for its output
 * @param environment  set to the runner's, malloc'd as one piece */
enum st_code gr_session_device_start(struct gr_session *session, int output, char ***environment,
                                     struct st_error *err);
/** Maximum number of processes and threads of a program; on a real GPU, the driver's are added. */
static inline unsigned gr_session_processes(void)
{
    return 512 + 4 * (unsigned)parallel_cores();
}
/** @return whether the lab gets x, k and y in page-locked memory, as a copy beside the arena. */
bool gr_session_has_host_tensors(const struct gr_session *s);
/** The memory limit of the virtual GPU's process, which has a copy of the tensors and scratch
 * memory, several times as large for an unrolled matrix. */
size_t gr_session_device_bytes(const struct gr_session *session);
/** Takes the device process's record since the last call. @return false, with the outcome set, if
 * it does not answer; true also on other devices. */
bool gr_session_record_take(struct gr_session *session, struct gr_run *run);
/** Discards the record. */
void gr_session_record_drop(struct gr_session *session);
/** After an apparently successful run: takes its Op Time and findings from the device.
 * @return false, with the outcome set, if the session has to end. */
bool gr_session_judge_record(struct gr_session *session, const struct conv_shape *shape,
                             struct gr_run *run);
/** After conv_forward() has returned an error: reports what the device knows of the reason. Taking
 * the record also separates it from the next request's. @return false, if the session has to
 * end. */
bool gr_session_explain_returned(struct gr_session *session, int returned, struct gr_run *run);
/** After a run that took too long: ends the program, and on the virtual GPU names the loop in which
 * its kernel is, if any. */
void gr_session_explain_long(struct gr_session *session, struct gr_run *run);
/** Reports a CUDA error, and on the virtual GPU the finding that caused it. */
void gr_session_explain_device_error(struct gr_session *session, struct runner_reply *reply,
                                     struct gr_run *run);
