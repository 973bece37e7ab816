/** @file
 * EACH_TARGET compiles a function once for every kind of vector register; the loader chooses a
 * clone.
 *
 * Use it for loops of additions, multiplications, comparisons and the like, whose results do not
 * depend on the width of vectors. Contraction is off in the whole suite, so no clone fuses
 * operations that another clone rounds separately.
 */
#ifndef CONVLAB_BASE_CLONES_H
#define CONVLAB_BASE_CLONES_H

/* No clones with sanitizers, because the loader chooses before their run-time libraries are ready,
 * and none with clang, because clang 14 gives them names that other files do not find. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                \
    !defined(__SANITIZE_THREAD__)
#define EACH_TARGET __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EACH_TARGET
#endif

/** Makes gcc vectorise all loops of a function; clang does so anyway. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR_LOOPS __attribute__((optimize("O3")))
#else
#define VECTOR_LOOPS
#endif

#endif
