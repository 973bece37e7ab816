/** @file
 * A limit on the memory of the device process. The process itself always enforces it, whatever
 * programs request.
 */
#pragma once

#include <stddef.h>

/** Starts enforcing the limit: this process ends with VG_PROCESS_TOO_MUCH when it uses more memory
 * than its RLIMIT_RSS, which the owner may change at any time (vg_process_limit()). */
void memory_limit_keep(void);

/** @return the limit; SIZE_MAX: none. */
size_t memory_limit_bytes(void);
