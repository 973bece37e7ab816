/* `grader sandbox`: reports, for people and scripts, whether this machine can confine students'
 code.
 */
#include "base/checkout.h"
#include "base/clock.h"
#include "base/option_table.h"
#include "grader/sandbox/filter.h"
#include "grader/sandbox/sandbox.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int gr_command_sandbox(int argc, char **argv);

int gr_command_sandbox(int argc, char **argv)
{
    struct arguments {
        bool calls;
    } a = {0};
    static const struct option_row rows[] = {
        {"calls", 'c', NULL, "list the system calls that end a program in the sandbox, as TSV",
         OPTION_FLAG(struct arguments, calls)},
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .about = "Report whether students' code can be confined on this machine."
                 "\vExit status: 0 yes, 2 no."};
    struct gr_sandbox sandbox;
    struct st_error err;
    options_parse(&table, argc, argv, &a);
    if (a.calls) {
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
        printf(", in a user namespace\n");
    printf("a trial took %.0f ms\n", (clock_now_s() - begin_s) * 1e3);
    return 0;
}
