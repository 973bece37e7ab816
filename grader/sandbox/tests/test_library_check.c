#include "grader/sandbox/library_check.h"

#include "base/tests/run_tool.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Test(library_check, what_does_a_labs_work_for_it_is_found)
{
    static const struct {
        const char *code, *flags, *found;
    } cases[] = {
        {"#include <math.h>\\nfloat f(float x) { return sinf(x); }", "-fopenmp -lm", ""},
        {"int f(void) { return 0; }", "-Wl,--no-as-needed -lz", "is linked with libz.so.1"},
        {"#include <dlfcn.h>\\nvoid *f(void) { return dlopen(0, 2); }", "", ""},
        {"#include <stdlib.h>\\nint f(void) { return system(0); }", "", "calls system()"},
        {"static void dlopen_all(void) {} void f(void) { dlopen_all(); }", "", ""},
    };
    struct gr_sandbox sandbox;
    struct st_error err;
    char folder[] = "/tmp/test-library-XXXXXX", command[600], library[64], message[400];
    cr_assert(mkdtemp(folder) != NULL && access(folder, X_OK) == 0);
    cr_assert(
        eq(int, gr_sandbox_open(&sandbox, GR_SANDBOX_IF_POSSIBLE, tool_build(), &err), ST_OK));
    snprintf(library, sizeof library, "%s/lib.so", folder);
    umask(022); /* (the sandbox's user, who may be another user, must be able to read it) */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message[0] = '\0';
        snprintf(command, sizeof command, "printf '%s' | gcc -x c -shared -fPIC - -o %s %s",
                 cases[i].code, library, cases[i].flags);
        cr_assert(system(command) == 0);
        const bool plain = gr_library_is_plain(&sandbox, library, message, sizeof message);
        cr_expect(plain == !cases[i].found[0] && strstr(message, cases[i].found) != NULL,
                  "%s: '%s'", cases[i].code, message);
    }
    /* A library whose imports cannot be listed completely is not plain. */
    static const struct {
        const char *maker, *found;
    } unlisted[] = {
        {"printf '\\177ELFnonsense' >%s", "file format not recognized"},
        {"seq -f 'void a_function_that_the_table_names_%%.0f(void) {}' 5000 | "
         "gcc -x c -shared -fPIC - -o %s",
         "too many symbols"},
    };
    for (size_t i = 0; i < sizeof unlisted / sizeof *unlisted; i++) {
        snprintf(command, sizeof command, unlisted[i].maker, library);
        cr_assert(system(command) == 0);
        cr_expect(not(gr_library_is_plain(&sandbox, library, message, sizeof message)));
        cr_expect(strstr(message, unlisted[i].found) != NULL, "%s", message);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert(system(command) == 0);
}
