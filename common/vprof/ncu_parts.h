/** @file
 * What the two sides of ncu share: the command that asks for metrics, and the reader of them.
 */
#ifndef CONVLAB_PROFILER_NCU_PARTS_H
#define CONVLAB_PROFILER_NCU_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/** A column of the trace, and the sum of ncu's metrics that it is (ncu.def). */
struct ncu_column {
    const char *column, *sum;
};

enum {
    NCU_COLUMNS = 0
#define NCU(column, sum) +1
#include "vprof/ncu.def"
#undef NCU
};

extern const struct ncu_column ncu_columns[NCU_COLUMNS];

/** The next "N*METRIC" of a sum. @return false at the end. */
bool ncu_next_term(const char **at, double *factor, char metric[128]);

#endif
