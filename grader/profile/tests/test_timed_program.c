#include "grader/profile/timed_program.h"

#include <criterion/criterion.h>
#include <string.h>

/* Appends a line that a program printed, followed by a bar. */
static void join(void *context, const char *line)
{
    strcat(context, line);
    strcat(context, "|");
}

static int run_shell(const char *script, char lines[200], char said[512], struct cost *cost)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    int status = -1;
    struct st_error err;
    lines[0] = '\0';
    cr_assert_eq(gr_timed_program(argv, 1, join, lines, cost, &status, said, &err), ST_OK);
    return status;
}

Test(timed_program, hands_on_lines_status_and_last_words)
{
    char lines[200], said[512];
    struct cost cost;
    cr_expect_eq(run_shell("echo a; echo b; echo one >&2; echo two >&2; printf c; exit 3", lines,
                           said, &cost),
                 3);
    cr_expect_str_eq(lines, "a|b|c|");
    cr_expect_str_eq(said, "two");
    cr_expect_eq(run_shell("kill -SEGV $$", lines, said, &cost), 128 + 11);
    cr_expect_str_eq(said, "");
}

Test(timed_program, ends_a_program_that_does_not_end)
{
    char lines[200], said[512];
    struct cost cost;
    cr_expect_eq(run_shell("exec sleep 60", lines, said, &cost), 128 + 14);
    cr_expect_lt(cost.elapsed_s, 30);
    cr_expect_lt(cost.user_s, 1);
}

Test(timed_program, a_missing_program_is_status_127)
{
    const char *argv[] = {"/nonexistent/program", NULL};
    char lines[200] = "", said[512];
    struct cost cost;
    struct st_error err;
    int status;
    cr_assert_eq(gr_timed_program(argv, 1, join, lines, &cost, &status, said, &err), ST_OK);
    cr_expect_eq(status, 127);
}

/* The lines of GNU time, as version 1.9 printed them. */
Test(timed_program, cost_reads_as_gnu_time_prints_it)
{
    char text[256];
    struct cost cost = {5.47, 3.58, 5.219, 1234, 8, 16, 2, 99, 0};
    cr_expect_str_eq(cost_text(text, &cost),
                     "5.47user 3.58system 0:05.21elapsed 173%CPU (0avgtext+0avgdata "
                     "1234maxresident)k\n8inputs+16outputs (2major+99minor)pagefaults 0swaps");
    cost.elapsed_s = 3723.5;
    cr_expect(strstr(cost_text(text, &cost), " 1:02:03elapsed 0%CPU "), "%s", text);
}
