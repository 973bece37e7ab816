/** @file
 * The instructions of one PTX function as the analysis of data flow sees them: what is read, what
 * is written, through which pointer. Names are resolved to numbers once, here.
 */
#ifndef CONVLAB_GRADER_KERNEL_CODE_H
#define CONVLAB_GRADER_KERNEL_CODE_H

#include "vgpu/ptx/ptx_ast.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kc_kind {
    KC_NOTHING,  /**< moves no data: fences, returns */
    KC_COMPUTE,  /**< destinations from sources */
    KC_MULTIPLY, /**< the same, and the first two sources are floats that are multiplied */
    KC_LOAD,     /**< destinations from memory */
    KC_STORE,    /**< sources to memory */
    KC_ATOMIC,   /**< source 0 is combined with memory; the old value may go to a destination */
    KC_COPY,     /**< cp.async: global memory (second address) to shared memory (first address) */
    KC_BARRIER,
    KC_BRANCH
};

enum { KC_MAX_ELEMENTS = 8, KC_MAX_SOURCES = 12, KC_MAX_BASES = 64 };

/** Where an address begins: the number of a register, or of a base. -1: not that. */
struct kc_address {
    int reg, base;
    int64_t offset;
};

struct kc_insn {
    uint8_t kind, space; /**< enum kc_kind, enum ptx_space (of the first address) */
    uint8_t elements;    /**< float32 words moved by a memory instruction, at least 1 */
    bool read_only;      /**< ld.global.nc */
    bool adds;           /**< atomics: an addition of floats */
    bool backward;       /**< branches: to this block or one before it */
    int block, target;   /**< basic block, as ptx_decode() numbers them; of a branch */
    int dests, sources;
    int dest[KC_MAX_ELEMENTS], source[KC_MAX_SOURCES]; /**< registers; -1 for a number */
    int source_base[KC_MAX_SOURCES];                   /**< a variable's address, or -1 */
    struct kc_address address, from;
};

enum kc_base_kind { KC_PARAM, KC_SHARED, KC_LOCAL, KC_CONST, KC_GLOBAL };

/** What a pointer may point into: eight bytes of the kernel's parameters, or a variable. */
struct kc_base {
    enum kc_base_kind kind;
    size_t offset;    /**< KC_PARAM: in the parameter block */
    const char *name; /**< others; owned by the tree */
};

struct kernel_code {
    const struct ptx_function *function;
    struct kc_insn *insns;
    size_t insn_count;
    int registers, blocks;
    struct kc_base base[KC_MAX_BASES]; /**< the last one stands for all that do not fit */
    int bases;
};

/** Reads a function. @pre ptx_decode() has been through its tree, which must outlive the result. */
void kernel_code_read(struct kernel_code *to, const struct ptx_ast *ast,
                      const struct ptx_function *function);
void kernel_code_free(struct kernel_code *code);

#endif
