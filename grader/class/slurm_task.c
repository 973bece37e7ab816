/* grader class --task N --list BATCH: Slurm starts this command on a node for one task of an array.
 *
 * 1. If the task has an outcome, the program ends at once: Slurm has restarted a task that had
 * ended.
 * 2. The grading gets a private folder, so that two runs of one task (if a node was wrongly
 * believed lost) do not share a folder.
 * 3. At its end, the folder moves to its final location, and then the outcome appears. The run that
 * ends second finds this outcome and discards its own. */
#include "grader/class/slurm_files.h"
#include "grader/class/slurm_schedule.h"

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/patience.h"
#include "base/files.h"
#include "grader/slurm/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* Appends a line to KEY.starts. */
static void tell_start(const char *files, const char *key)
{
    char path[PATH_MAX], host[128] = "?", line[256];
    gethostname(host, sizeof host - 1);
    cl_slurm_path(files, path, "%s.starts", key);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int n = snprintf(line, sizeof line, "%s %s\n", variable("SLURMD_NODENAME", host),
                     variable("SLURM_JOB_ID", "-"));
    if (fd >= 0 && write(fd, line, (size_t)n) != n)
        fprintf(stderr, "grader class: cannot write %s\n", path);
    if (fd >= 0)
        close(fd);
}

/* Starts the grader and waits for it, at most for --limit. */
static enum st_code run_grader(const struct cl_options *o, const char *private,
                               const struct cl_task *task, struct cl_outcome *outcome,
                               struct st_error *err)
{
    pid_t pid;
    int status;
    struct rusage usage;
    struct cl_places places;
    struct cl_place place;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    struct patience left = patience_begin((double)o->limit_s);
    *outcome =
        (struct cl_outcome){.status = -1, .started = clock_date_s(), .finished = clock_date_s()};
    cl_places_find_task(&places, o, task->source);
    cl_place_choose(&places, o, task->source, &place);
    enum st_code code = cl_task_start(o, private, task, &place, &pid, err);
    if (code)
        return code;
    while (wait4(pid, &status, WNOHANG, &usage) == 0) {
        sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = 200000000});
        if (!outcome->timed_out && !patience_lasts(&left)) {
            outcome->timed_out = true;
            kill(-pid, SIGKILL);
        }
    }
    kill(-pid, SIGKILL); /* end all processes that remain in its group */
    cl_outcome_set(outcome, status, &usage);
    outcome->out_of_memory = cgroup_memory_kills(CGROUPS) > 0;
    /* When Slurm cancels or requeues a task, it ends all processes of the task, perhaps the grader
     * first. So wait a moment to be ended too, before writing an outcome. */
    if (outcome->signal && !outcome->timed_out)
        nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    return ST_OK;
}

/* Moves the private folder to its final location. Files that are already there come from a run that
 * left no outcome. */
static enum st_code put_in_place(const char *files, const char *private, const struct cl_task *task,
                                 struct st_error *err)
{
    char from[PATH_MAX], to[PATH_MAX], parent[PATH_MAX];
    if (!cl_task_folder(private, task, from) || !cl_task_folder(files, task, to))
        return path_too_long(files, err);
    path_format(parent, sizeof parent, "%s", to);
    enum st_code code = dir_make(dirname(parent), err);
    if (code)
        return code;
    tree_remove(to);
    if (rename(from, to)) {
        st_fail_errno(err, errno, "cannot move the result");
        return st_detail(err, ST_WHERE, "%s", to);
    }
    return ST_OK;
}

static enum st_code grade(const struct cl_options *o, const char *files, const struct cl_task *task,
                          const char *key, struct st_error *err)
{
    char private[PATH_MAX], temporary[PATH_MAX], said[512] = "", outcome_path[PATH_MAX];
    struct cl_outcome outcome;
    if (!cl_slurm_path(files, private, "run/%s.%s.%ld", key, variable("SLURM_JOB_ID", "-"),
                       (long)getpid()))
        return path_too_long(files, err);
    path_format(temporary, sizeof temporary, "%s/tmp", private);
    enum st_code code = dir_make(temporary, err);
    if (code)
        return code;
    struct st_error failed;
    if (run_grader(o, private, task, &outcome, &failed))
        snprintf(said, sizeof said, "%s: %s", failed.what, failed.where);
    cl_slurm_path(files, outcome_path, "%s.outcome", key);
    if (file_exists(outcome_path))
        printf("Slurm started this task again, and the other start finished first\n");
    else {
        code = *said ? ST_OK : put_in_place(files, private, task, err);
        if (!code)
            code = cl_outcome_write(files, key, &outcome, said, err);
    }
    tree_remove(private);
    return code;
}

enum st_code cl_slurm_task(const struct cl_options *o, struct st_error *err)
{
    char key[CL_KEY_CHARS], list[PATH_MAX], path[PATH_MAX];
    struct cl_task task;
    /* GRADEBOOK.files/slurm/batch-N.tsv */
    if (!realpath(o->list, list))
        return st_fail_errno(err, errno, "cannot read the list of tasks %s", o->list);
    enum st_code code = cl_batch_read(list, o->task, &task, key, err);
    if (code)
        return code;
    char *slash = strrchr(list, '/');
    *slash = '\0';
    slash = strrchr(list, '/');
    *(slash ? slash : list) = '\0';
    cl_slurm_path(list, path, "%s.outcome", key);
    if (file_exists(path))
        printf("already graded\n");
    else {
        tell_start(list, key);
        code = grade(o, list, &task, key, err);
    }
    cl_task_free(&task);
    return code;
}
