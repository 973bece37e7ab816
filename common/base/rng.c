#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <sys/random.h>
#include <time.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

struct rng rng_make(uint64_t seed, uint64_t stream)
{
    struct rng r;
    uint64_t state = seed;
    state = splitmix64(&state) ^ (stream * 0xd1342543de82ef95u);
    for (int i = 0; i < 4; i++)
        r.s[i] = splitmix64(&state);
    return r;
}

uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

int rng_range(struct rng *r, int lo, int hi)
{
    assert(lo <= hi);
    uint64_t span = (uint64_t)((int64_t)hi - lo) + 1;
    /* The high half of a 64x32-bit product: bias below 2^-32, no loop, so the stream's position
     * after a call never depends on the values drawn. */
    return (int)(lo + (int64_t)(((rng_u64(r) >> 32) * span) >> 32));
}

float rng_float(struct rng *r, float lo, float hi)
{
    float x = lo + (hi - lo) * ((float)(rng_u64(r) >> 40) * 0x1p-24f);
    return x < hi ? x : nextafterf(hi, lo); /* the sum may have been rounded up to hi */
}

void rng_fill(struct rng *r, float *to, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++)
        to[i] = rng_float(r, lo, hi);
}

uint64_t rng_fresh_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint64_t)time(NULL);
    return seed % 1000000000u;
}
