/** @file
 * Shrinks a case while it still shows its finding.
 */
#pragma once

#include <stdbool.h>

/** @return the case with the fewest lines of @p text found within @p seconds for which @p shows
 * still returns true; malloc'd. Unneeded lines are deleted first as whole statements, then as runs,
 * then one by one; lines marked to stay (engine_case.h) are deleted only with a statement. */
char *case_shrink(const char *text, bool (*shows)(const char *text, void *context), void *context,
                  int seconds);
