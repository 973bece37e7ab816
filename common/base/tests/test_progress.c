/* Tests of progress: the text of the line, and that only a terminal gets it. */
#include "base/progress.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char line[200];

Test(progress, counts_and_says_how_long_is_left)
{
    struct progress_state p = {.label = "unit shapes", .unit = "shapes", .begin_s = 100};
    cr_expect_str_eq(progress_line(line, &p, 100.5, 80), "unit shapes");
    progress_take(&p, 10, 50, 101);
    cr_expect_str_eq(progress_line(line, &p, 101, 80), "unit shapes: 10 of 50 shapes, 1 s");
    progress_take(&p, 20, 50, 104);
    cr_expect_str_eq(progress_line(line, &p, 104, 80),
                     "unit shapes: 20 of 50 shapes, 4 s, about 6 s left");
    cr_expect_str_eq(progress_line(line, &p, 109, 80),
                     "unit shapes: 20 of 50 shapes, 9 s, about 1 s left");
    cr_expect_str_eq(progress_line(line, &p, 111, 80), "unit shapes: 20 of 50 shapes, 11 s",
                     "longer than expected: the time left is unknown");
    progress_take(&p, 50, 50, 112);
    cr_expect_str_eq(progress_line(line, &p, 112, 80), "unit shapes: 50 of 50 shapes, 12 s");
}

Test(progress, without_a_count_names_the_expected_time)
{
    struct progress_state p = {.label = "compiling", .begin_s = 100};
    cr_expect_str_eq(progress_line(line, &p, 103, 80), "compiling: 3 s");
    p.expected_s = 10;
    cr_expect_str_eq(progress_line(line, &p, 103, 80), "compiling: 3 s, about 7 s left");
    cr_expect_str_eq(progress_line(line, &p, 111, 80), "compiling: 11 s");
    cr_expect_str_eq(progress_line(line, &p, 103, 12), "compiling: 3");
}

/* The time of one launch among several does not predict the others. */
Test(progress, blocks_of_one_launch_give_an_estimate_and_those_of_many_do_not)
{
    struct progress_shared shared = {.steps = 8};
    struct progress_state p = {
        .label = "y", .unit = "blocks", .begin_s = 100, .from = &shared, .first_step = 7};
    progress_take(&p, 25, 100, 105);
    cr_expect_str_eq(progress_line(line, &p, 105, 80), "y: 25 of 100 blocks, 5 s, about 15 s left");
    shared.steps = 9;
    cr_expect_str_eq(progress_line(line, &p, 105, 80), "y: kernel 2, 25 of 100 blocks, 5 s");
    p.expected_s = 9;
    cr_expect_str_eq(progress_line(line, &p, 105, 80),
                     "y: kernel 2, 25 of 100 blocks, 5 s, about 4 s left");
    shared.steps = 8;
    p.program = true; /* more launches follow: only the expected time predicts the rest */
    cr_expect_str_eq(progress_line(line, &p, 105, 80),
                     "y: kernel 1, 25 of 100 blocks, 5 s, about 4 s left");
}

/* Shows progress in a child process with stderr @p fd, until @p enough is readable. */
static pid_t work(int fd, int enough)
{
    static struct progress_shared shared;
    const pid_t child = fork();
    if (child)
        return child;
    struct pollfd end = {.fd = enough, .events = POLLIN};
    dup2(fd, STDERR_FILENO);
    progress_begin("blocks of %s", "m3");
    progress_follow(&shared, "blocks", false);
    do {
        atomic_store(&shared.total, 70);
        atomic_store(&shared.done, 5);
    } while (poll(&end, 1, 50) == 0);
    progress_clear();
    usleep(400000); /* no line is drawn meanwhile */
    _exit(write(fd, "END", 3) == 3 ? 0 : 1);
}

/* Reads until the text @p last arrives. */
static void read_until(int fd, char text[4096], const char *last)
{
    size_t used = 0;
    text[0] = '\0';
    while (!strstr(text, last)) {
        const ssize_t got = read(fd, text + used, 4095 - used);
        cr_assert(got > 0, "%s", text);
        text[used += (size_t)got] = '\0';
    }
}

Test(progress, a_terminal_gets_lines_and_is_left_clean, .timeout = 60)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(master >= 0 && !grantpt(master) && !unlockpt(master));
    const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    int enough[2];
    char text[4096];
    cr_assert(slave >= 0 && !pipe(enough));
    const pid_t child = work(slave, enough[0]);
    close(slave); /* if the child ends too early, reading fails */
    read_until(master, text, "blocks of m3: 5 of 70 blocks");
    cr_assert_eq(write(enough[1], "x", 1), 1);
    read_until(master, text, "END");
    cr_expect_eq(strcmp(text + strlen(text) - 7, "\r\033[KEND"), 0, "%s", text);
    cr_expect_eq(waitpid(child, NULL, 0), child);
}

Test(progress, nothing_else_gets_any, .timeout = 60)
{
    int ends[2], enough[2];
    char text[4096];
    cr_assert(!pipe(ends) && !pipe(enough));
    const pid_t child = work(ends[1], enough[0]);
    usleep(600000);
    cr_assert_eq(write(enough[1], "x", 1), 1);
    read_until(ends[0], text, "END");
    cr_expect_str_eq(text, "END");
    cr_expect_eq(waitpid(child, NULL, 0), child);
}
