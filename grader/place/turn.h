/** @file
 * The turn to measure times: one grading at a time on each GPU, and on the cores of a machine.
 *
 * A program that starts several gradings at once coordinates them by their environment:
 *
 *     CONVLAB_TIMING_LOCK    a file; the holder of its lock has the turn
 *     CONVLAB_TIMING_CORES   cores that only the turn's holder uses, where some are set apart
 *     CONVLAB_TIMING_SHARE   a file, where no cores are set apart: who measures times on the CPU waits
 *                            until nobody else works, and the others wait for its end
 *     CONVLAB_TIMING_BRIEF   times on the CPU need no turn: only those of the smallest size are taken,
 *                            while others work
 *     CONVLAB_TIMING_WAITS a file that exists while a grading waits for one of these: its time does
 *     not count
 *
 * A grading by itself finds none of them, and has the turn at once.
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>

#define GR_TIMING_LOCK  "CONVLAB_TIMING_LOCK"
#define GR_TIMING_CORES "CONVLAB_TIMING_CORES"
#define GR_TIMING_SHARE "CONVLAB_TIMING_SHARE"
#define GR_TIMING_BRIEF "CONVLAB_TIMING_BRIEF"
#define GR_TIMING_WAITS "CONVLAB_TIMING_WAITS"

/** The locks of a grading. */
struct gr_turn {
    int lock, gate, share; /**< or -1 */
};

#define GR_TURN_NONE ((struct gr_turn){-1, -1, -1})

/** Begins to work: waits while somebody measures times on all cores. */
enum st_code gr_turn_work(struct gr_turn *turn, struct st_error *err);

/** Waits for the turn. @param cpu  times are measured on the CPU: this process, and what it starts
 * from now on, goes to the cores that are kept for that, and threads of OpenMP to one of them each.
 * (Two on one core would take turns there, for a few ms each.)
 * @param restart set to whether the timed program must be restarted to run there */
enum st_code gr_turn_take(struct gr_turn *turn, bool cpu, bool *restart, struct st_error *err);

/** Ends the turn, and the work. */
void gr_turn_end(struct gr_turn *turn);
