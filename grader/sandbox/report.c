/* `grader sandbox`: whether this machine can confine students' code, for a person and for scripts.
 */
#include "base/checkout.h"
#include "base/clock.h"
#include "grader/sandbox/filter.h"
#include "grader/sandbox/sandbox.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int gr_command_sandbox(int argc, char **argv);

static const struct argp_option option_table[] = {
    {"calls", 'c', 0, 0, "list the system calls that end a program in the sandbox, as TSV", 0},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    bool *calls = state->input;
    (void)arg;
    if (key != 'c')
        return ARGP_ERR_UNKNOWN;
    *calls = true;
    return 0;
}

int gr_command_sandbox(int argc, char **argv)
{
    bool calls = false;
    const struct argp argp = {.options = option_table,
                              .parser = parse_option,
                              .doc = "Say whether students' code can be confined on this machine."
                                     "\vExit status: 0 it can, 2 it cannot."};
    struct gr_sandbox sandbox;
    struct st_error err;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &calls);
    if (calls) {
        printf("call\tpurpose\n");
        gr_filter_print(stdout);
        return 0;
    }
    const char *build = checkout_build(&err);
    const double begin_s = clock_now_s();
    enum st_code code =
        build ? gr_sandbox_open(&sandbox, GR_SANDBOX_IF_POSSIBLE, build, &err) : err.code;
    if (code) {
        st_print(stderr, argv[0], &err);
        return 2;
    }
    if (!sandbox.on) {
        printf("not sandboxed: %s\n", sandbox.reason);
        return 2;
    }
    printf("sandboxed: %s", sandbox.bwrap);
    if (sandbox.user)
        printf(", as user %u\n", sandbox.user);
    else
        printf(", in a user name space\n");
    printf("a trial took %.0f ms\n", (clock_now_s() - begin_s) * 1e3);
    return 0;
}
