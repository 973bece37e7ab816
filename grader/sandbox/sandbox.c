/* Checks whether this machine has a sandbox that works. box.c starts it. */
#include "grader/sandbox/sandbox.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/process.h"
#include "grader/sandbox/box.h"
#include "grader/sandbox/confine.h"
#include "base/printable.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRY_LIMIT_MS = 10000, USER_FIRST = 0x40000000, USER_NOBODY = 65534 };

/* The user as whom root's programs run: an unused user id, different for every grader. In a
 * container with mapped user ids, ids as large as this may not exist. */
static unsigned user_for_root(void)
{
    unsigned inside, outside, n = 0;
    FILE *f = fopen("/proc/self/uid_map", "re");
    const bool all = f && fscanf(f, "%u %u %u", &inside, &outside, &n) == 3 && n > 2u * USER_FIRST;
    if (f)
        fclose(f);
    return all ? USER_FIRST + (unsigned)getpid() : USER_NOBODY;
}

/* Runs a trivial program in a sandbox. @return whether that worked; @p said is set to its
 * output. */
static bool works(const struct gr_sandbox *sandbox, char *said, size_t room)
{
    const char *const argv[] = {CONFINE_AT, "--try", NULL};
    char *const environment[] = {NULL};
    struct gr_box box;
    struct st_error err;
    int out[2], status = -1;
    said[0] = '\0';
    if (pipe2(out, O_CLOEXEC | O_NONBLOCK))
        return false;
    const struct gr_box_options options = {.sandbox = sandbox,
                                           .argv = argv,
                                           .environment = environment,
                                           .folder = "/",
                                           .descriptor = {-1, out[1], out[1]},
                                           .descriptors = 3};
    bool good = gr_box_start(&box, &options, &err) == ST_OK;
    close(out[1]);
    if (good) {
        struct pollfd end = {.fd = box.pidfd, .events = POLLIN};
        good = poll(&end, 1, TRY_LIMIT_MS) == 1;
        if (good)
            good = gr_box_wait(&box, &status) && status == 0;
        gr_box_kill(&box);
    }
    const ssize_t n = read(out[0], said, room - 1);
    said[n > 0 ? n : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    close(out[0]);
    return good;
}

static void try_it(struct gr_sandbox *s)
{
    char said[200] = "";
    if (!process_find(getenv("PATH"), "bwrap", s->bwrap)) {
        snprintf(s->reason, sizeof s->reason, "bubblewrap is not installed");
        return;
    }
    const bool root = geteuid() == 0;
    s->on = true; /* set only during the trial */
    if (root) {
        s->user = user_for_root();
        if (works(s, said, sizeof said))
            return;
    }
    s->user = 0;
    s->own_users = true;
    if (works(s, said, sizeof said))
        return;
    s->on = false;
    char shown[200];
    snprintf(s->reason, sizeof s->reason, "bubblewrap does not work on this machine%s%.200s",
             said[0] ? ": " : "", text_printable(shown, sizeof shown, said));
}

enum st_code gr_sandbox_open(struct gr_sandbox *sandbox, enum gr_sandbox_wish wish,
                             const char *build, struct st_error *err)
{
    static struct gr_sandbox known;
    static bool tried;
    *sandbox = (struct gr_sandbox){.on = false};
    if (wish == GR_SANDBOX_NEVER) {
        snprintf(sandbox->reason, sizeof sandbox->reason, "--no-sandbox");
        return ST_OK;
    }
    if (!tried) {
        const char *root = checkout_root(err);
        if (!root)
            return err->code;
        path_format(known.checkout, sizeof known.checkout, "%s", root);
        path_format(known.confine, sizeof known.confine, "%s/confine", build);
        if (file_exists(known.confine))
            try_it(&known);
        else
            snprintf(known.reason, sizeof known.reason, "%s does not exist", known.confine);
        tried = true;
    }
    *sandbox = known;
    if (sandbox->on || wish != GR_SANDBOX_REQUIRED)
        return ST_OK;
    st_fail(
        err, ST_MISSING_TOOL,
        "students' programs cannot be confined on this machine, but --require-sandbox was given");
    st_detail(err, ST_GOT, "%s", known.reason);
    return st_detail(err, ST_HINT, "install bubblewrap, or omit --require-sandbox");
}
