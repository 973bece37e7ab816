/** @file
 * The timeline of a profiled run as a separate page, which needs no network.
 */
#pragma once

#include "base/status.h"

#define GR_TIMELINE_PAGE "timeline.html"

/** Writes FOLDER/timeline.html from the trace of the largest size in FOLDER/profile; if there is no
 * trace, removes an earlier page. */
enum st_code gr_timeline_page_write(const char *folder, struct st_error *err);
