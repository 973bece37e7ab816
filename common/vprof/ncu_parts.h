/** @file
 * Shared by ncu's command line, which requests metrics, and the reader of its output.
 */
#pragma once

#include "vgpu/api/vgpu.h"

#include <stdbool.h>
#include <stddef.h>

/** The columns of a trace from ncu: all except the virtual GPU's own. */
enum {
#define COLUMN(name, ...) NCU_##name,
#define VIRTUAL(...)
#define TERM(...)
#include "vgpu/api/trace_columns.def"
    NCU_COLUMNS
};

/** A column, and the sum of ncu's metrics that gives its value; "": none. */
struct ncu_column {
    const char *name, *sum;
    bool always; /**< needed for every kernel, whatever is requested */
};

extern const struct ncu_column ncu_columns[NCU_COLUMNS];

/** The sections of --style ncu, by ncu's names, and their metrics (ncu_sections.def); NULL at the
 * end. A trace has ncu's measured metrics, by ncu's names, after its other columns. */
extern const char *const ncu_identifiers[];
extern const char *const ncu_metrics[];

/** Reads a metric's next name; names are separated by '|'. @return false at the end. */
bool ncu_next_name(const char **at, char name[128]);

/** Reads the next "N*METRIC" of a sum. @return false at the end. */
bool ncu_next_term(const char **at, double *factor, char metric[128]);
