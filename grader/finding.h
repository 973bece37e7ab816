/** @file
 * The virtual GPU's findings, as the grader tells them.
 */
#ifndef CONVLAB_GRADER_FINDING_H
#define CONVLAB_GRADER_FINDING_H

#include "grader/session.h"

#include "base/tsv.h"

#include <stdbool.h>

/** Describes the first of a table of findings (kind kernel file line block thread address detail
 * ...) in @p run: pattern, message, hint.
 * @return false, with @p run unchanged, if there is none. */
bool gr_finding_first(const struct tsv *findings, struct gr_run *run);

#endif
