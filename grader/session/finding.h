/** @file
 * Turns the virtual GPU's findings into the grader's reports.
 */
#pragma once

#include "grader/session/session.h"

#include "base/tsv.h"

#include <stdbool.h>

/** Describes the first runtime call that the virtual GPU refused (a launch of no blocks, a copy
 * beyond a variable) in @p run: pattern, message, hint.
 * @param source  the student's file, in which the message says where the call is, or NULL
 * @param said  the output of the virtual GPU, which names the violated limit of a launch, or NULL
 * @return false, with @p run unchanged, if no call was refused. */
bool gr_finding_refused(const struct gr_device_record *record, const char *source, const char *said,
                        struct gr_run *run);

/** Describes the first of a table of findings (kind kernel file line block thread address detail
 * ...) in @p run: pattern, message, hint. A race or a barrier that not all threads reach is
 * reported before the resulting reads of uninitialised memory.
 * @param source  the name for the student's file; "": its own name @return false, with @p run
 * unchanged, if the table is empty. */
bool gr_finding_first(const struct tsv *findings, const char *source, struct gr_run *run);

/** For an access outside an allocation, names the tensors of the allocation's size; if there are
 * none, sets a hint that asks about this size. */
void gr_finding_name_memory(const struct conv_shape *shape, struct gr_run *run);

/** Describes a refused call or a finding: a refused call whose error was not checked comes before
 * the findings of later kernels. @return false, with @p run unchanged, if there is neither. */
bool gr_finding_explain(const struct gr_device_record *record, const char *source, const char *said,
                        struct gr_run *run);
