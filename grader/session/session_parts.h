/** @file
 * What the files of the session share; nobody else includes it.
 *
 *     session.c          starts it, asks, waits and ends it
 *     session_end.c      how its process crashed or ended, for the student
 *     session_record.c   the virtual GPU's process, and what it says of a run
 */
#pragma once

#include "base/parallel.h"
#include "grader/session/session.h"

/** Reads what the student's code has printed, without waiting. */
static inline void gr_session_drain(struct gr_session *session)
{
    gr_output_drain(&session->output, &session->pipe);
}

/** Sets the outcome of a run, with the message to the student. */
void gr_session_say(struct gr_run *run, enum gr_outcome outcome, const char *message,
                    const char *hint);
/** The same where the student's code has closed the channel of replies. */
void gr_session_say_closed(struct gr_run *run);
/** The same where the arena is a file that the lab made smaller; it has its size again then. */
void gr_session_judge_size(const struct arena *arena, struct gr_run *run);
/** The same for processes that together took more memory than they may. */
void gr_session_say_too_much(const struct gr_session *session, struct gr_run *run);
/** The same where the virtual GPU's process has crashed, as it did before with this submission and nowhere else. */
void gr_session_say_crashed_twice(const struct gr_session *session, enum gr_outcome outcome,
                                  struct gr_run *run);
/** The same for a crash that the runner has caught. @param limit_s  how long the run could take */
void gr_session_explain_crash(const struct gr_session *session, const struct runner_reply *reply,
                              const struct conv_shape *shape, double limit_s, struct gr_run *run);
/** The same for a process that is gone without a reply. */
void gr_session_explain_end(struct gr_session *session, struct gr_run *run);

/** Starts the virtual GPU's process, which is ours and no relative of the runner's.
 * @param output  where it prints
 * @param environment  set to the runner's, malloc'd as one piece */
enum st_code gr_session_device_start(struct gr_session *session, int output, char ***environment,
                                     struct st_error *err);
/** Processes and threads that a program may have; on a real GPU the driver's come on top. */
static inline unsigned gr_session_processes(void)
{
    return 512 + 4 * (unsigned)parallel_cores();
}
/** @return whether the lab gets x, k and y in page-locked memory, again beside the arena. */
bool gr_session_has_host_tensors(const struct gr_session *s);
/** The memory limit of the virtual GPU's process: it has a copy of the tensors, and scratch memory,
 * several times as large for an unrolled matrix. */
size_t gr_session_device_bytes(const struct gr_session *session);
/** How long the cores have worked for the virtual GPU's process, in seconds; 0 if there is none. */
double gr_session_device_work_s(const struct gr_session *session);
/** Takes what the device process has recorded since the last time. @return false, with the outcome
 * set, if it cannot say; true also on other devices. */
bool gr_session_record_take(struct gr_session *session, struct gr_run *run);
/** Forgets it. */
void gr_session_record_drop(struct gr_session *session);
/** After a run that seems to have succeeded: its Op Time and findings, as the device has them.
 * @return false, with the outcome set, if the session has to end. */
bool gr_session_judge_record(struct gr_session *session, const struct conv_shape *shape,
                             struct gr_run *run);
/** conv_forward() has returned an error: what the device knows of the reason. Taking the record
 * also keeps it apart from that of the next request. @return false if the session has to end. */
bool gr_session_explain_returned(struct gr_session *session, int returned, struct gr_run *run);
/** After a run that took too long: ends the program, and on the virtual GPU names the loop that its kernel is
 * in, if it is in one. */
void gr_session_explain_long(struct gr_session *session, struct gr_run *run);
/** A CUDA error, and on the virtual GPU the finding behind it. */
void gr_session_explain_device_error(struct gr_session *session, struct runner_reply *reply,
                                     struct gr_run *run);
