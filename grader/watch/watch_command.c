/* grader watch mN: grades a milestone's file whenever it is saved. */
#include "grader/course/milestone.h"
#include "grader/course/options.h"
#include "grader/watch/saved_file.h"

#include "base/checkout.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* SETTLE_MS: time to wait after a save, because an editor saves in several steps.
 * GRACE_MS: time that a grading has to end. */
enum { SETTLE_MS = 100, GRACE_MS = 2000, ARGUMENTS = 24 };

struct watch {
    struct gr_options asked;
    struct gr_milestone milestone;
    struct saved_file file;
    const char *argv[ARGUMENTS];
    char program[PATH_MAX], images[GR_IMAGES_CHARS];
    sigset_t signals;
    int signal_fd;
    pid_t child; /* process of the running grading, or 0 */
    bool saved;  /* the file was touched after it was last read */
    bool ended;  /* a signal asked us to end */
    bool lost;   /* the folder no longer exists */
};

/* ---- the grading ------------------------------------------------------------------------------ */

static void add(struct watch *w, size_t *n, const char *option, const char *value)
{
    if (!value)
        return;
    w->argv[(*n)++] = option;
    w->argv[(*n)++] = value;
}

static void make_command(struct watch *w)
{
    const struct gr_options *o = &w->asked;
    size_t n = 0;
    w->argv[n++] = "grader";
    w->argv[n++] = w->milestone.id;
    w->argv[n++] = "--quick";
    w->argv[n++] = "--first-failure";
    if (o->profile)
        w->argv[n++] = "--profile";
    add(w, &n, "--source", o->file);
    add(w, &n, "--device", o->device);
    add(w, &n, "--engine", o->engine);
    add(w, &n, "--model", o->model);
    if (o->sizes_given)
        add(w, &n, "--images", gr_options_images(o, w->images));
    w->argv[n] = NULL;
}

/* The child process, in a separate process group: Ctrl-C is meant for us, and we end the whole
 * group. */
static _Noreturn void become(const struct watch *w, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &w->signals, NULL);
    const int null = open("/dev/null", O_RDONLY);
    if (getppid() == parent && null >= 0 && dup2(null, STDIN_FILENO) >= 0)
        execv(w->program, (char *const *)w->argv);
    _exit(127);
}

static void print_begin(const struct watch *w)
{
    char clock[16], here[PATH_MAX];
    const time_t now = time(NULL);
    struct tm local;
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &local));
    printf("\n---- %s %s\n", clock, checkout_from_here(w->file.path, here));
    fflush(stdout);
}

static enum st_code start(struct watch *w, struct st_error *err)
{
    const pid_t self = getpid();
    print_begin(w);
    w->child = fork();
    if (w->child == 0)
        become(w, self);
    if (w->child > 0) {
        setpgid(w->child, w->child); /* in both processes, because either one may run first */
        return ST_OK;
    }
    w->child = 0;
    return st_fail_errno(err, errno, "cannot start a grading");
}

/* @return whether the grading has ended, so that none is running. */
static bool has_ended(struct watch *w, int *status)
{
    if (!w->child || waitpid(w->child, status, WNOHANG) != w->child)
        return false;
    w->child = 0;
    return true;
}

/* Ends the running grading, if there is one. */
static void stop(struct watch *w)
{
    int status;
    const struct timespec step = {.tv_nsec = 20 * 1000000};
    if (!w->child)
        return;
    kill(-w->child, SIGTERM);
    for (int ms = 0; ms < GRACE_MS && !has_ended(w, &status); ms += 20)
        nanosleep(&step, NULL);
    if (!w->child)
        return;
    kill(-w->child, SIGKILL);
    waitpid(w->child, &status, 0);
    w->child = 0;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static void take_signals(struct watch *w)
{
    struct signalfd_siginfo info;
    while (read(w->signal_fd, &info, sizeof info) == sizeof info)
        w->ended = w->ended || info.ssi_signo != SIGCHLD;
}

/* Waits for a save, a signal or the end of the grading. @param ms  the time limit; -1: none
 * @return whether there was an event */
static bool wait_for_any(struct watch *w, int ms)
{
    struct pollfd fds[] = {{.fd = w->file.fd, .events = POLLIN},
                           {.fd = w->signal_fd, .events = POLLIN}};
    const bool any = poll(fds, 2, ms) > 0;
    take_signals(w);
    w->saved = saved_file_touched(&w->file, &w->lost) || w->saved;
    return any;
}

static enum st_code report_lost(const struct watch *w, struct st_error *err)
{
    st_fail(err, ST_NOT_FOUND, "the watched folder no longer exists");
    st_detail(err, ST_WHERE, "%s", w->file.path);
    return st_detail(err, ST_HINT, "start grader watch again when the folder exists");
}

static void print_waiting(const struct watch *w, int status)
{
    if (WIFSIGNALED(status))
        printf("The grading was ended by signal %d.\n", WTERMSIG(status));
    printf("Waiting until %s is saved (Ctrl-C ends)\n", strrchr(w->file.path, '/') + 1);
    fflush(stdout);
}

/* Handles a save: ends the grading of the previous contents. */
static enum st_code follow(struct watch *w, struct st_error *err)
{
    int status = 0;
    enum st_code code = ST_OK;
    if (file_exists(w->file.path))
        code = start(w, err);
    else
        print_waiting(w, status);
    while (!code && !w->ended && !w->lost) {
        wait_for_any(w, -1);
        if (has_ended(w, &status))
            print_waiting(w, status);
        while (w->saved && !w->ended && !w->lost && wait_for_any(w, SETTLE_MS))
            ;
        if (w->saved && !w->ended && saved_file_changed(&w->file)) {
            if (w->child)
                puts("Saved again: this grading stops.");
            stop(w);
            code = start(w, err);
        }
        w->saved = false;
    }
    stop(w);
    return w->lost && !code && !w->ended ? report_lost(w, err) : code;
}

/* ---- the command ------------------------------------------------------------------------------ */

/* Receives signals as events. A signal that the parent process has set to be ignored would never
 * arrive. */
static enum st_code take_over_signals(struct watch *w, struct st_error *err)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    sigemptyset(&w->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        signal(numbers[i], SIG_DFL);
        sigaddset(&w->signals, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &w->signals, NULL);
    w->signal_fd = signalfd(-1, &w->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return w->signal_fd >= 0 ? ST_OK : st_fail_errno(err, errno, "cannot wait for signals");
}

static enum st_code run(struct watch *w, struct st_error *err)
{
    char path[PATH_MAX];
    enum st_code code = gr_milestone_find(&w->milestone, w->asked.milestone, err);
    if (!code && w->milestone.libraries)
        code = st_fail(err, ST_USAGE, "%s has no file to watch", w->milestone.id);
    const char *build = code ? NULL : checkout_build(err);
    if (!build)
        return code ? code : err->code;
    path_format(w->program, sizeof w->program, "%s/grader", build);
    path_format(path, sizeof path, "%s%s", !w->asked.file || strchr(w->asked.file, '/') ? "" : "./",
                w->asked.file ? w->asked.file : w->milestone.lab_source);
    make_command(w);
    code = take_over_signals(w, err);
    if (!code)
        code = saved_file_open(&w->file, path, err);
    if (!code)
        code = follow(w, err);
    saved_file_close(&w->file);
    return code;
}

int gr_command_watch(int argc, char **argv);
int gr_command_watch(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"source", 0, "FILE", "watch and grade this file instead of the lab's",
         OPTION_TEXT(struct watch, asked.file)},
        {"profile", 0, NULL, "also profile each version, for grader diff",
         OPTION_FLAG(struct watch, asked.profile)},
        GR_OPTION_ROWS(offsetof(struct watch, asked)),
        {.value = "milestone",
         .help = "expected a milestone, for example: grader watch m3",
         OPTION_OPERAND(struct watch, asked.milestone)},
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "MILESTONE",
        .about =
            "Build and grade a milestone's file now and after every save, as with --quick --first-failure: the first failed check is the last one printed. A save stops the grading of the previous version. Saving an unchanged file does nothing.\v"
            "Ctrl-C ends it. Exit status: 0 ended by Ctrl-C, 2 the file cannot be watched."};
    struct watch *w = calloc(1, sizeof *w);
    struct st_error err;
    enum st_code code = ST_OK;
    if (w) {
        w->asked = gr_options_default();
        options_parse(&table, argc, argv, w);
        code = run(w, &err);
    } else {
        code = st_fail(&err, ST_NO_MEMORY, "out of memory for the watched source");
    }
    if (code) {
        fflush(stdout);
        st_print(stderr, argv[0], &err);
    }
    free(w);
    return code ? 2 : 0;
}
