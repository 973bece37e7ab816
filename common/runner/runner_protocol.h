/** @file
 * What grader and runner say to each other.
 *
 * The runner is started with two descriptors: RUNNER_CHANNEL, a sequenced-packet socket on which
 * every packet is one of the structs below, and RUNNER_ARENA, shared memory that holds the tensors.
 * On the virtual GPU a third, RUNNER_DOOR, leads to the device process, which is a child of the
 * grader's too.
 *
 *     grader                          runner
 *       |  <----- OPENED / FAILED -----  |   the device works, or why not
 *       |  <------ READY / FAILED -----  |   the lab's library is loaded, or why not
 *       |  ------------ RUN ---------->  |   shape and where x, k, y are in the arena
 *       |  <---- DONE / CRASHED /        |   return value and Op Time, or signal and place,
 *       |        DEVICE_ERROR ---------  |   or a CUDA error
 *
 * The runner shares its process with the student's code, so nothing it reports earns points
 * unchecked: outputs are compared by the grader, times are checked against the grader's own clock
 * or come from the device process, and a packet without the nonce of its request is not a reply.
 * Only the first packet is surely the harness's: none of the student's code has run then, not even
 * a constructor. Expected outputs never come here.
 */
#ifndef CONVLAB_RUNNER_PROTOCOL_H
#define CONVLAB_RUNNER_PROTOCOL_H

#include "conv.h"

#include <stddef.h>
#include <stdint.h>

enum { RUNNER_CHANNEL = 3, RUNNER_ARENA = 4, RUNNER_DOOR = 5 };

/** The runner's exit status when it cannot reply: its channel was closed by the student's code. */
enum { RUNNER_EXIT_NO_CHANNEL = 86 };

/** Shared memory that a lab may have in the sandbox, all of it together, and each file. */
#define RUNNER_SHARED_BYTES ((size_t)256 << 20)

/** Bits of the signalling NaN that fills the memory of conv_workspace() before every run on the
 * CPU: what is computed from scratch memory that was not written in this run shows. */
#define RUNNER_SCRATCH_BITS 0x7fa2face

/** Where the lab's pointers point, and whose clock times it: the runner's argument --on. */
enum runner_device { RUNNER_ON_CPU, RUNNER_ON_GPU, RUNNER_ON_VIRTUAL_GPU };

enum runner_kind {
    RUNNER_OPENED = 1,
    RUNNER_READY,
    RUNNER_FAILED,
    RUNNER_RUN,
    RUNNER_DONE,
    RUNNER_CRASHED,
    RUNNER_DEVICE_ERROR
};

/** Grader to runner: compute one convolution. */
struct runner_request {
    uint32_t kind; /**< RUNNER_RUN */
    uint32_t pad;
    uint64_t nonce; /**< to be repeated in the reply */
    struct conv_shape shape;
    uint64_t x_offset, k_offset, y_offset; /**< in the arena, in bytes */
    uint64_t arena_bytes;                  /**< how much of the arena to have mapped */
    uint64_t
        ready_bytes; /**< how much to have in memory before the op: its tensors, or 0 on disk */
};

/** Runner to grader. */
struct runner_reply {
    uint32_t kind;
    int32_t returned;    /**< DONE: what conv_forward() returned */
    uint64_t nonce;      /**< of the request; 0 before the first one */
    uint64_t op_time_ns; /**< DONE: time inside conv_forward() */
    uint64_t free_bytes; /**< DONE: memory of the device afterwards; 0: unknown, or no device */
    int32_t signal;      /**< CRASHED: which */
    uint32_t is_write;   /**< CRASHED: a write, if the processor reports it */
    uint32_t in_lab;     /**< CRASHED: whether a place in the lab's library was found */
    uint32_t pad;
    uint64_t lab_offset;    /**< CRASHED: that place, as an offset in libconv.so */
    uint64_t fault_address; /**< CRASHED: address that was accessed; SIGSYS: the system call */
    uint64_t arena_address; /**< where the arena is in the runner */
    char text[256]; /**< OPENED: the device's name, on a real GPU with its UUID in a second line;
                       FAILED, DEVICE_ERROR: why, for a person; CRASHED: the function that may
                       not be called, if that is why */
};

#endif
