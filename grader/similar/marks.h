/** @file
 * The marks of a submission: hashes of small parts of it that remain when it is disguised. Two
 * submissions resemble each other by the marks that both have and few others have.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A part of a source that is like each other part of the same hash. */
struct si_mark {
    uint64_t hash;
    int line, last; /**< of the source, from 1; 0: not known */
};

/** Marks, in the order of the text. */
struct si_marks {
    size_t n;
    struct si_mark *mark;
};

/** Adds a mark. @return false without memory */
bool si_mark_add(struct si_marks *to, struct si_mark mark);
/** Releases marks; harmless on zeroed ones. */
void si_marks_free(struct si_marks *marks);

/** Marks of C or CUDA C: winnowed sequences of tokens without comments and layout, in which a name is
 * the number of its first appearance in the sequence. @return ST_OK or ST_NO_MEMORY */
enum st_code si_source_marks(struct si_marks *to, const char *source, size_t bytes,
                             struct st_error *err);

/** Marks of the numbers in a source that say something: not 0, 1 and 2. @return false without memory */
bool si_number_marks(struct si_marks *to, const char *source, size_t bytes);

/** Marks of the kernels in PTX: each instruction with those that it takes its operands from, a few
 * deep. Registers have no names, independent instructions no order, and copies are looked through.
 * @return ST_OK; ST_BAD_FORMAT if the text is not PTX; ST_NO_MEMORY */
enum st_code si_kernel_marks(struct si_marks *to, const char *ptx, size_t bytes,
                             struct st_error *err);

/** The fingerprint of a source without its comments, layout and names: of two with the same, one may
 * be a copy of the other. */
void si_fingerprint(const char *source, size_t bytes, char hex[65]);

/** FNV-1a over more bytes. @param hash  of those before; SI_HASH_BEGIN: none */
uint64_t si_hash(uint64_t hash, const void *bytes, size_t n);
#define SI_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
