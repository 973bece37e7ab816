/** @file
 * A way to run a case: instruction set, cores and engine. All of them must show the same.
 */
#pragma once

#include "vgpu/tests/engines/engine_case.h"

struct variant {
    char target[12]; /**< instruction set: base, avx2, avx512 */
    int cores;
    enum vg_engine engine;
    int seconds; /**< after which a case is cut short, 0: 40 */
};

/** Reads "TARGET[:CORES[:ENGINE]]", by default one core and the interpreter. @return false if that
 * is not a variant. */
bool variant_read(struct variant *to, const char *text);
/** Writes what variant_read() reads. */
const char *variant_name(const struct variant *variant, char to[40]);

/** All that a user can see of a case. */
struct outcome {
    bool is_refused; /**< the module was not loaded: then text says why */
    bool is_dead;    /**< the same for the process */
    bool is_cut;     /**< the case took too long and was ended, so that nothing follows from it */
    char *text;      /**< reports, counters, findings, what was printed: one line a fact */
    size_t text_bytes;
    char *memory; /**< buffers and variables, one after the other, after the last launch */
    size_t memory_bytes;
    unsigned char *executed; /**< [IR_OPS] whether an instruction of that row was executed */
    size_t translated;       /**< places of the program for which there was native code */
};

/** Runs a case on a separate device, in a separate process: machine code may be wrong in any way.
 * Free its result with outcome_free(). */
struct outcome variant_run(const struct variant *variant, const struct engine_case *c);
void outcome_free(struct outcome *outcome);

/** @return the first difference of two outcomes as text, malloc'd; NULL if there is none. */
char *outcome_difference(const struct outcome *a, const struct outcome *b);
