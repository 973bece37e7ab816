/** @file
 * Runs a program with students' code, and all processes that it starts: confined if the machine
 * allows it, within limits, and frozen and ended together.
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
    const char *folder; /**< the program's working folder */
    int descriptor[GR_BOX_DESCRIPTORS];
    size_t descriptors; /**< descriptor[i] becomes the program's descriptor i; -1: /dev/null */
    struct gr_limits limits;
    /* The other members matter only in the sandbox. */
    const char *shown[GR_BOX_SHOWN]; /**< files and folders that the program can read, at their own
                                          paths */
    const char *writable;            /**< a folder that the program can write to, or NULL */
    const char *writable_at;         /**< path of that folder in the sandbox */
    const char *files[GR_BOX_FILES]; /**< files that the program can write to, at their own paths */
    bool compiles;                   /**< can use the system's programs and headers */
    bool gpu;                        /**< can use the GPUs' devices and libraries */
    bool loopback;                   /**< can use the network, which has only 127.0.0.1 */
};

/** Whether the program gets only private memory, so that all of its memory is counted (filter.h):
 * true for students' code, except on a real GPU, whose driver needs other memory. */
static inline bool gr_box_own_memory(const struct gr_box_options *options)
{
    return !options->compiles && !options->gpu;
}

/** A running program. */
struct gr_box {
    pid_t pid;   /**< our child process; 0: none */
    int pidfd;   /**< readable when the process has ended */
    pid_t first; /**< sandbox: its first process, by its id outside; 0: not known yet */
    int report;  /**< sandbox: descriptor that reports how the program ended; -1: none */
    int life;    /**< sandbox: end of a pipe; the box lives as long as it is open; -1: none */
    struct gr_tree *frozen;
};

#define GR_BOX_NONE ((struct gr_box){.pidfd = -1, .report = -1, .life = -1})

/** Starts a program. On error @p box is GR_BOX_NONE. */
enum st_code gr_box_start(struct gr_box *box, const struct gr_box_options *options,
                          struct st_error *err);

/** Registers a child as our own, as opposed to a process that a student's program left behind.
 * @param gone  a child of ours that has ended, or 0
 * @param come  a child that we have started, or 0 */
void gr_box_own_child(pid_t gone, pid_t come);

/** The process of the program itself, for sending a signal; 0 if it does not exist. */
pid_t gr_box_program(struct gr_box *box);

/** Stops all processes in the box. @return false: they multiply too fast, so end the box. */
bool gr_box_freeze(struct gr_box *box);
/** Lets all processes in the box continue. */
void gr_box_thaw(struct gr_box *box);

/** The limit on the memory of all processes in a box together, and on the heap of each: enough for
 * scratch memory and for the stacks of an OpenMP team. */
size_t gr_box_memory_limit(void);

/** Memory in use by all processes in the box. @param shared_bytes  how much of each process's
 * shared memory belongs to the grader */
void gr_box_usage(struct gr_box *box, size_t shared_bytes, size_t *processes, size_t *bytes);

/** @return the processor time, so far, of processes that ended with their sandbox: no process waits
 * for them, so getrusage() does not count it. */
double gr_box_cpu_s(void);

/** Reaps the program after it has ended.
 * @param status as from waitpid(). @return false: the sandbox itself failed to start it. */
bool gr_box_wait(struct gr_box *box, int *status);

/** Ends all processes in the box; harmless on GR_BOX_NONE. */
void gr_box_kill(struct gr_box *box);
