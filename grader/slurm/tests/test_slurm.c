#include "grader/slurm/slurm.h"

#include "base/files.h"
#include "base/tests/temp_folder.h"

#include <criterion/criterion.h>
#include <string.h>

Test(slurm, states)
{
    static const struct {
        const char *line;
        size_t task;
        enum sl_meaning meaning;
        const char *told;
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
        {"3 SOMETHING_NEW", 3, SL_UNKNOWN, "not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sl_task_state state;
        cr_assert(sl_state_parse(cases[i].line, &state), "%s", cases[i].line);
        cr_expect_eq(state.task, cases[i].task, "%s", cases[i].line);
        cr_expect_eq(state.meaning, cases[i].meaning, "%s", cases[i].line);
        cr_expect(strstr(state.told, cases[i].told), "%s: %s", cases[i].line, state.told);
    }
}

/* Of an array that is no array squeue says N/A; warnings are lines, too. */
Test(slurm, lines_that_are_no_states)
{
    static const char *const lines[] = {"", "N/A RUNNING", "slurm_load_jobs error: busy", "7",
                                        "7 running"};
    struct sl_task_state state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect_not(sl_state_parse(lines[i], &state), "%s", lines[i]);
}

/* Both kinds of control groups, and groups that say nothing. */
Test(slurm, memory_kills_are_read_from_the_own_group, .init = temp_folder_make,
     .fini = temp_folder_remove)
{
    cr_assert_eq(dir_make(temp_path("memory/slurm/job_7"), NULL), ST_OK);
    cr_assert_eq(dir_make(temp_path("job_8"), NULL), ST_OK);
    static const char v1[] = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
    static const char v2[] = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 1\n";
    temp_file("memory/slurm/job_7/memory.oom_control", v1, sizeof v1 - 1);
    temp_file("job_8/memory.events", v2, sizeof v2 - 1);
    static const struct {
        const char *groups;
        size_t kills;
    } cases[] = {{"5:cpu:/\n4:memory:/slurm/job_7\n0::/\n", 2},
                 {"0::/job_8\n", 1},
                 {"4:memory:/\n0::/\n", 0},
                 {"4:memory:/none\n", 0},
                 {"nonsense\n:\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *groups = temp_file("groups", cases[i].groups, strlen(cases[i].groups));
        cr_expect_eq(sl_memory_kills(groups, temp_path("")), cases[i].kills, "%s", cases[i].groups);
    }
    cr_expect_eq(sl_memory_kills(temp_path("nowhere"), temp_path("")), 0);
}
