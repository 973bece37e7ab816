/** @file
 * Turns CUPTI's activity records into rows of the trace.
 */
#pragma once

#include "cupti/cupti_api.h"

#include <stdint.h>

/** Rows under construction, and their parameters. */
struct cupti_rows {
    const struct cupti_api *api;
    int client;       /**< number of this process */
    uint64_t zero_ns; /**< time of CUPTI's clock at time 0 of the trace */
    uint64_t last_ns; /**< calls after this time of CUPTI's clock are our own; 0: no such calls */
    /** Calls are numbered from 1 whenever CUPTI attaches to the program: the last number before
     * that, and the largest number so far. */
    uint64_t number_before, number_last;
    uint64_t incomplete; /**< activities with times unknown to CUPTI */
    uint64_t unknown;    /**< records of kinds that the trace does not have */
    char *text;          /**< [room]; whole rows */
    size_t used, room;
};

/** The longest row: names are cut to fit. */
#define CUPTI_ROW_MAX 8192

/** Adds the row of a record; kinds that do not occur in a trace are counted in `unknown`.
 * @pre `text` has space for CUPTI_ROW_MAX bytes. */
void cupti_rows_add(struct cupti_rows *rows, const CUpti_Activity *record);

/** Adds a row with only a kind, a name and a number ("bytes"). */
void cupti_rows_fact(struct cupti_rows *rows, const char *kind, const char *name, uint64_t number);

/** Adds the row of a cudaProfilerStart() (on) or cudaProfilerStop(). @param now  CUPTI's time */
void cupti_rows_switch(struct cupti_rows *rows, bool on, uint64_t now);
