#include "grader/record/result.h"

#include <assert.h>

const char *gr_status_name(enum gr_status status)
{
    static const char *const name[] = {[GR_PASS] = "pass", [GR_FAIL] = "fail", [GR_SKIP] = "skip"};
    assert((size_t)status < sizeof name / sizeof *name);
    return name[status];
}

const char *gr_subject_name(enum gr_subject subject)
{
    static const char *const name[] = {[GR_SUBMISSION] = "submission",
                                       [GR_REFERENCE] = "reference",
                                       [GR_PLAIN_LOOPS] = "plain loops",
                                       [GR_BASELINE] = "m2"};
    assert((size_t)subject < sizeof name / sizeof *name);
    return name[subject];
}
