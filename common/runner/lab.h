/** @file
 * A lab's library in this process: loads it, provides its scratch memory, and reports its crashes.
 */
#ifndef CONVLAB_RUNNER_LAB_H
#define CONVLAB_RUNNER_LAB_H

#include "base/status.h"
#include "exercise/exercise.h"
#include "runner/runner_protocol.h"

/** A convolution: the function of a lab, adapted by its exercise. */
typedef exercise_function lab_function;

/** Loads a library (with local symbols, so that it cannot replace our functions) and finds the
 * exercise's function. @return ST_OK, or ST_BAD_FORMAT with details and a hint. */
enum st_code lab_load(const char *path, const struct exercise *exercise, lab_function **function,
                      struct st_error *err);

/** Makes conv_workspace() allocate memory with @p alloc (NULL on failure) and free it with
 * @p release, instead of host memory. */
void lab_workspace_use(void *(*alloc)(size_t bytes), void (*release)(void *memory));

/** Removes the previous run's data from conv_workspace()'s memory: if it has memory, calls @p spoil
 * with it. @p spoil returns the memory to use from now on, of the same size (NULL: none). */
void lab_workspace_spoil(void *(*spoil)(void *memory, size_t bytes));

/** @return how often conv_workspace() has returned memory since lab_workspace_spoil(). */
unsigned lab_workspace_calls(void);

/** For lab_workspace_spoil() with host memory: fills it with RUNNER_SCRATCH_BITS. */
void *lab_workspace_fill(void *memory, size_t bytes);

/** From now on a fatal signal fills @p reply (kind, signal, addresses, offset in the lab's code),
 * calls @p send with it and ends the process. SIGXCPU counts as fatal: the grader sends it to a run
 * that takes too long, to find out where it is. */
void lab_watch_crashes(struct runner_reply *reply, void (*send)(const struct runner_reply *));

#endif
