/** @file
 * Finds the submissions of a class that resemble each other. The result is a hint for a person,
 * never a verdict: two students who follow the same textbook write similar programs.
 */
#pragma once

#include "grader/gradebook/gradebook.h"
#include "grader/similar/marks.h"

#include <stdbool.h>

/** How two works resemble each other, the strongest kind first: X(name, the text in tables and on
 * the page). */
#define SI_HOW_MAP(X)                                                                              \
    X(IDENTICAL, "byte for byte")                                                                  \
    X(RENAMED, "except for names, comments and layout")                                            \
    X(KERNELS, "by the computation of the code")                                                   \
    X(TEXT, "by passages of the source")
enum si_how {
#define SI_HOW_ENUM(name, text) SI_##name,
    SI_HOW_MAP(SI_HOW_ENUM)
#undef SI_HOW_ENUM
};

/** A set of hashes in ascending order, with their weights: the fewer works have a hash, the more it
 * weighs. */
struct si_set {
    size_t n;
    uint64_t *hash;
    double *weight;
    unsigned *have; /**< number of the milestone's works that have each hash */
    double total;
};

/** A submission of a milestone, or the reference's source. */
struct si_work {
    char *name, *milestone, *source;
    size_t bytes;
    bool is_reference;
    char fingerprint[65];
    struct si_marks text,
        kernels; /**< no kernels: C code that was not compiled, or PTX that was not kept */
    struct si_set words, flow, numbers;
};

/** Two works that resemble each other. @p weak: the code is so short that independent students may
 * write it alike; @p score is from 0 to 1; @p rare is the number of common marks that hardly any
 * other work has */
struct si_pair {
    size_t a, b;
    enum si_how how;
    bool weak;
    double score;
    size_t rare;
};

/** A class, with its works sorted by milestone and name. */
struct si_class {
    size_t n, pairs;
    struct si_work *work;
    struct si_pair *pair;   /**< grouped by milestone, weak ones last, the most similar first */
    size_t without_kernels; /**< CUDA sources whose kernels are unknown */
    size_t without_code;    /**< sources without kernels whose code is unknown */
    double least;           /**< if not 0, a score that replaces the thresholds below */
};

/** The thresholds: chosen with classes of `make similarity-check` (independent kernels that do
 * not compute the same reach 0.96, disguised copies 0.86 to 1). */
#define SI_KERNELS_ALIKE 0.85
#define SI_C_ALIKE       0.97 /* seven loops leave little choice: independent solutions reach 0.95 */
#define SI_TEXT_ALIKE    0.90
/* Chosen with all three classes, measured with a fourth. A source of fewer than SI_SHORT windows of
 * tokens (most solutions of m1 and m2) is weak evidence even if it is equal; one of fewer than
 * SI_MEDIUM must be almost equal. */
#define SI_SHORT        190
#define SI_MEDIUM       250
#define SI_ALMOST_EQUAL 0.97

/** Adds a work. @param ptx  the PTX of its kernels, or NULL */
enum st_code si_work_add(struct si_class *class, const char *milestone, const char *name,
                         const char *source, const char *ptx, bool is_reference,
                         struct st_error *err);
/** Compares all works of each milestone. */
enum st_code si_compare(struct si_class *class, struct st_error *err);
/** Adds the valid submissions of a gradebook, and the references that are built.
 * @param milestone  NULL: all milestones */
enum st_code si_gradebook_read(struct si_class *class, struct gradebook *book,
                               const char *milestone, struct st_error *err);
/** Adds the files NAME.c and NAME.cu of a folder, with NAME.ptx if it exists, as one milestone. */
enum st_code si_folder_read(struct si_class *class, const char *folder, struct st_error *err);
/** Frees the class. */
void si_class_free(struct si_class *class);

/** The marks of a work that explain a pair: those of its kernels or of its source. */
const struct si_marks *si_marks_of(const struct si_work *work, enum si_how how);
/** @return the weight of a mark; 0 if it is not in the set. @param have  set to the number of works
 * that have the mark */
double si_weight(const struct si_set *set, uint64_t hash, unsigned *have);
/** The set that belongs to si_marks_of(). */
const struct si_set *si_set_of(const struct si_work *work, enum si_how how);

/** Writes the pairs as one page with the sources side by side. */
enum st_code si_page_write(const char *path, const struct si_class *class, struct st_error *err);
/** Writes a row per pair, tab-separated. */
enum st_code si_table_write(const char *path, const struct si_class *class, struct st_error *err);
/** The name of a kind of pair. */
const char *si_how_text(enum si_how how);
/** The text after a weak pair; "" after another. */
const char *si_weak_text(const struct si_pair *pair);
