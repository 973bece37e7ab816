/* Tests of a table of options: the value that each kind of row stores, and the one-line messages
 * for wrong usage. */
#include "base/option_table.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct arguments {
    bool quick;
    const char *out, *visible, *folder;
    size_t jobs;
    uint64_t seed;
    int cores, on, length, level;
};

static void take_length(void *to, char *text, const struct option_row *row,
                        struct argp_state *state)
{
    if (!*text)
        argp_error(state, "--%s: nothing", row->name);
    *(int *)to = (int)strlen(text);
}

static void refuse_quick_jobs(void *arguments, struct argp_state *state)
{
    const struct arguments *a = arguments;
    if (a->quick && a->jobs)
        argp_error(state, "--quick and --jobs exclude each other");
}

static struct arguments parse(int argc, const char *const *words)
{
    static const char *const visible[] = {"visible", "hidden", NULL};
    static const char *const devices[] = {"cpu", "gpu", "virtual", NULL};
    static const struct option_row rows[] = {
        {"out", 'o', "FILE", "where to write", OPTION_TEXT(struct arguments, out)},
        {"visible", 0, "V", "who sees it", OPTION_WORD(struct arguments, visible, visible)},
        OPTION_GROUP("How:"),
        {"quick", 0, NULL, "less", OPTION_FLAG(struct arguments, quick)},
        {"jobs", 'j', "N", "at once", OPTION_NUMBER(struct arguments, jobs, 1, 256)},
        OPTION_ALSO("tasks"),
        {"seed", 0, "N", "of the data", OPTION_NUMBER(struct arguments, seed, 0, UINT64_MAX)},
        {"cores", 0, "N", "threads", OPTION_INT(struct arguments, cores, 0, 64)},
        {"on", 0, "DEVICE", "where", OPTION_CHOICE(struct arguments, on, devices)},
        {"most", 0, NULL, "all of it", OPTION_SET(struct arguments, level, 9)},
        {"length", 0, "TEXT", NULL, OPTION_TAKE(struct arguments, length, take_length)},
        {.value = "folder", .help = "expected a folder", OPTION_OPERAND(struct arguments, folder)},
        {0}};
    static const struct option_table table = {
        .rows = rows, .operands = "DIR", .about = "Tries it.", .check = refuse_quick_jobs};
    struct arguments a = {.visible = "visible"};
    char *argv[16] = {"tool"};
    for (int i = 0; i < argc; i++)
        argv[i + 1] = (char *)words[i];
    options_parse(&table, argc + 1, argv, &a);
    return a;
}

#define PARSE(...)                                                                                 \
    parse(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                             \
          (const char *const[]){__VA_ARGS__})

Test(option_table, each_kind_is_stored_in_its_member)
{
    const struct arguments a =
        PARSE("--out=x", "--visible", "hidden", "-j", "256", "dir", "--seed",
              "18446744073709551615", "--cores=3", "--on=virtual", "--length", "four", "--most");
    cr_assert_str_eq(a.out, "x");
    cr_assert_str_eq(a.visible, "hidden");
    cr_assert_str_eq(a.folder, "dir");
    cr_assert_eq(a.jobs, 256);
    cr_assert_eq(a.seed, UINT64_MAX);
    cr_assert_eq(a.cores, 3);
    cr_assert_eq(a.on, 2);
    cr_assert_eq(a.length, 4);
    cr_assert_eq(a.level, 9);
    cr_assert_not(a.quick);
    cr_assert(PARSE("--quick", "--", "-dir").quick);
    cr_assert_eq(PARSE("--tasks=7", "dir").jobs, 7, "another name of --jobs");
    cr_assert_str_eq(PARSE("--", "-dir").folder, "-dir");
    cr_assert_str_eq(PARSE("dir").visible, "visible", "a missing option keeps its default");
}

/* Runs in a child process, which wrong usage ends. */
static void refuse(const char *expected, int argc, const char *const *words)
{
    int ends[2], status;
    char line[256] = "";
    cr_assert_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        parse(argc, words);
        _exit(0);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    cr_assert(fgets(line, sizeof line, in), "no error, expected: %s", expected);
    fclose(in);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    line[strcspn(line, "\n")] = '\0';
    cr_assert_str_eq(line, expected);
}

#define REFUSE(expected, ...)                                                                      \
    refuse(expected, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                  \
           (const char *const[]){__VA_ARGS__})

Test(option_table, wrong_usage_is_one_line_and_status_2)
{
    REFUSE("tool: --jobs: expected a whole number from 1 to 256, got '0'", "dir", "--jobs=0");
    REFUSE("tool: --jobs: expected a whole number from 1 to 256, got '257'", "dir", "-j257");
    REFUSE("tool: --jobs: expected a whole number from 1 to 256, got ''", "dir", "--jobs=");
    REFUSE("tool: --cores: expected a whole number from 0 to 64, got '-1'", "--cores=-1", "dir");
    REFUSE("tool: --seed: expected a whole number, got '1x'", "dir", "--seed", "1x");
    REFUSE("tool: --seed: expected a whole number, got '18446744073709551616'",
           "--seed=18446744073709551616", "dir");
    REFUSE("tool: --visible: expected visible or hidden, got 'hid'", "dir", "--visible=hid");
    REFUSE("tool: --on: expected cpu, gpu or virtual, got 'GPU'", "dir", "--on=GPU");
    REFUSE("tool: --length: nothing", "dir", "--length=");
    REFUSE("tool: expected one folder, got 'a' and 'b'", "a", "b");
    REFUSE("tool: expected a folder", "--quick");
    REFUSE("tool: --quick and --jobs exclude each other", "dir", "--quick", "-j2");
}

Test(option_table, lists_the_options_of_help)
{
    static const char *const devices[] = {"cpu", "gpu", NULL};
    static const struct option_row rows[] = {
        OPTION_GROUP("How:"),
        {"on", 'o', "DEVICE", "where", OPTION_CHOICE(struct arguments, on, devices)},
        OPTION_ALSO("at"),
        {"quick", 0, NULL, "less", OPTION_FLAG(struct arguments, quick)},
        {"length", 0, "TEXT", NULL, OPTION_TAKE(struct arguments, length, take_length)},
        {.value = "folder", OPTION_OPERAND(struct arguments, folder)},
        {0}};
    char *text;
    const struct option_table table = {.rows = rows, .operands = "DIR\nother ..."};
    PRINTED(text, options_list(out, &table));
    cr_expect_str_eq(text, "on\to\tDEVICE\tcpu gpu\twhere\n"
                           "at\t\tDEVICE\tcpu gpu\twhere\n"
                           "quick\t\t\t\tless\n"
                           "\t\tDIR\t\t\n");
    free(text);
}
