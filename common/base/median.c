#include "base/median.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct median median_of(double *samples, size_t n)
{
    qsort(samples, n, sizeof *samples, by_value);
    /* The largest `cut` with P(at most cut-1 of n samples are below) <= 2.5%: the interval excludes
     * cut-1 samples at each end. */
    double below = 0, term = pow(0.5, (double)n);
    size_t cut = 0;
    while (cut < n / 2 && below + term <= 0.025) {
        below += term;
        term *= (double)(n - cut) / (double)(cut + 1);
        cut++;
    }
    const size_t first = cut ? cut - 1 : 0;
    return (struct median){.n = n,
                           .median = (samples[(n - 1) / 2] + samples[n / 2]) / 2,
                           .low = samples[first],
                           .high = samples[n - 1 - first]};
}
