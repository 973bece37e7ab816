/* Compiles a student's file as make would, but in the sandbox (source_build.h).
 *
 *     compile-lab [--no-sandbox] SOURCE LIBRARY COMPILER ARGUMENT ...
 *
 * make starts this program (common/mk/labs.mk) with paths in the checkout, and with the command
 * that makes LIBRARY from SOURCE there. Exit status: 0 compiled, 1 the file does not compile, 2 the
 * compiler could not be run. The grader itself compiles labs in the same way. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/shown_path.h"
#include "grader/sandbox/source_build.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

enum { COMMAND_WORDS_MAX = 120 };

/* Blocks signals: a signal that interrupts the compiler must not leave the compiler's folder
 * behind. */
static int hold_signals(sigset_t *held)
{
    sigemptyset(held);
    sigaddset(held, SIGINT);
    sigaddset(held, SIGTERM);
    sigaddset(held, SIGHUP);
    sigprocmask(SIG_BLOCK, held, NULL);
    return signalfd(-1, held, SFD_CLOEXEC);
}

static bool is_interrupted(int stop)
{
    return poll(&(struct pollfd){.fd = stop, .events = POLLIN}, 1, 0) == 1;
}

static void print_said(const struct gr_source_build *b, const struct gr_lab_files *lab)
{
    char path[PATH_MAX], here[PATH_MAX], said[2 * sizeof b->said];
    path_format(path, sizeof path, "%s/%s", lab->root, lab->source);
    const char *source = checkout_from_here(path, here);
    paths_show(said, sizeof said, b->said, source);
    const size_t length = strlen(said);
    if (!b->built && strcmp(b->pattern, "compile_error") != 0)
        fprintf(stderr, "%s: ", source);
    fputs(said, stderr);
    if (length && said[length - 1] != '\n')
        fputc('\n', stderr);
}

static enum st_code compile(const struct gr_lab_files *lab, enum gr_sandbox_wish wish,
                            const char *const *command, int stop, bool *compiled,
                            struct st_error *err)
{
    struct gr_sandbox sandbox;
    static struct gr_source_build build;
    const char *programs = checkout_build(err);
    enum st_code code = programs ? gr_sandbox_open(&sandbox, wish, programs, err) : err->code;
    if (code)
        return code;
    if (!sandbox.on)
        fprintf(stderr, "not sandboxed: %s\n", sandbox.reason);
    code = gr_lab_build(&build, &sandbox, lab, command, stop, err);
    if (!code && !is_interrupted(stop))
        print_said(&build, lab);
    if (!code)
        code = gr_lab_install(&build, &sandbox, lab, err);
    *compiled = build.built;
    gr_source_build_free(&build);
    return code;
}

int main(int argc, char **argv)
{
    struct st_error err;
    sigset_t held;
    bool compiled = false;
    const bool alone = argc > 1 && strcmp(argv[1], "--no-sandbox") == 0;
    const char *const *words = (const char *const *)argv + 1 + alone;
    const int n = argc - 1 - alone;
    if (n < 3 || n > COMMAND_WORDS_MAX) {
        fprintf(stderr, "usage: compile-lab [--no-sandbox] SOURCE LIBRARY COMPILER ARGUMENT ...\n");
        return 2;
    }
    const struct gr_lab_files lab = {checkout_root(&err), words[0], words[1]};
    const int stop = hold_signals(&held);
    const enum st_code code = lab.root
                                  ? compile(&lab, alone ? GR_SANDBOX_NEVER : GR_SANDBOX_IF_POSSIBLE,
                                            words + 2, stop, &compiled, &err)
                                  : err.code;
    sigprocmask(SIG_UNBLOCK, &held, NULL); /* a signal that arrived meanwhile ends this process
                                              here */
    if (code) {
        st_print(stderr, "compile-lab", &err);
        return 2;
    }
    return compiled ? 0 : 1;
}
