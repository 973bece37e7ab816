/** @file
 * The virtual GPU's findings, as the grader reports them.
 */
#pragma once

#include "grader/session/session.h"

#include "base/tsv.h"

#include <stdbool.h>

/** Describes the first call of the runtime that the virtual GPU refused (a launch of no blocks, a
 * copy beyond a variable) in @p run: pattern, message, hint.
 * @param said  what the virtual GPU printed, or NULL: the limit of a launch that was broken
 * @return false, with @p run unchanged, if there is none. */
bool gr_finding_refused(const struct gr_device_record *record, const char *said,
                        struct gr_run *run);

/** Describes the first of a table of findings (kind kernel file line block thread address detail
 * ...) in @p run: pattern, message, hint. A race or a barrier that not all threads reach is
 * reported before the reads of unset memory that follow from it.
 * @param source  how the student's file is called; "": by its name
 * @return false, with @p run unchanged, if there is none. */
bool gr_finding_first(const struct tsv *findings, const char *source, struct gr_run *run);

/** Says of an access outside of an allocation which tensors of a convolution are as large; the hint asks for
 * the size of one that is none of them. */
void gr_finding_name_memory(const struct conv_shape *shape, struct gr_run *run);

/** Both: a call that was refused, and not looked at, comes before what kernels then did.
 * @return false, with @p run unchanged, if there is neither. */
bool gr_finding_explain(const struct gr_device_record *record, const char *source, const char *said,
                        struct gr_run *run);
