/** @file
 * The limits of a confined program.
 */
#pragma once

#include <stddef.h>

/** Limits; 0: no limit. */
struct gr_limits {
    double wall_s;     /**< time for the whole run, longer on a crowded machine (base/patience.h);
                            enforced by the process that waits for it */
    unsigned cpu_s;    /**< processor time of each process */
    size_t heap_bytes; /**< each process: data, stacks of threads */
    size_t address_bytes; /**< each process: address space */
    size_t file_bytes;    /**< size of each file */
    unsigned files;       /**< open files per process */
    unsigned processes;   /**< processes and threads together; only in the sandbox */
};
