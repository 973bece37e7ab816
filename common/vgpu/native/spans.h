/** @file
 * Parts of a block with several accesses that are checked together, see spans.c.
 */
#pragma once

#include "vgpu/native/unit.h"

/** Accesses by one address register, with different offsets. */
struct strand {
    const struct ir_insn *first;
    uint32_t count, loads;
    int64_t low, high;      /**< the smallest and the largest offset */
    const char *kind;       /**< SAME: all lanes name one address; ROWS; ANY */
    LLVMValueRef shape, at; /**< at: the address of the first lane with offset low */
    LLVMValueRef sectors;   /**< address of the shape's sectors for `at` */
};
enum { SPAN_STRANDS = 8, SPAN_MARKS = 4 };
enum { SPAN_FARTHEST = 1 << 16 }; /**< bytes between accesses of a strand */

struct span {
    uint32_t first, last; /**< instructions */
    struct strand strands[SPAN_STRANDS];
    uint32_t strand_count, accesses;
    uint32_t reads;    /**< of shared memory */
    uint64_t *written; /**< registers */
    LLVMValueRef marks[SPAN_MARKS], shared;
};

/** The reads of a strand, for the log of races. */
struct native_strand {
    struct native_kept kept;
    struct race_strand strand;
};

/** @return whether a useful span begins at an instruction. @param s  then to be freed */
bool span_find(struct unit *u, uint32_t first, struct span *s);
void span_free(struct span *s);
/** @return whether an access may be in a span. */
bool span_may_have(struct unit *u, const struct ir_insn *in);
/** @return whether the lanes of an access to shared memory are rows of words, which have faster
 * code. */
bool span_is_of_rows(const struct unit *u, const struct ir_insn *in);
/** @return the strand of an access, or NULL. */
struct strand *span_strand(const struct unit *u, struct span *s, const struct ir_insn *in);
void span_translate(struct unit *u, struct span *s);
/** Translates accesses of the current span. @param words  variable: the loaded or stored words */
void span_load(struct unit *u, const struct ir_insn *in, LLVMValueRef words);
void span_store(struct unit *u, const struct ir_insn *in, LLVMValueRef words);
