/** @file
 * A limit on the memory of the device process, which it keeps itself at all times: whatever a
 * program has asked for, and whether its owner is looking or not.
 */
#pragma once

#include <stddef.h>

/** Ends this process with VG_PROCESS_TOO_MUCH once it takes more memory than its RLIMIT_RSS, which
 * the owner may change at any time (vg_process_limit()). */
void memory_limit_keep(void);

/** @return the limit; SIZE_MAX: there is none. */
size_t memory_limit_bytes(void);
