/** @file
 * What a report says about where it was made.
 */
#ifndef CONVLAB_GRADER_MACHINE_H
#define CONVLAB_GRADER_MACHINE_H

#include "grader/result.h"

/** Fills in machine, compiler, version and date of a result. */
void gr_machine_describe(struct gr_result *result);

/** @return memory that can be had without swapping, in bytes (MemAvailable). */
size_t gr_memory_available_bytes(void);

#endif
