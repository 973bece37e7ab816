/** @file
 * Writes numbers as nvprof does: a figure fills its column, so a longer unit leaves fewer digits.
 * "755ns", "1.5680us", "104.08ms" and "1.87342s" all come from columns of 8 characters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_MAX 32 /**< large enough for every figure here */

/** The unit of a CSV column, for all figures in it. */
struct figure_unit {
    const char *name;
    double scale; /**< one unit in nanoseconds, bytes, or bytes per second */
};

/** Writes a time as above; nanoseconds are whole. @param width  of the column */
void figure_time(char to[FIGURE_MAX], uint64_t ns, int width);

/** Chooses the unit of times in tables: "auto", a suitable unit for each time (the default), "col",
 * the unit that suits a column's largest time, or s, ms, us, ns. @return whether @p unit is one of
 * these */
bool figure_time_choose(const char *unit);
/** Writes a time in a table in the chosen unit, to the nanosecond unless "auto" is chosen.
 * @param column  from figure_time_unit() */
void figure_time_in(char to[FIGURE_MAX], uint64_t ns, struct figure_unit column);
/** Decimals of a time column in CSV: nvprof's six; if s is chosen, as many as the times have. */
int figure_csv_decimals(struct figure_unit column);
/** The width of a time column in text. */
int figure_time_width(void);

/** Writes a number of bytes in units of 1024: "4B", "8.0000KB", "38.147MB". */
void figure_bytes(char to[FIGURE_MAX], double bytes, int width);
/** Writes bytes per second in units of 1024: "5.8163GB/s", "0.00000B/s". */
void figure_rate(char to[FIGURE_MAX], double bytes_per_s, int width);
/** Writes a rate with six decimals, for a CSV column in which each figure has its own unit. */
void figure_rate_csv(char to[FIGURE_MAX], double bytes_per_s);
/** Writes a share: "36.98%". */
void figure_percent(char to[FIGURE_MAX], double percent);

/** The unit for a column, from its largest figure; for times, the chosen unit. */
struct figure_unit figure_time_unit(uint64_t largest_ns);
struct figure_unit figure_bytes_unit(double largest);
struct figure_unit figure_rate_unit(double largest);
