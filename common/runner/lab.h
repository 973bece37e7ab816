/** @file
 * A lab's library in this process: loading it, its scratch memory, and what to say of a crash in
 * it.
 */
#ifndef CONVLAB_RUNNER_LAB_H
#define CONVLAB_RUNNER_LAB_H

#include "base/status.h"
#include "exercise/exercise.h"
#include "runner/runner_protocol.h"

/** A convolution: the function of a lab, as its exercise adapts it. */
typedef exercise_function lab_function;

/** Loads a library (symbols local, so that nothing in it can replace anything of ours) and finds the
 * exercise's function. @return ST_OK, or ST_BAD_FORMAT with what, where and a hint. */
enum st_code lab_load(const char *path, const struct exercise *exercise, lab_function **function,
                      struct st_error *err);

/** Makes conv_workspace() take its memory from @p alloc (NULL when there is none) and give it to
 * @p release; until then it is host memory. */
void lab_workspace_use(void *(*alloc)(size_t bytes), void (*release)(void *memory));

/** Takes what conv_workspace() gave away again, before a run that is not to see what the one before
 * left there: @p spoil is called with the memory, if there is some, and gives back what is to be
 * used from now on, of the same size (NULL: none). */
void lab_workspace_spoil(void *(*spoil)(void *memory, size_t bytes));

/** The @p spoil of host memory: fills it with RUNNER_SCRATCH_BITS. */
void *lab_workspace_fill(void *memory, size_t bytes);

/** From now on a fatal signal fills @p reply (kind, signal, addresses, place in the lab), calls
 * @p send with it and ends the process. SIGXCPU counts as one: the grader sends it to ask a run
 * that takes too long where it is. */
void lab_watch_crashes(struct runner_reply *reply, void (*send)(const struct runner_reply *));

#endif
