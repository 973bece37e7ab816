/** @file
 * Internals of the generator: its state while it writes a function.
 *
 *     generate.c            the frame of a program: buffers, launches, functions, first values
 *     generate_values.c     registers, numbers, conditions
 *     generate_rows.c       arithmetic, from the rows of opcodes.def
 *     generate_converts.c   instructions that the rows do not describe: cvt, set, mov and similar
 *     generate_global.c     global, local and constant memory
 *     generate_shared.c     shared memory and barriers
 *     generate_atomics.c    atom and red
 *     generate_control.c    if, loops, early ends
 *     generate_jumps.c      goto, brx, calls
 *     generate_warp.c       operations that the lanes of a warp execute together
 *     generate_rare.c       dynamic local memory, barrier objects, clusters
 *     generate_faults.c     wrong accesses
 *
 * Registers: %r %q %f %d %h %p have values of 32, 64, 32, 64, 16 and 1 bits that statements read
 * and write; the others have one use each:
 *
 *     %u %pu     the same in all threads of a block        %t0-7  thread position, see GEN_TID
 *     %c %n %l   of a loop: its counter, bound, pointer     %g0-8  addresses, see GEN_DATA
 *     %x %a %px  scratch of one statement                   %k %kq %kp  written, never read
 *     %fuel      remaining backward jumps
 */
#pragma once

#include "base/rng.h"
#include "vgpu/tests/engines/engine_case.h"

#include <stdbool.h>
#include <stdio.h>

enum {
    GEN_R = 16,
    GEN_Q = 10,
    GEN_F = 10,
    GEN_D = 6,
    GEN_H = 8,
    GEN_P = 6,
    GEN_U = 4,
    GEN_LOOPS = 4,
    GEN_JUMPS = 6,
    GEN_THREADS = 1536,                       /**< maximum per launch */
    GEN_DATA_BYTES = 1 << 17,                 /**< size of %g0 and %g1 */
    GEN_SLOT_BYTES = 64,                      /**< size of a thread's own memory at %g2 */
    GEN_SLOT_STEP = 320,                      /**< distance between threads' memory at %g2 */
    GEN_COLUMNS = 8,                          /**< elements of 8 bytes per thread at %g6 */
    GEN_WARP_BYTES = 1024,                    /**< size of a warp's own memory at %g7 */
    GEN_BLOCK_THREADS = 512,                  /**< maximum per block */
    GEN_COUNTERS = 64,                        /**< words to which threads add */
    GEN_COUNTERS_AT = 16 * GEN_BLOCK_THREADS, /**< offset of the counters, after the threads' own
                                                   bytes */
    GEN_SHARED_BYTES = GEN_COUNTERS_AT + 4 * GEN_COUNTERS, /**< followed by exchanged words */
    GEN_LOCAL_BYTES = 128,
    GEN_FUNCTIONS = 3,
};

/** %t: the thread's position. */
enum { GEN_TID, GEN_TID_X, GEN_TID_Y, GEN_GLOBAL_ID, GEN_NTID, GEN_LANE, GEN_TOTAL, GEN_BLOCK };

/** %g: addresses. Data and index are read-only; a slot and a column belong to one thread; sums only
 * receive additions; warp memory belongs to the warp; the allocation of edge ends soon after its
 * used part; freed has been freed; a part of holes is uninitialised. */
enum {
    GEN_DATA,
    GEN_INDEX,
    GEN_SLOT,
    GEN_SUMS,
    GEN_EDGE,
    GEN_FREED,
    GEN_COLUMN,
    GEN_WARP,
    GEN_HOLES
};

/** A goto whose label is not written yet. */
struct gen_jump {
    int label, wait; /**< wait: number of statements before the label */
    int depth;       /**< depth: uniform loops around the jump, which it must not leave */
};

/** Features of a program; choose_features() in generate.c chooses them. */
struct gen_features {
    bool unstructured;  /**< goto, even into loops, and webs of jumps */
    bool ordered;       /**< results that depend on the order of a block's warps */
    bool racy;          /**< shared memory with missing barriers */
    bool hot;           /**< a loop with thousands of rounds */
    bool faulty;        /**< an access that ends the kernel */
    bool own_edge;      /**< threads write their own elements of %g4; otherwise all threads only
                             read it */
    bool uninitialised; /**< reads of unwritten memory */
    bool calls, exits, prints;
    bool dynamic;    /**< shared memory is dynamic */
    bool full_warps; /**< no launch has a warp with idle lanes */
    bool flat;       /**< no launch has a block with more than one row */
    bool clusters;   /**< blocks run in pairs */
};

struct gen {
    struct rng rng;
    FILE *out;
    struct gen_features has;
    int labels, lines, scopes;
    int depth;           /**< nesting depth of statements */
    int budget;          /**< remaining number of statements */
    int loops;           /**< open loops */
    int uniform_loops;   /**< outermost open loops that all threads of the block run together */
    long trips;          /**< product of the rounds of all open loops */
    int step[GEN_LOOPS]; /**< step of a loop's pointer, in bytes */
    bool is_uniform;     /**< set by the enclosing statements; see gen_is_uniform() */
    bool in_function;
    int functions;
    struct gen_jump jumps[GEN_JUMPS];
    int jump_count;
    char names[32][48];
    int next_name;
};

/** Writes a line. */
void emit(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Writes a line that must not be deleted: without it, the program might not end, or might read
 * unwritten memory. */
void emit_kept(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Begins and ends a group of lines that can be deleted together. */
void emit_open(struct gen *g);
void emit_close(struct gen *g);

/* ---- chance ---- */
int pick(struct gen *g, int n); /**< 0 to n - 1 */
bool chance(struct gen *g, int percent);
/** @return one of the words "a|b|c". */
const char *pick_word(struct gen *g, const char *words);

/* ---- values: texts valid for the next 31 requests ---- */
const char *name(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Type of a value: 'h' 16 bits, 'r' 32, 'q' 64, 'f' float32, 'd' float64, 'p' predicate. */
const char *to_register(struct gen *g, char kind);
const char *from_register(struct gen *g, char kind);
/** A register, or a number. */
const char *from_value(struct gen *g, char kind);
/** Sets a predicate by a random comparison. @return the predicate. */
const char *condition(struct gen *g);
/** Like condition(), but uniform in the block. */
const char *uniform_condition(struct gen *g);
/** "@%p1 ", "@!%p1 ", mostly "". */
const char *guard(struct gen *g);
/** A 32-bit register with a value below @p n (a power of two), computed in one of many ways. */
const char *below(struct gen *g, int n);

/** @return whether all running threads of the block reach this statement together. */
bool gen_is_uniform(const struct gen *g);

/* ---- statements ---- */
void statements(struct gen *g, int n);
void gen_arithmetic(struct gen *g);
void gen_row(struct gen *g, int row);
void gen_uniform(struct gen *g);
void gen_convert(struct gen *g);
void gen_move(struct gen *g);
void gen_load(struct gen *g);
void gen_slot(struct gen *g);
void gen_column(struct gen *g);
void gen_local(struct gen *g);
void gen_constant(struct gen *g);
void gen_variable(struct gen *g);
void gen_warp_memory(struct gen *g);
void gen_shared(struct gen *g);
void gen_shared_start(struct gen *g);
void gen_copy(struct gen *g);
void gen_barrier(struct gen *g);
void gen_atomic(struct gen *g);
void gen_shared_atomic(struct gen *g);
void gen_if(struct gen *g);
void gen_loop(struct gen *g);
void gen_exit(struct gen *g);
void gen_goto(struct gen *g);
void gen_web(struct gen *g);
void gen_table(struct gen *g);
void gen_call(struct gen *g);
void gen_print(struct gen *g);
void gen_warp(struct gen *g);
void gen_matrix(struct gen *g);
void gen_rare(struct gen *g);
void gen_fault(struct gen *g);
void gen_uninitialised(struct gen *g);

/** Writes the labels of the jumps that have waited long enough, or (@p all) of all jumps. */
void gen_land(struct gen *g, bool all);
/** Writes the labels of all jumps that must not leave the uniform loop that ends here. */
void gen_land_in_loop(struct gen *g);
/** The type suffixes and vector forms of a load or store. */
struct gen_access {
    const char *type;   /**< "s8" */
    char kind;          /**< kind of its registers */
    int bytes, vectors; /**< bytes per element, number of elements */
};
struct gen_access gen_access_pick(struct gen *g);
/** Writes a load or store of @p access at @p address ("%a1+8"). @param space  ".global" */
void gen_access_load(struct gen *g, const char *space, struct gen_access access,
                     const char *address, const char *guarded);
void gen_access_store(struct gen *g, const char *space, struct gen_access access,
                      const char *address, const char *guarded);
