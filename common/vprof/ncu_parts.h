/** @file
 * What the two sides of ncu share: the command that requests metrics, and the reader of them.
 */
#pragma once

#include "vgpu/api/vgpu.h"

#include <stdbool.h>
#include <stddef.h>

/** The columns of such a trace: all but those of the virtual GPU alone. */
enum {
#define COLUMN(name, ...) NCU_##name,
#define VIRTUAL(...)
#define TERM(...)
#include "vgpu/api/trace_columns.def"
    NCU_COLUMNS
};

/** A column, and the sum of ncu's metrics that it is: "" if none. */
struct ncu_column {
    const char *name, *sum;
    bool always; /**< of every kernel, whatever is requested */
};

extern const struct ncu_column ncu_columns[NCU_COLUMNS];

/** The sections that --style ncu prints, by the names that ncu takes, and their metrics
 * (ncu_sections.def); NULL at the end. A trace has the metrics that ncu measured, by its names,
 * after its other columns. */
extern const char *const ncu_identifiers[];
extern const char *const ncu_metrics[];

/** The next of the names of a metric, which '|' separates. @return false at the end. */
bool ncu_next_name(const char **at, char name[128]);

/** The next "N*METRIC" of a sum. @return false at the end. */
bool ncu_next_term(const char **at, double *factor, char metric[128]);
