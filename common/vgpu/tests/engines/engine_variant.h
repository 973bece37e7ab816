/** @file
 * A variant is a way to run a case: instruction set, number of cores, and engine. All variants must
 * give the same outcome.
 */
#pragma once

#include "vgpu/tests/engines/engine_case.h"

struct variant {
    char target[12]; /**< instruction set: base, avx2, avx512 */
    int cores;
    enum vg_engine engine;
    int seconds; /**< limit after which a case is cut short; 0: 40 */
};

/** Reads "TARGET[:CORES[:ENGINE]]", by default one core and the interpreter. @return false if the
 * text is not a variant. */
bool variant_read(struct variant *to, const char *text);
/** Writes a variant in the form that variant_read() reads. */
const char *variant_name(const struct variant *variant, char to[40]);

/** Everything observable about a case. */
struct outcome {
    bool is_refused; /**< the module was not loaded; text has the reason */
    bool is_dead;    /**< the process died; text has the reason */
    bool is_cut;     /**< the case ran too long and was ended, so its outcome proves nothing */
    char *text;      /**< reports, counters, findings, printed output: one fact per line */
    size_t text_bytes;
    char *memory; /**< buffers and variables, one after the other, after the last launch */
    size_t memory_bytes;
    unsigned char *executed; /**< [IR_OPS] whether an instruction of that row was executed */
    size_t translated;       /**< number of program positions with native code */
};

/** Runs a case on a separate device in a separate process, because wrong machine code may do
 * anything. Free the result with outcome_free(). */
struct outcome variant_run(const struct variant *variant, const struct engine_case *c);
void outcome_free(struct outcome *outcome);

/** @return the first difference of two outcomes as text, malloc'd; NULL if they are equal. */
char *outcome_difference(const struct outcome *a, const struct outcome *b);
