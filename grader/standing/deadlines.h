/** @file
 * Due dates of milestones, extensions, and the cost of lateness: one file per course, which the
 * gradebook keeps (setting "deadlines"). docs/deadlines.md describes it.
 *
 *     due:
 *       - {milestone: m1, at: 2026-10-31T23:59+01:00}
 *     extensions:
 *       - {for: ann@uni.edu, milestone: m1, until: 2026-11-05T23:59+01:00, reason: ill}
 *     slip_days: 3
 *     slip_days_of: member
 *     policy: per_day
 *     percent: 10
 *     at_most: 50
 */
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum sd_policy { SD_NONE, SD_PER_DAY, SD_PER_HOUR };
enum sd_slip_of { SD_MEMBER, SD_TEAM };

/** The due date of a milestone. */
struct sd_due {
    char *milestone, *at;
    double at_s; /**< seconds since 1970; NAN: not a valid time, which was reported */
};

/** A later date for a student or team. */
struct sd_extension {
    char *who; /**< name, e-mail address, display name or number of a student, or a team's name */
    char *milestone, *until, *reason;
    double until_s;
};

/** The contents of the file. */
struct sd_deadlines {
    struct sd_due *due;
    unsigned due_count;
    struct sd_extension *extension;
    unsigned extension_count;
    unsigned slip_days;
    enum sd_slip_of slip_of;
    enum sd_policy policy;
    double percent;
    double *at_most; /**< NULL: 100 */
    unsigned grace_minutes, closed_after_days;
};

/** Receives the message about a wrong part of the file. This part is ignored; the rest applies. */
typedef void sd_report(void *context, const char *line);

/** Reads the text of a file. @param report  may be NULL. @return ST_BAD_FORMAT, naming the line, if
 * the text is not in the format. */
enum st_code sd_deadlines_parse(struct sd_deadlines **deadlines, const char *text, size_t bytes,
                                const char *path, sd_report *report, void *context,
                                struct st_error *err);

/** Frees deadlines, which may be NULL. */
void sd_deadlines_free(struct sd_deadlines *deadlines);

/** Reads a time with a time zone: 2026-10-31T23:59+01:00, 2026-10-31 22:59:00.5 UTC, ...Z.
 * @param zone_s  the zone, in seconds, of times without a zone; NAN: such times are refused.
 * @return whether the text is a time */
bool sd_time_read(const char *text, double zone_s, double *seconds);

/** Writes "2026-10-31 22:59 UTC". @return @p to. */
const char *sd_time_text(char to[32], double seconds);
