/** @file
 * Makes a case smaller while it still shows something.
 */
#pragma once

#include <stdbool.h>

/** @return a case of as few lines of @p text as were found within @p seconds, for which @p shows
 * still returns true; malloc'd. Lines of no use go first in whole statements, then in runs, then one
 * by one; those marked to stay (engine_case.h) go only with a statement. */
char *case_shrink(const char *text, bool (*shows)(const char *text, void *context), void *context,
                  int seconds);
