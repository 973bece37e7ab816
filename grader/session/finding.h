/** @file
 * Turns the virtual GPU's findings into the grader's reports.
 */
#pragma once

#include "grader/session/session.h"

#include "base/tsv.h"

#include <stdbool.h>

/** Describes the first call of the runtime that the virtual GPU refused (a launch of no blocks, a
 * copy beyond a variable) in @p run: pattern, message, hint.
 * @param said  the output of the virtual GPU, which names the violated limit of a launch, or NULL
 * @return false, with @p run unchanged, without such a call. */
bool gr_finding_refused(const struct gr_device_record *record, const char *said,
                        struct gr_run *run);

/** Describes the first of a table of findings (kind kernel file line block thread address detail
 * ...) in @p run: pattern, message, hint. A race or a barrier that not all threads reach is
 * reported before the reads of unset memory that follow from it.
 * @param source  the name for the student's file; "": its own name @return false, with @p run
 * unchanged, without a finding. */
bool gr_finding_first(const struct tsv *findings, const char *source, struct gr_run *run);

/** For an access outside an allocation, names the tensors of the same size; if none has it, the
 * hint asks about that size. */
void gr_finding_name_memory(const struct conv_shape *shape, struct gr_run *run);

/** Both: a refused call whose error was not checked precedes the later findings of kernels. @return
 * false, with @p run unchanged, without either. */
bool gr_finding_explain(const struct gr_device_record *record, const char *source, const char *said,
                        struct gr_run *run);
