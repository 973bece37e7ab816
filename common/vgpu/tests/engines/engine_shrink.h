/** @file
 * Shrinks a case while it still shows its finding.
 */
#pragma once

#include <stdbool.h>

/** @return the shortest case, found within @p seconds, that has lines of @p text and for which
 * @p shows still returns true; malloc'd. Unneeded lines are deleted first in statements, then in
 * runs, then one by one; lines with KEEP_MARK (engine_case.h) are deleted only with a statement. */
char *case_shrink(const char *text, bool (*shows)(const char *text, void *context), void *context,
                  int seconds);
