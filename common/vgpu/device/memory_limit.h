/** @file
 * A limit on the memory of the device process. The process itself keeps the limit at all
 * times, whatever a program requests.
 */
#pragma once

#include <stddef.h>

/** Ends this process with VG_PROCESS_TOO_MUCH once it takes more memory than its RLIMIT_RSS, which
 * the owner may change at any time (vg_process_limit()). */
void memory_limit_keep(void);

/** @return the limit, or SIZE_MAX if there is none. */
size_t memory_limit_bytes(void);
