/** @file
 * Shows one line of progress on a terminal, and nothing elsewhere.
 *
 *     progress_begin("1000 images, convolution 2");       from here on, a line is shown ...
 *     progress_count(17, 51, "shapes");                   ... that a thread keeps up to date
 *     progress_clear();                                   the line is removed, so that others may
 *                                                         print
 *
 * The line shows the work, the time it has taken, and the time left if that is known:
 * "unit shapes: 17 of 51 shapes, 4 s, about 8 s left". The work is counted here or by another
 * process (progress_follow()): "running: kernel 2, 300 of 9600 blocks, 3 s".
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The count of the work, in memory shared with the process that does it. The work consists of
 * steps: kernel launches.
 */
struct progress_shared {
    _Atomic uint64_t steps; /**< steps begun so far */
    _Atomic uint64_t total; /**< size of the last step */
    _Atomic uint64_t done;  /**< done part of the last step */
};

/** Creates the shared count if stderr is a terminal. @param fd  set to its descriptor, for another
 * process @return NULL, and 0 in @p fd, if stderr is not a terminal */
struct progress_shared *progress_share(int *fd);

/** Releases the shared count; harmless on NULL. */
void progress_unshare(struct progress_shared *shared, int *fd);

/** If stderr is a terminal, begins to show a line, which replaces the previous one. */
void progress_begin(const char *label, ...) __attribute__((format(printf, 1, 2)));

/** Sets the count. @param unit  "shapes"; must stay valid */
void progress_count(size_t done, size_t total, const char *unit);

/** Reads the count from @p shared until progress_clear() or the next line. @param unit  must stay
 * valid
 * @param program  the steps belong to a whole program, whose time cannot be predicted from the last
 * step */
void progress_follow(struct progress_shared *shared, const char *unit, bool program);

/** Sets the estimate of the remaining time. */
void progress_expect(double seconds);

/** Shows "label: done of total"; a new line if the label differs from the previous one. */
void progress_show(const char *label, size_t done, size_t total);

/** Removes the line, so that later output starts on a clean line. */
void progress_clear(void);

/* ---- the line, independent of terminals and clocks -------------------------------------------- */

/** The state of the line. Any clock may be used for the times. */
struct progress_state {
    char label[96];
    const char *unit; /**< or NULL */
    double begin_s;
    double expected_s;            /**< 0: unknown */
    uint64_t done, total;         /**< total 0: not counted */
    double done_s;                /**< when done last changed */
    struct progress_shared *from; /**< the count in shared memory, or NULL */
    uint64_t first_step;          /**< value of from->steps at the beginning */
    bool program;                 /**< see progress_follow() */
};

/** Sets the count, which was read at time @p now_s. */
void progress_take(struct progress_state *progress, uint64_t done, uint64_t total, double now_s);

/** Writes the line, at most @p columns wide, in ASCII. @return @p to, which has 200 characters */
char *progress_line(char to[200], const struct progress_state *progress, double now_s,
                    size_t columns);
