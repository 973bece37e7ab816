/** @file
 * Parts of a block with several accesses that are checked together: span_find.c finds them, and
 * spans.c, which explains them, translates them.
 */
#pragma once

#include "vgpu/native/unit.h"
#include "vgpu/probe/race.h"

/** Accesses with the same address register and different offsets. */
struct strand {
    const struct ir_insn *first;
    uint32_t count, loads;
    int64_t low, high;      /**< the smallest and the largest offset */
    const char *kind;       /**< see span_kind() */
    LLVMValueRef shape, at; /**< at: the first lane's address with offset `low` */
    LLVMValueRef sectors;   /**< number of sectors of the shape at `at`, in memory */
};
enum { SPAN_STRANDS = 8, SPAN_MARKS = 5 };
enum { SPAN_FARTHEST = 1 << 16 }; /**< between two accesses of a strand */

struct span {
    uint32_t first, last; /**< indices of instructions */
    struct strand strands[SPAN_STRANDS];
    uint32_t strand_count, accesses;
    uint32_t reads;                 /**< number of reads of shared memory */
    uint32_t entries;               /**< in the race log: one for each strand in shared memory */
    uint64_t *written;              /**< set of the registers that the span writes */
    LLVMValueRef marks[SPAN_MARKS]; /**< arguments of native_read_*(); last: whether it marks */
    LLVMValueRef shared;
};

/** The reads of a strand, for the race log. */
struct native_strand {
    struct native_kept kept;
    struct race_strand strand;
};

/** @return whether a useful span begins at an instruction. @param s  becomes the span; if so, it
 * must be freed */
bool span_find(struct unit *u, uint32_t first, struct span *s);
void span_free(struct span *s);
/** @return whether an access may be in a span. */
bool span_may_have(struct unit *u, const struct ir_insn *in);
/** @return which code an access in a span gets: SAME (one address for all lanes), ROWS, HALVES (one
 * address for each half of the lanes; shared memory), PIECES (a few stretches of adjacent lanes; global
 * memory), QUARTERS (a row for each quarter of the lanes), or ANY. The span checks that the addresses are of this kind. */
const char *span_kind(struct unit *u, const struct ir_insn *in);
/** @return whether this kind is SAME. */
bool span_is_same(struct unit *u, const struct ir_insn *in);
/** @return the strand of an access, or NULL. */
struct strand *span_strand(struct unit *u, struct span *s, const struct ir_insn *in);
void span_translate(struct unit *u, struct span *s);
/** Translate accesses of the current span. @param words  variable for the loaded or stored words */
void span_load(struct unit *u, const struct ir_insn *in, LLVMValueRef words);
void span_store(struct unit *u, const struct ir_insn *in, LLVMValueRef words);
