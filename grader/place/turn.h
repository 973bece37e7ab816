/** @file
 * The turn to measure times: one grading at a time on each GPU, and on the cores of a machine.
 *
 * A program that starts several gradings at once coordinates them with environment variables:
 *
 *     CONVLAB_TIMING_LOCK    a file; the holder of its lock has the turn
 *     CONVLAB_TIMING_CORES   cores that only the turn's holder uses, if some are reserved
 *     CONVLAB_TIMING_SHARE   a file, if no cores are reserved: a grading that measures CPU times
 *                            waits until no other runs, and the others wait until it ends
 *     CONVLAB_TIMING_BRIEF   CPU times need no turn: only the times of the smallest size are
 *                            measured, while others run
 *     CONVLAB_TIMING_WAITS   a file that exists while a grading waits for one of these: the time
 *                            that it waits does not count
 *
 * A grading that was started alone finds none of these variables, and has the turn at once.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>

#define GR_TIMING_LOCK  "CONVLAB_TIMING_LOCK"
#define GR_TIMING_CORES "CONVLAB_TIMING_CORES"
#define GR_TIMING_SHARE "CONVLAB_TIMING_SHARE"
#define GR_TIMING_BRIEF "CONVLAB_TIMING_BRIEF"
#define GR_TIMING_WAITS "CONVLAB_TIMING_WAITS"

/** The locks that a grading holds. */
struct gr_turn {
    int lock, gate, share; /**< descriptors, or -1 */
};

#define GR_TURN_NONE ((struct gr_turn){-1, -1, -1})

/** Begins to work: waits while another grading measures times on all cores. */
enum st_code gr_turn_work(struct gr_turn *turn, struct st_error *err);

/** Waits for the turn. @param cpu  whether times are measured on the CPU: then this process, and
 * processes that it starts later, move to the reserved cores, with one OpenMP thread per core. (Two
 * threads on one core would alternate every few ms.)
 * @param restart set to whether the timed program must be restarted to run there */
enum st_code gr_turn_take(struct gr_turn *turn, bool cpu, bool *restart, struct st_error *err);

/** Ends the turn and the work. */
void gr_turn_end(struct gr_turn *turn);
