/** @file
 * The protocol between grader and runner.
 *
 * The runner is started with two descriptors: RUNNER_CHANNEL, a sequenced-packet socket on which
 * every packet is one of the structs below, and RUNNER_ARENA, shared memory with the tensors. On
 * the virtual GPU a third descriptor, RUNNER_DOOR, connects to the device process, which is also a
 * child of the grader.
 *
 *     grader                          runner
 *       |  <----- OPENED / FAILED -----  |   the device works, or the reason
 *       |  <------ READY / FAILED -----  |   the lab's library is loaded, or the reason
 *       |  ------------ RUN ---------->  |   shape and offsets of x, k, y in the arena
 *       |  <---- DONE / CRASHED /        |   return value and Op Time, or signal and offset,
 *       |        DEVICE_ERROR ---------  |   or a CUDA error
 *
 * The runner shares its process with the student's code, so the grader checks all reports that earn
 * points: it compares outputs, checks times by its own clock or gets them from the device process,
 * and ignores packets without the nonce of its request. Only the first packet certainly comes from
 * the harness, because no code of the student, not even a constructor, has run before it. Expected
 * outputs never reach the runner.
 */
#ifndef CONVLAB_RUNNER_PROTOCOL_H
#define CONVLAB_RUNNER_PROTOCOL_H

#include "conv.h"

#include <stddef.h>
#include <stdint.h>

enum { RUNNER_CHANNEL = 3, RUNNER_ARENA = 4, RUNNER_DOOR = 5 };

/** The runner's exit status if it cannot reply because the student's code has closed its
 * channel. */
enum { RUNNER_EXIT_NO_CHANNEL = 86 };

/** Limit of a lab's shared memory in the sandbox, both in total and per file. */
#define RUNNER_SHARED_BYTES ((size_t)256 << 20)

/** Bits of the signalling NaN that fills the memory of conv_workspace() before every run on the
 * CPU: results computed from scratch memory that this run did not write become visible. */
#define RUNNER_SCRATCH_BITS 0x7fa2face

/** The memory in which the lab gets its tensors, and the clock that times it: the runner's argument
 * --on. */
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
    uint64_t nonce; /**< repeated in the reply */
    struct conv_shape shape;
    uint64_t x_offset, k_offset, y_offset; /**< in the arena, in bytes */
    uint64_t arena_bytes;                  /**< size of the arena to map */
    uint64_t ready_bytes; /**< bytes to load into memory before the op: the tensors, or 0 on disk */
};

/** Runner to grader. */
struct runner_reply {
    uint32_t kind;
    int32_t returned;       /**< DONE: the return value of conv_forward() */
    uint64_t nonce;         /**< the request's; 0 before the first one */
    uint64_t op_time_ns;    /**< DONE: time inside conv_forward() */
    uint64_t free_bytes;    /**< DONE: free device memory afterwards; 0: unknown, or no device */
    int32_t signal;         /**< CRASHED: the signal's number */
    uint32_t is_write;      /**< CRASHED: the processor reported that the access was a write */
    uint32_t in_lab;        /**< CRASHED: whether lab_offset is valid */
    uint32_t workspaces;    /**< DONE: how often conv_workspace() returned memory */
    uint64_t lab_offset;    /**< CRASHED: where, as an offset in libconv.so */
    uint64_t fault_address; /**< CRASHED: accessed address; for SIGSYS the system call */
    uint64_t arena_address; /**< address of the arena in the runner */
    char text[256]; /**< OPENED: the device's name, on a real GPU with its UUID in a second line;
                       FAILED, DEVICE_ERROR: the reason, for people; CRASHED: the forbidden
                       function, if that is the cause */
};

#endif
