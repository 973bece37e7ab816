/** @file
 * A program that runs students' code, with all processes that it starts: confined if the machine
 * allows it, within limits, frozen and ended as a whole.
 */
#pragma once

#include "base/status.h"
#include "grader/sandbox/limits.h"
#include "grader/sandbox/process_tree.h"
#include "grader/sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { GR_BOX_DESCRIPTORS = 8, GR_BOX_SHOWN = 16, GR_BOX_FILES = 4 };

/** The program to start. */
struct gr_box_options {
    const struct gr_sandbox *sandbox;
    const char *const *argv; /**< NULL-terminated; argv[0] is a path */
    const char *name;        /**< the program's argv[0]; NULL: its path */
    char *const *environment;
    const char *folder; /**< the folder to run in */
    int descriptor[GR_BOX_DESCRIPTORS];
    size_t descriptors; /**< descriptor[i] becomes the program's i; -1: /dev/null */
    struct gr_limits limits;
    /* The rest matters only in the sandbox. */
    const char *shown[GR_BOX_SHOWN]; /**< files and folders that it can read, at their own paths */
    const char *writable;            /**< a folder that it can write to, or NULL */
    const char *writable_at;         /**< its path in the sandbox */
    const char *files[GR_BOX_FILES]; /**< files that it can write to, at their own paths */
    bool compiles;                   /**< sees the programs and headers of the system */
    bool gpu;                        /**< sees the GPUs' devices and libraries */
    bool loopback;                   /**< may use the network, which has only 127.0.0.1 */
};

/** Whether it gets only private memory, so that all of it is counted (filter.h): true for students'
 * code, except on a real GPU, whose driver needs other memory. */
static inline bool gr_box_own_memory(const struct gr_box_options *options)
{
    return !options->compiles && !options->gpu;
}

/** A running program. */
struct gr_box {
    pid_t pid;   /**< our child process; 0: none */
    int pidfd;   /**< readable when it has ended */
    pid_t first; /**< sandbox: its first process, by our process ids; 0: unknown yet */
    int report;  /**< sandbox: descriptor that reports how the program ended; -1 */
    int life;    /**< sandbox: end of a pipe; the box lives as long as it is open; -1 */
    struct gr_tree *frozen;
};

#define GR_BOX_NONE ((struct gr_box){.pidfd = -1, .report = -1, .life = -1})

/** Starts a program. On error @p box is GR_BOX_NONE. */
enum st_code gr_box_start(struct gr_box *box, const struct gr_box_options *options,
                          struct st_error *err);

/** Registers a child as ours, not one that a student's program left behind. @param gone  one that
 * has ended, or 0 */
void gr_box_own_child(pid_t gone, pid_t come);

/** The program's own process, to send a signal to; 0 if it does not exist. */
pid_t gr_box_program(struct gr_box *box);

/** Stops all processes in the box. @return false: they multiply too fast; end the box. */
bool gr_box_freeze(struct gr_box *box);
/** Resumes it. */
void gr_box_thaw(struct gr_box *box);

/** Limits on the memory of all processes in a box, and on each one's heap: for scratch memory and
 * the stacks of an OpenMP team. */
size_t gr_box_memory_limit(void);

/** Memory in use by all processes in the box. @param shared_bytes the part of each process's shared
 * memory that is the grader's */
void gr_box_usage(struct gr_box *box, size_t shared_bytes, size_t *processes, size_t *bytes);

/** @return the processor time so far of processes that ended with their sandbox: no process waits
 * for them, so no getrusage() counts it. */
double gr_box_cpu_s(void);

/** Reaps the program, which has ended.
 * @param status as from waitpid(). @return false: the sandbox itself failed to start it. */
bool gr_box_wait(struct gr_box *box, int *status);

/** Ends all processes in the box; harmless on GR_BOX_NONE. */
void gr_box_kill(struct gr_box *box);
