#include "grader/class/task.h"

#include "base/checkout.h"
#include "base/clock.h"
#include "base/cost.h"
#include "base/files.h"
#include "grader/class/class_options.h"
#include "grader/place/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 32 };

uint64_t cl_task_seed(uint64_t class_seed, const char *name, const char *milestone)
{
    struct sha256 hash;
    unsigned char digest[SHA256_BYTES];
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, class_seed);
    sha256_begin(&hash);
    sha256_add(&hash, seed, strlen(seed) + 1);
    sha256_add(&hash, name, strlen(name) + 1);
    sha256_add(&hash, milestone, strlen(milestone) + 1);
    sha256_end(&hash, digest);
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | digest[i];
    return value % 1000000000; /* small enough to be typed */
}

bool cl_task_folder(const char *files, const struct cl_task *task, char folder[PATH_MAX])
{
    char safe[256];
    return path_format(folder, PATH_MAX, "%s/%s/%s/%" PRId64, files,
                       cl_name_folder(safe, task->submission), task->milestone, task->number);
}

/* ---- noise ---------------------------------------------------------------------------------- */

/* The file SUBMISSION/MILESTONE/N.noisy, and the contents it must have. */
struct mark {
    char path[PATH_MAX], text[SHA256_HEX + 1100];
};

static bool mark_of(struct mark *m, const struct cl_class *class, const struct cl_task *task)
{
    char folder[PATH_MAX];
    snprintf(m->text, sizeof m->text, "%s %" PRIu64 " %s\n", task->source_hash, task->seed,
             class->options->flags);
    return cl_task_folder(class->files, task, folder) &&
           path_format(m->path, sizeof m->path, "%s.noisy", folder);
}

void cl_task_mark_noisy(const struct cl_class *class, const struct cl_task *task)
{
    struct mark m;
    if (mark_of(&m, class, task))
        file_write(m.path, m.text, strlen(m.text), NULL);
}

bool cl_task_was_noisy(const struct cl_class *class, const struct cl_task *task)
{
    struct mark m;
    char *text;
    size_t bytes;
    if (!mark_of(&m, class, task) || file_read(m.path, sizeof m.text, &text, &bytes, NULL))
        return false;
    const bool same = bytes == strlen(m.text) && memcmp(text, m.text, bytes) == 0;
    free(text);
    return same;
}

void cl_task_unmark_noisy(const struct cl_class *class, const struct cl_task *task)
{
    struct mark m;
    if (mark_of(&m, class, task))
        unlink(m.path);
}

/* ---- starting ------------------------------------------------------------------------------- */

/* The grader's command line. Its words point into the arrays. */
struct command {
    const char *argv[MAX_ARGUMENTS];
    char program[PATH_MAX], source[PATH_MAX], json[PATH_MAX], report[PATH_MAX], log[PATH_MAX];
    char waits[PATH_MAX];
    char seed[32], images[GR_IMAGES_CHARS];
};

static void make_command(struct command *c, const struct cl_options *o, const struct cl_task *task,
                         const char *folder, const char *build)
{
    size_t n = 0;
    path_format(c->program, sizeof c->program, "%s/grader", build);
    path_format(c->source, sizeof c->source, "%s%s", folder, strrchr(task->source, '/'));
    path_format(c->json, sizeof c->json, "%s/result.json", folder);
    path_format(c->report, sizeof c->report, "%s/report", folder);
    path_format(c->log, sizeof c->log, "%s/log.txt", folder);
    path_format(c->waits, sizeof c->waits, "%s/waits", folder);
    snprintf(c->seed, sizeof c->seed, "%" PRIu64, task->seed);
    const char *const words[] = {c->program, task->milestone, "--source", c->source,
                                 "--json",   c->json,         "--report", c->report,
                                 "--seed",   c->seed,         NULL};
    for (; words[n]; n++)
        c->argv[n] = words[n];
    n += cl_options_passed(o, hi_file_is_cuda(task->source), c->images, c->argv + n);
    c->argv[n++] = o->no_sandbox ? "--no-sandbox" : "--require-sandbox";
    c->argv[n] = NULL;
}

/* The child process: becomes the grader, in a separate process group that can be killed as a whole
 * and that dies with the class's process. */
static _Noreturn void become(const struct command *c, const struct cl_place *place,
                             const char *files, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    cl_place_enter(place, files);
    setenv(GR_TIMING_WAITS, c->waits, 1);
    int null = open("/dev/null", O_RDONLY);
    int log = open(c->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(127);
    execv(c->argv[0], (char *const *)c->argv);
    _exit(127);
}

enum st_code cl_task_start(const struct cl_options *options, const char *files,
                           const struct cl_task *task, const struct cl_place *place, pid_t *pid,
                           struct st_error *err)
{
    char folder[PATH_MAX];
    struct command command;
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    if (!cl_task_folder(files, task, folder))
        return path_too_long(files, err);
    tree_remove(folder); /* left over from an interrupted run */
    enum st_code code = dir_make(folder, err);
    if (code)
        return code;
    make_command(&command, options, task, folder, build);
    /* (a hard link to our copy: the graded source stays with the attempt) */
    if (link(task->source, command.source))
        return st_fail_errno(err, errno, "cannot store a copy of the graded source");
    pid_t parent = getpid();
    fflush(NULL);
    *pid = fork();
    if (*pid == 0)
        become(&command, place, files, parent);
    return *pid < 0 ? st_fail_errno(err, errno, "cannot start the grader") : ST_OK;
}

bool cl_task_waits(const char *files, const struct cl_task *task)
{
    char folder[PATH_MAX], path[PATH_MAX];
    return cl_task_folder(files, task, folder) &&
           path_format(path, sizeof path, "%s/waits", folder) && file_exists(path);
}

/* ---- outcome -------------------------------------------------------------------------------- */

void cl_outcome_set(struct cl_outcome *o, int status, const struct rusage *usage)
{
    o->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    o->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    o->finished = clock_date_s();
    const struct cost cost = cost_of(usage, 0);
    o->cpu_s = cost.user_s + cost.system_s;
    o->max_rss_kib = cost.max_resident_kib;
}

void cl_task_free(struct cl_task *task)
{
    free(task->submission);
    free(task->milestone);
    free(task->source);
    free(task->source_path);
    free(task->message);
}
