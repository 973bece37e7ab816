/** @file
 * The virtual GPU's findings, as the grader tells them.
 */
#ifndef CONVLAB_GRADER_FINDING_H
#define CONVLAB_GRADER_FINDING_H

#include "grader/session.h"

#include <stdbool.h>

/** Reads a findings file (TSV: kind kernel file line block thread address detail ...) and describes
 * its first row in @p run: outcome GR_DEVICE_ERROR, pattern, message, hint.
 * @return false, with @p run unchanged, if there is no file or no finding. */
bool gr_finding_first(const char *path, struct gr_run *run);

#endif
