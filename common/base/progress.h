/** @file
 * One line of progress on a terminal, nothing anywhere else.
 */
#ifndef CONVLAB_BASE_PROGRESS_H
#define CONVLAB_BASE_PROGRESS_H

#include <stddef.h>

/** Shows "label done/total" on stderr if that is a terminal, at most ten times a second. */
void progress_show(const char *label, size_t done, size_t total);

/** Removes the line, so that what is printed next starts clean. */
void progress_clear(void);

#endif
