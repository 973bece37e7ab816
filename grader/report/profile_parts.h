/** @file
 * Reading the tables of a profile. Internal to profile_*.c.
 */
#ifndef CONVLAB_GRADER_PROFILE_PARTS_H
#define CONVLAB_GRADER_PROFILE_PARTS_H

#include "base/tsv.h"

/** @return a field by the name of its column; "" or 0 if there is no such column. */
const char *gr_profile_text(const struct tsv *table, size_t row, const char *column);
double gr_profile_number(const struct tsv *table, size_t row, const char *column);
/** @return the column "images" of a row, and the largest there is. */
unsigned long gr_profile_images(const struct tsv *table, size_t row);
unsigned long gr_profile_largest(const struct tsv *table);

#endif
