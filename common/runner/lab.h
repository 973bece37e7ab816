/** @file
 * A lab's library in this process: loads it, provides its scratch memory, and reports crashes in
 * it.
 */
#ifndef CONVLAB_RUNNER_LAB_H
#define CONVLAB_RUNNER_LAB_H

#include "base/status.h"
#include "exercise/exercise.h"
#include "runner/runner_protocol.h"

/** A convolution: the function of a lab, adapted by its exercise. */
typedef exercise_function lab_function;

/** Loads a library (with local symbols, so that it cannot replace any of ours) and finds the
 * exercise's function. @return ST_OK, or ST_BAD_FORMAT with details and a hint. */
enum st_code lab_load(const char *path, const struct exercise *exercise, lab_function **function,
                      struct st_error *err);

/** Makes conv_workspace() take its memory from @p alloc (which returns NULL on failure) and free it
 * with @p release; until then it is host memory. */
void lab_workspace_use(void *(*alloc)(size_t bytes), void (*release)(void *memory));

/** Takes back conv_workspace()'s memory before a run that must not see the previous run's data:
 * calls @p spoil with the memory, if any, which returns the memory to use from now on, of the same
 * size (NULL: none). */
void lab_workspace_spoil(void *(*spoil)(void *memory, size_t bytes));

/** The @p spoil for host memory: fills it with RUNNER_SCRATCH_BITS. */
void *lab_workspace_fill(void *memory, size_t bytes);

/** From now on a fatal signal fills @p reply (kind, signal, addresses, place in the lab), calls
 * @p send with it and ends the process. SIGXCPU counts as fatal: the grader sends it to ask a run
 * that takes too long for its position. */
void lab_watch_crashes(struct runner_reply *reply, void (*send)(const struct runner_reply *));

#endif
