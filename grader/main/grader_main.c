/* The grader: `grader m1` builds the lab, runs it in the harness, checks and times it, and writes a
 * report. The stages are in grading.c; this file parses the command line, calls the stages and sets
 * the exit status. The other commands (`grader NAME ...`, commands.def) are in separate files. */
#include "base/progress.h"
#include "grader/main/command_line.h"
#include "grader/stages/grading.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_GRADED = 0, EXIT_SUBMISSION_FAILED = 1, EXIT_NOT_GRADED = 2 };

/* Keeps the command as it was typed: labs/grader starts this program with a path through its own
 * folder. */
static void keep_command(struct gr_result *result, int argc, char **argv)
{
    static const char through[] = "/../build/grader";
    const char *wrapped = strstr(argv[0], through);
    size_t used = wrapped && !wrapped[sizeof through - 1]
                      ? (size_t)snprintf(result->command, sizeof result->command, "%.*s/grader",
                                         (int)(wrapped - argv[0]), argv[0])
                      : (size_t)snprintf(result->command, sizeof result->command, "%s", argv[0]);
    for (int i = 1; i < argc && used < sizeof result->command; i++)
        used +=
            (size_t)snprintf(result->command + used, sizeof result->command - used, " %s", argv[i]);
}

/* The exit status: 0 only if every requested check passed. A skipped check means that the
 * submission could not be graded, unless a failed check is the reason. */
static int verdict(const struct gr_result *r)
{
    int status = EXIT_GRADED;
    for (size_t i = 0; i < r->checks; i++) {
        if (r->check[i].status == GR_FAIL)
            return EXIT_SUBMISSION_FAILED;
        if (r->check[i].status == GR_SKIP && r->check[i].required)
            status = EXIT_NOT_GRADED;
    }
    return status;
}

#define COMMAND(name, summary) int gr_command_##name(int argc, char **argv);
#include "grader/main/commands.def"
#undef COMMAND

/* The command whose name is the first argument; NULL: the argument is a milestone to grade. */
static int (*command_named(const char *word))(int, char **)
{
#define COMMAND(name, summary)                                                                     \
    if (strcmp(word, #name) == 0)                                                                  \
        return gr_command_##name;
#include "grader/main/commands.def"
#undef COMMAND
    (void)word;
    return NULL;
}

/* Runs a command with the rest of the arguments; argv[0] is the prefix of its messages. */
static int run_command(int (*command)(int, char **), int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof name, "grader %s", argv[1]);
    argv[1] = name;
    return command(argc - 1, argv + 1);
}

/* Grades options->milestone. @param kept  see struct grading @return the exit status */
static int grade(const struct gr_options *options, struct gr_result *result, struct arena *kept)
{
    struct st_error err = {0};
    struct grading g = {.options = options,
                        .result = result,
                        .kept = kept,
                        .out = options->json && strcmp(options->json, "-") == 0 ? stderr : stdout};
    enum st_code code = gr_grade(&g, &err);
    int status = code ? EXIT_NOT_GRADED : verdict(result);
    progress_clear();
    if (!code) {
        gr_output_print(g.out, &g.session.output, g.host.source, options->first_failure);
        gr_score_print(g.out, result);
        code = gr_outputs_write(&g, &err);
    }
    if (code) {
        fflush(g.out);
        st_print(stderr, "grader", &err);
        status = EXIT_NOT_GRADED;
    }
    gr_grading_free(&g);
    return status;
}

int main(int argc, char **argv)
{
    int (*command)(int, char **) = argc > 1 ? command_named(argv[1]) : NULL;
    if (command)
        return run_command(command, argc, argv);
    struct gr_options options;
    struct st_error err = {0};
    struct gr_result *begun = calloc(1, sizeof *begun), *result = malloc(sizeof *result);
    if (!begun || !result) {
        st_fail(&err, ST_NO_MEMORY, "out of memory for a result");
        st_print(stderr, "grader", &err);
        free(begun);
        free(result);
        return EXIT_NOT_GRADED;
    }
    keep_command(begun, argc, argv); /* before parsing, which moves options to the front */
    gr_options_parse(&options, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    struct arena kept = {.fd = -1};
    int worst = EXIT_GRADED;
    for (size_t i = 0; i < options.milestone_count; i++) {
        options.milestone = options.milestones[i];
        *result = *begun;
        const int status = grade(&options, result, &kept);
        worst = status > worst ? status : worst;
    }
    arena_close(&kept);
    free(begun);
    free(result);
    return worst;
}
