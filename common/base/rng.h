/** @file
 * Deterministic random numbers: the same seed gives the same stream on every machine.
 *
 * Generator: xoshiro256** (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators",
 * 2021), seeded through splitmix64. A stream number separates independent uses of one seed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** State of one generator; copy it to fork the stream. */
struct rng {
    uint64_t s[4];
};

/** A generator for (@p seed, @p stream). */
struct rng rng_make(uint64_t seed, uint64_t stream);

/** The next 64 random bits. */
uint64_t rng_u64(struct rng *r);

/** A whole number from @p lo to @p hi, inclusive. @pre lo <= hi. */
int rng_range(struct rng *r, int lo, int hi);

/** A float in [@p lo, @p hi), one of 2^24 steps. @pre lo <= hi; lo itself if they are equal. */
float rng_float(struct rng *r, float lo, float hi);

/** Fills @p n floats with rng_float(). */
void rng_fill(struct rng *r, float *to, size_t n, float lo, float hi);

/** A new seed from the system's entropy, short enough to retype (up to 9 digits). */
uint64_t rng_fresh_seed(void);
