/** @file
 * Profiles of versions, whose tables have a row's data-set size in the first column.
 */
#pragma once

#include "base/status.h"

/** Adds to NEWER/profile those sizes that only EARLIER/profile has. */
enum st_code hi_profile_add(const char *earlier, const char *newer, struct st_error *err);

/** Makes REPORT/profile a copy of VERSION/profile; removes it if the version has no profile. */
enum st_code hi_profile_show(const char *version, const char *report, struct st_error *err);
