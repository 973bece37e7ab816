/** @file
 * Numbers as nvprof writes them: a figure fills its column, so that a longer unit leaves fewer
 * digits. "755ns", "1.5680us", "104.08ms" and "1.87342s" all come from columns of 8 characters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_MAX 32 /**< room that every figure here has */

/** A unit of a table in CSV, where all figures of a column have the same. */
struct figure_unit {
    const char *name;
    double scale; /**< what one of it is in nanoseconds, bytes, bytes per second */
};

/** A time, as above; nanoseconds are whole. @param width  of the column */
void figure_time(char to[FIGURE_MAX], uint64_t ns, int width);

/** Chooses the unit of times in tables: "auto", each the unit that suits it (as at the start),
 * "col", each column the one that suits its largest, or s, ms, us, ns. @return whether it is one of
 * these */
bool figure_time_choose(const char *unit);
/** A time in a table, in the chosen unit, other than "auto" to the nanosecond. @param column  from
 * figure_time_unit() */
void figure_time_in(char to[FIGURE_MAX], uint64_t ns, struct figure_unit column);
/** Decimals of such a column in CSV: nvprof's six, of chosen seconds as many as there are. */
int figure_csv_decimals(struct figure_unit column);
/** The width of such a column. */
int figure_time_width(void);

/** A number of bytes in units of 1024: "4B", "8.0000KB", "38.147MB". */
void figure_bytes(char to[FIGURE_MAX], double bytes, int width);
/** Bytes per second in units of 1024: "5.8163GB/s", "0.00000B/s". */
void figure_rate(char to[FIGURE_MAX], double bytes_per_s, int width);
/** The same with six decimals, for a column of CSV in which each figure has its own unit. */
void figure_rate_csv(char to[FIGURE_MAX], double bytes_per_s);
/** A share: "36.98%". */
void figure_percent(char to[FIGURE_MAX], double percent);

/** The unit for a column, from the largest figure in it; of times, the chosen one. */
struct figure_unit figure_time_unit(uint64_t largest_ns);
struct figure_unit figure_bytes_unit(double largest);
struct figure_unit figure_rate_unit(double largest);
