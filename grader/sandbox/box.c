/* With a sandbox, the chain of processes is
 *
 *     grader -> bwrap -> confine (process 1 of the sandbox) -> the program -> what it starts
 *
 * and without a sandbox: grader -> the program, in a separate group. In both cases the program dies
 * with the grader, and processes that it leaves behind become children of a process that ends them:
 * process 1, or the grader, which is a subreaper.
 *
 * In the sandbox, confine watches a pipe whose other end only the grader has. When that end closes,
 * confine ends, and all other processes with it. Neither the kernel (PR_SET_PDEATHSIG,
 * --die-with-parent, when the grader dies) nor the grader kills bubblewrap itself: bubblewrap first
 * creates process 1 and lets it continue a moment later; if bubblewrap died in between, process 1
 * would wait forever. */
#include "grader/sandbox/box.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "grader/sandbox/bwrap_command.h"
#include "grader/sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWN_CHILDREN_MAX = 64, MOVED_FROM = 64 };

static const double freeze_limit_s = 5, end_limit_s = 5;

/* ---- our own children and orphaned processes ------------------------------------------------ */

static pid_t own_children[OWN_CHILDREN_MAX];

static pid_t *own_child(pid_t pid)
{
    for (size_t i = 0; i < OWN_CHILDREN_MAX; i++)
        if (own_children[i] == pid)
            return &own_children[i];
    return NULL;
}

void gr_box_own_child(pid_t gone, pid_t come)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* a proof uses a separate thread */
    pthread_mutex_lock(&mutex);
    pid_t *slot = own_child(gone);
    if (slot)
        *slot = come;
    pthread_mutex_unlock(&mutex);
}

/* The next child of the grader that is not our own, from index *at of the list; 0: none. */
static pid_t next_stray(const struct gr_tree *children, size_t *at)
{
    while (*at < children->n) {
        const pid_t pid = children->pid[(*at)++];
        if (!own_child(pid))
            return pid;
    }
    return 0;
}

/* Kills orphaned processes, which become our children if there is no sandbox. */
static void kill_strays(void)
{
    struct gr_tree *children = malloc(sizeof *children);
    bool strays = children != NULL;
    for (int round = 0; round < 20 && strays; round++) {
        size_t at = 0;
        strays = false;
        gr_tree_children(children, getpid());
        for (pid_t pid; (pid = next_stray(children, &at));) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            strays = true;
        }
    }
    free(children);
}

/* ---- starting ------------------------------------------------------------------------------- */

/* The child process, after fork(), which may make only async-signal-safe calls. */
struct child {
    const struct gr_box_options *options;
    char *const *argv;
    const char *path;
    int descriptor[GR_BOX_DESCRIPTORS + GR_COMMAND_DESCRIPTORS];
    int descriptors;
    bool confined;
};

static void set_limit(int resource, size_t most)
{
    if (most)
        setrlimit(resource, &(struct rlimit){most, most});
}

static void become(struct child *c, pid_t parent)
{
    const struct gr_limits *l = &c->options->limits;
    sigset_t none;
    setpgid(0, 0);
    if (!c->confined)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (getppid() != parent)
        _exit(127);
    /* First move all descriptors above the fixed numbers, so that dup2() overwrites none. */
    const int null = open("/dev/null", O_RDONLY);
    for (int i = 0; i < c->descriptors; i++) {
        const int from = c->descriptor[i] >= 0 ? c->descriptor[i] : null;
        if ((c->descriptor[i] = fcntl(from, F_DUPFD, MOVED_FROM)) < 0)
            _exit(127);
    }
    for (int i = 0; i < c->descriptors; i++)
        if (dup2(c->descriptor[i], i) < 0)
            _exit(127);
    syscall(SYS_close_range, c->descriptors, ~0u, 0);
    if (!c->confined) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        set_limit(RLIMIT_FSIZE, l->file_bytes);
        set_limit(RLIMIT_CPU, l->cpu_s);
        set_limit(RLIMIT_DATA, l->heap_bytes);
        set_limit(RLIMIT_AS, l->address_bytes);
        if (chdir(c->options->folder) != 0)
            _exit(127);
    }
    execve(c->path, c->argv, c->options->environment);
    _exit(127);
}

static void start_plain(struct gr_box *box, const struct gr_box_options *o)
{
    const char *argv[64] = {o->name ? o->name : o->argv[0]};
    for (size_t i = 1; i < sizeof argv / sizeof *argv - 1 && o->argv[i]; i++)
        argv[i] = o->argv[i];
    struct child child = {.options = o,
                          .argv = (char *const *)argv,
                          .path = o->argv[0],
                          .descriptors = (int)o->descriptors};
    memcpy(child.descriptor, o->descriptor, sizeof o->descriptor);
    const pid_t parent = getpid();
    box->pid = fork();
    if (box->pid == 0)
        become(&child, parent);
}

/* The descriptors that only bubblewrap and confine get, not the program. */
struct private_ends {
    int filter, report[2], life[2];
};

static void close_all(int n, const int *fd)
{
    for (int i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

static enum st_code private_ends_open(struct private_ends *p, const struct gr_box_options *o,
                                      struct st_error *err)
{
    *p = (struct private_ends){-1, {-1, -1}, {-1, -1}};
    enum st_code code = gr_filter_open(&p->filter, o->loopback, gr_box_own_memory(o), err);
    if (!code && (pipe2(p->report, O_CLOEXEC) || pipe2(p->life, O_CLOEXEC))) {
        code = st_fail_errno(err, errno, "cannot create a pipe");
        close_all(1, &p->filter);
        close_all(2, p->report);
    }
    return code;
}

/* Checks that the user as whom a program of root runs in the sandbox can read the shown files. */
static enum st_code check_readable(const struct gr_box_options *o, struct st_error *err)
{
    struct stat info;
    for (size_t i = 0; o->sandbox->user && i < GR_BOX_SHOWN && o->shown[i]; i++) {
        if (stat(o->shown[i], &info) || !S_ISREG(info.st_mode) || info.st_mode & S_IROTH)
            continue;
        st_fail(err, ST_IO, "a program in the sandbox cannot read this file");
        st_detail(err, ST_WHERE, "%s", o->shown[i]);
        st_detail(
            err, ST_EXPECTED,
            "a file that everybody may read, because root's programs run in the sandbox as another user");
        st_detail(err, ST_GOT, "permissions %03o", info.st_mode & 0777);
        return st_detail(err, ST_HINT,
                         "run chmod a+r on it, and set umask 022 before you create files");
    }
    return ST_OK;
}

static enum st_code start_confined(struct gr_box *box, const struct gr_box_options *o,
                                   struct st_error *err)
{
    struct private_ends ends;
    struct child child = {.options = o, .path = o->sandbox->bwrap, .confined = true};
    enum st_code code = check_readable(o, err);
    if (!code)
        code = private_ends_open(&ends, o, err);
    if (code)
        return code;
    const int n = (int)o->descriptors;
    memcpy(child.descriptor, o->descriptor, sizeof o->descriptor);
    child.descriptor[n + GR_COMMAND_FILTER] = ends.filter;
    child.descriptor[n + GR_COMMAND_REPORT] = ends.report[1];
    child.descriptor[n + GR_COMMAND_LIFE] = ends.life[0];
    child.descriptors = n + GR_COMMAND_DESCRIPTORS;
    struct gr_command command;
    gr_command_make(&command, o);
    child.argv = command.argv;
    const pid_t parent = getpid();
    box->pid = command.full ? -1 : fork();
    if (box->pid == 0)
        become(&child, parent);
    const int why = command.full ? E2BIG : errno;
    gr_command_free(&command);
    close_all(3, (const int[]){ends.filter, ends.report[1], ends.life[0]});
    box->report = ends.report[0];
    box->life = ends.life[1];
    fcntl(box->report, F_SETFL, O_NONBLOCK);
    return box->pid > 0 ? ST_OK : st_fail_errno(err, why, "cannot start a process");
}

enum st_code gr_box_start(struct gr_box *box, const struct gr_box_options *o, struct st_error *err)
{
    enum st_code code = ST_OK;
    *box = GR_BOX_NONE;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (o->sandbox->on)
        code = start_confined(box, o, err);
    else
        start_plain(box, o);
    if (!code && box->pid < 0)
        code = st_fail_errno(err, errno, "cannot start a process");
    if (!code) {
        gr_box_own_child(0, box->pid);
        box->pidfd = (int)syscall(SYS_pidfd_open, box->pid, 0);
        if (box->pidfd < 0)
            code = st_fail_errno(err, errno, "cannot watch a process");
    }
    if (code) {
        box->pid = box->pid < 0 ? 0 : box->pid;
        gr_box_kill(box);
    }
    return code;
}

/* ---- processes in the box ------------------------------------------------------------------- */

/* The first child of a process; 0: none. */
static pid_t first_child(pid_t pid)
{
    struct gr_tree *children = malloc(sizeof *children);
    pid_t first = 0;
    if (children) {
        gr_tree_children(children, pid);
        first = children->n ? children->pid[0] : 0;
    }
    free(children);
    return first;
}

/* Process 1 of the sandbox, by its id outside. */
static pid_t first_process(struct gr_box *box)
{
    if (!box->first && box->pid > 0)
        box->first = first_child(box->pid);
    return box->first;
}

pid_t gr_box_program(struct gr_box *box)
{
    if (box->report < 0)
        return box->pid;
    /* Children are listed in the order of their creation; orphaned processes come last. */
    return first_process(box) ? first_child(box->first) : 0;
}

static void list_all(struct gr_tree *tree, void *context)
{
    struct gr_box *box = context;
    if (box->report >= 0) {
        if (first_process(box))
            gr_tree_add_below(tree, box->first);
        return;
    }
    struct gr_tree *children = malloc(sizeof *children);
    size_t at = 0;
    gr_tree_add(tree, box->pid);
    if (children)
        gr_tree_children(children, getpid());
    for (pid_t pid; children && (pid = next_stray(children, &at));)
        gr_tree_add(tree, pid);
    free(children);
}

bool gr_box_freeze(struct gr_box *box)
{
    if (!box->frozen)
        box->frozen = calloc(1, sizeof *box->frozen);
    return box->frozen && gr_tree_freeze(box->frozen, list_all, box, freeze_limit_s);
}

void gr_box_thaw(struct gr_box *box)
{
    if (box->frozen) {
        gr_tree_thaw(box->frozen);
        box->frozen->n = 0;
    }
}

size_t gr_box_memory_limit(void)
{
    return ((size_t)2 << 30) + (size_t)parallel_cores() * ((size_t)64 << 20);
}

void gr_box_usage(struct gr_box *box, size_t shared_bytes, size_t *processes, size_t *bytes)
{
    struct gr_tree *tree = calloc(1, sizeof *tree);
    *processes = *bytes = 0;
    if (tree && box->pid > 0) {
        list_all(tree, box);
        *processes = tree->n;
        *bytes = gr_tree_memory_bytes(tree, shared_bytes);
    }
    free(tree);
}

/* ---- the end of a box ----------------------------------------------------------------------- */

static void forget(struct gr_box *box)
{
    gr_box_own_child(box->pid, 0);
    box->pid = 0;
}

bool gr_box_wait(struct gr_box *box, int *status)
{
    bool started = true;
    *status = 0;
    while (waitpid(box->pid, status, 0) < 0 && errno == EINTR)
        continue;
    if (box->report >= 0) {
        started = read(box->report, status, sizeof *status) == sizeof *status;
    } else {
        kill(-box->pid, SIGKILL);
        kill_strays();
    }
    forget(box);
    return started;
}

static bool ends_within(int pidfd, double limit_s)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    const double until_s = clock_now_s() + limit_s;
    int ready = 0;
    for (double left_s; ready <= 0 && (left_s = until_s - clock_now_s()) > 0;)
        ready = poll(&end, 1, (int)(left_s * 1000) + 1);
    return ready > 0;
}

static double ended_cpu_s;

double gr_box_cpu_s(void)
{
    return ended_cpu_s;
}

/* Counts processor time now, because the kernel discards the times of processes that end with
 * process 1. */
static void count_cpu(struct gr_box *box)
{
    struct gr_tree *tree = calloc(1, sizeof *tree);
    if (tree) {
        list_all(tree, box);
        ended_cpu_s += gr_tree_cpu_s(tree);
    }
    free(tree);
}

/* Ends process 1, and with it all others in its namespace; then waits for bubblewrap to end by
 * itself: see the beginning of this file. */
static void end_confined(struct gr_box *box)
{
    count_cpu(box);
    close(box->life);
    box->life = -1;
    for (int round = 0; round < 2; round++) {
        if (first_process(box))
            kill(box->first, SIGKILL);
        if (ends_within(box->pidfd, end_limit_s))
            return;
    }
    kill(box->pid, SIGKILL);
}

void gr_box_kill(struct gr_box *box)
{
    if (box->pid > 0) {
        const bool plain = box->report < 0;
        if (plain)
            kill(-box->pid, SIGKILL), kill(box->pid, SIGKILL);
        else
            end_confined(box);
        while (waitpid(box->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        forget(box);
        if (plain)
            kill_strays();
    }
    close_all(3, (const int[]){box->pidfd, box->report, box->life});
    free(box->frozen);
    *box = GR_BOX_NONE;
}
