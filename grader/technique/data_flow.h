/** @file
 * Which values flow where in the kernels of one convolution. See work.h for the idea.
 *
 * Two passes over all launches, each until nothing changes: forward, what a value is made of and
 * what it came through; backward, whether it reaches y.
 */
#ifndef CONVLAB_GRADER_DATA_FLOW_H
#define CONVLAB_GRADER_DATA_FLOW_H

#include "grader/technique/kernel_code.h"

/** What a value is made of, and what that came through. */
enum flow_data {
    FLOW_X = 1,
    FLOW_K = 2,
    FLOW_PRODUCT = 4, /**< of x and k, or a sum of such */
    FLOW_SHARED = 8,
    FLOW_BUFFER = 16, /**< global memory other than the tensors */
    FLOW_CONST = 32,
    FLOW_Y = 64, /**< what y held before */
};

/** How a value reaches y. */
enum flow_way { FLOW_BY_STORE = 1, FLOW_BY_ATOMIC = 2 };

struct flow_value {
    uint64_t bases; /**< as an address: what it may point into */
    uint8_t data;   /**< enum flow_data */
    uint8_t ways;   /**< enum flow_way */
};

/** A tensor, a workspace, a variable, as a whole. */
struct flow_buffer {
    char name[128]; /**< as vg_address_name() has it */
    uint8_t data, ways;
};

/** A copy from one buffer to another. */
struct flow_copy {
    int to, from;
    double bytes;
};

enum {
    FLOW_MAX_BUFFERS = 128,
    FLOW_MAX_COPIES = 1024,
    FLOW_IS_X = 0,
    FLOW_IS_K = 1,
    FLOW_IS_Y = 2
};

/** The buffers of one process. */
struct flow_buffers {
    struct flow_buffer buffer[FLOW_MAX_BUFFERS];
    struct flow_copy copy[FLOW_MAX_COPIES];
    int n, copies;
};

/** One kernel with the buffers that its pointers point into. */
struct flow_launch {
    const struct kernel_code *code;
    int buffer[KC_MAX_BASES];               /**< of each base that lies in global memory, else -1 */
    struct flow_value *reg;                 /**< [registers] */
    struct flow_value memory[KC_MAX_BASES]; /**< of each base in shared or local memory */
};

/** Starts with the three tensors, without names yet. */
void flow_buffers_start(struct flow_buffers *buffers);
/** @return the number of the buffer of that name, a new one if there is none. */
int flow_buffer_number(struct flow_buffers *buffers, const char *name, size_t length);

/** Prepares a launch. @param pointers  "OFFSET=PLACE ..." as in the table of work. */
void flow_launch_open(struct flow_launch *launch, const struct kernel_code *code,
                      struct flow_buffers *buffers, const char *pointers);
void flow_launch_close(struct flow_launch *launch);

/** Both passes over all launches. */
void flow_solve(struct flow_launch *launches, size_t n, struct flow_buffers *buffers);

/** What an instruction's address may point into: a set of bases. */
uint64_t flow_bases(const struct flow_launch *launch, const struct kc_insn *in,
                    const struct kc_address *address);
/** What the sources of an instruction are, together, from source @p first to before @p end. */
struct flow_value flow_sources(const struct flow_launch *launch, const struct kc_insn *in,
                               int first, int end);
/** What a copy from global to shared memory carries: enum flow_data. */
uint8_t flow_copied(const struct flow_launch *launch, const struct flow_buffers *buffers,
                    const struct kc_insn *in);

#endif
