/** @file
 * The limits of a confined program.
 */
#pragma once

#include <stddef.h>

/** 0: no limit of that kind. */
struct gr_limits {
    double wall_s;     /**< all of it together, on a crowded machine more (base/patience.h); kept by
                               who waits for it */
    unsigned cpu_s;    /**< each process */
    size_t heap_bytes; /**< each process: data, stacks of threads */
    size_t address_bytes; /**< each process: address space */
    size_t file_bytes;    /**< size of each file */
    unsigned files;       /**< open files per process */
    unsigned processes;   /**< processes and threads together; only in the sandbox */
};
