/** @file
 * The marks of a submission: hashes of small parts, which do not change if the code is disguised.
 * Two submissions resemble each other if they have marks in common that few others have.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A part of a source. Equal parts have the same hash. */
struct si_mark {
    uint64_t hash;
    int line, last; /**< first and last line of the source, from 1; 0: unknown */
};

/** Marks, in the order of the text. */
struct si_marks {
    size_t n;
    struct si_mark *mark;
};

/** Adds a mark. @return false: out of memory */
bool si_mark_add(struct si_marks *to, struct si_mark mark);
/** Frees marks; harmless on zeroed marks. */
void si_marks_free(struct si_marks *marks);

/** Finds the marks of C or CUDA C: winnowed sequences of tokens, without comments and layout, in
 * which each name is replaced by the number of its first appearance in the sequence. @return ST_OK
 * or ST_NO_MEMORY */
enum st_code si_source_marks(struct si_marks *to, const char *source, size_t bytes,
                             struct st_error *err);

/** Finds the marks of the significant numbers in a source: those above 2. @return false: out of
 * memory */
bool si_number_marks(struct si_marks *to, const char *source, size_t bytes);

/** Finds the marks of the kernels in PTX: each instruction with the instructions that compute its
 * operands, a few levels deep. Names of registers, the order of independent instructions, and
 * copies do not count.
 * @return ST_OK; ST_BAD_FORMAT if the text is not PTX; ST_NO_MEMORY */
enum st_code si_kernel_marks(struct si_marks *to, const char *ptx, size_t bytes,
                             struct st_error *err);

/** Computes the fingerprint of a source without comments, layout and names: if two fingerprints are
 * equal, one source may be a copy of the other. */
void si_fingerprint(const char *source, size_t bytes, char hex[65]);

/** FNV-1a, continued with more bytes. @param hash  of the previous bytes; SI_HASH_BEGIN: none */
uint64_t si_hash(uint64_t hash, const void *bytes, size_t n);
#define SI_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
