#include "grader/slurm/slurm.h"

#include <criterion/criterion.h>
#include <string.h>

Test(slurm, states)
{
    static const struct {
        const char *line;
        size_t task;
        enum sl_meaning meaning;
        const char *text;
    } cases[] = {
        {"12 RUNNING", 12, SL_THERE, ""},
        {"0 PENDING", 0, SL_THERE, ""},
        {"3 COMPLETED", 3, SL_ENDED, ""},
        {"3 FAILED", 3, SL_ENDED, ""},
        {"3 NODE_FAIL", 3, SL_LOST, "node was lost"},
        {"3 OUT_OF_MEMORY", 3, SL_LOST, "memory"},
        {"3 TIMEOUT", 3, SL_LOST, "longer"},
        {"3 PREEMPTED", 3, SL_LOST, "preempted"},
        {"3 CANCELLED", 3, SL_LOST, "cancelled"},
        {"3 SOMETHING_NEW", 3, SL_UNKNOWN, "unknown state"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sl_task_state state;
        cr_assert(sl_state_parse(cases[i].line, &state), "%s", cases[i].line);
        cr_expect_eq(state.task, cases[i].task, "%s", cases[i].line);
        cr_expect_eq(state.meaning, cases[i].meaning, "%s", cases[i].line);
        cr_expect(strstr(state.text, cases[i].text), "%s: %s", cases[i].line, state.text);
    }
}

/* For a job that is not an array, squeue prints N/A; it may also print lines with warnings. */
Test(slurm, lines_that_are_not_states)
{
    static const char *const lines[] = {"", "N/A RUNNING", "slurm_load_jobs error: busy", "7",
                                        "7 running"};
    struct sl_task_state state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect_not(sl_state_parse(lines[i], &state), "%s", lines[i]);
}
