/** @file
 * Describes, for a report, the machine on which it was made.
 */
#pragma once

#include "grader/record/result.h"

/** Fills in machine, compiler, version and date of a result. @param milestone  "m3"; make reports
 * the milestone's compiler. */
void gr_machine_describe(struct gr_result *result, const char *milestone);

/** Writes ConvLab's version, as git describes it, or "unknown". */
void gr_version(char *to, size_t room);

/** @return the memory available without swapping, in bytes (MemAvailable). */
size_t gr_memory_available_bytes(void);
