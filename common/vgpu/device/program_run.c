#include "vgpu/device/program_run.h"

#include "base/clock.h"
#include "base/files.h"
#include "vgpu/device/door.h"
#include "vgpu/device/program_check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINGER_MS 1000 /* time for processes that the program left running */

static int complain(const struct program_run *run, const struct st_error *err)
{
    st_print(stderr, run->tool, err);
    return PROGRAM_NOT_STARTED;
}

enum st_code program_folder(char *to, struct st_error *err)
{
    ssize_t n = readlink("/proc/self/exe", to, PATH_MAX - 1);
    if (n <= 0)
        return st_fail_errno(err, errno, "cannot find the folder of this program");
    to[n] = '\0';
    *strrchr(to, '/') = '\0';
    return ST_OK;
}

/* Called in a child: makes it die with its parent, even if the parent is already dead. */
static void die_with_parent(int signal_number, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, signal_number);
    if (getppid() != parent)
        _exit(PROGRAM_NOT_STARTED);
}

/* @param door  the door of the device process; -1: none */
static pid_t program_start(const struct program_run *run, const char *path, int door)
{
    char **environment = run->environment
                             ? run->environment
                             : vg_process_environment(run->device.folder, door, run->preload);
    pid_t parent = getpid(), pid = environment ? fork() : -1;
    if (pid != 0) {
        if (!run->environment)
            free(environment);
        return pid;
    }
    die_with_parent(SIGKILL, parent);
    if (run->started)
        run->started(getpid(), run->context);
    if (door >= 0)
        fcntl(door, F_SETFD, 0); /* no close-on-exec: the program uses it */
    execve(path, run->arguments, environment);
    struct st_error err;
    st_fail_errno(&err, errno, "cannot run the program");
    st_detail(&err, ST_WHERE, "%s", path);
    _exit(complain(run, &err));
}

static volatile sig_atomic_t program_pid;

/* Forwards signals to the program. */
static void forward(int signal_number)
{
    if (program_pid > 0)
        kill(program_pid, signal_number);
}

static int wait_for(pid_t pid, struct rusage *used)
{
    int status = 0;
    while (wait4(pid, &status, 0, used) < 0 && errno == EINTR)
        ;
    return status;
}

/* Waits for the device process, which ends after the last process with the door, but not for
 * processes that the program left in the background. */
static int device_finish(pid_t device)
{
    int status = 0;
    for (int ms = 0; ms < LINGER_MS; ms++) {
        if (waitpid(device, &status, WNOHANG) == device)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(device, SIGTERM);
    return wait_for(device, NULL);
}

int program_end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static void forward_signals(void)
{
    const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        signal(forwarded[i], forward);
}

/* Waits for the program, and reports its cost. */
static int program_wait(struct program_run *run, pid_t program, double begin_s)
{
    struct rusage used = {0};
    const int status = wait_for(program, &used);
    run->cost = cost_of(&used, clock_now_s() - begin_s);
    return status;
}

static int run_as_it_is(struct program_run *run, const char *path, int *status)
{
    const double begin_s = clock_now_s();
    forward_signals();
    pid_t program = program_start(run, path, -1);
    program_pid = run->pid = program;
    if (program <= 0)
        return PROGRAM_NOT_STARTED;
    *status = program_wait(run, program, begin_s);
    return 0;
}

/* Runs the program with the door, which is then closed here. */
static int run_on_device(struct program_run *run, const char *path, int door, int *status)
{
    struct door_name name = DOOR_NAME_NONE;
    struct st_error err;
    if (!run->confined && door_name_make(&name, door, &err))
        complain(run, &err); /* continues: only programs that do not inherit the door need the
                                name */
    const double begin_s = clock_now_s();
    pid_t program = program_start(run, path, door);
    program_pid = run->pid = program;
    if (program > 0 && name.listener >= 0)
        door_name_answer(&name);
    if (program > 0)
        *status = program_wait(run, program, begin_s);
    door_name_close(&name);
    close(door);
    return program > 0 ? 0 : PROGRAM_NOT_STARTED;
}

int program_run(struct program_run *run, int *status)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct st_error err;
    *status = PROGRAM_NOT_STARTED << 8;
    if (program_find(path, run->arguments[0], &err))
        return complain(run, &err);
    if (run->environment)
        return run_as_it_is(run, path, status);
    if (program_folder(folder, &err) || program_check(path, &run->preload, &err))
        return complain(run, &err);
    if (run->confined && run->preload == VG_PRELOAD_ALL)
        run->preload = VG_PRELOAD_NONE;
    forward_signals();
    run->device.folder = folder;
    struct vg_process device;
    enum st_code code = vg_process_start(&device, &run->device, &err);
    if (code) /* a device process that failed has reported the reason itself */
        return code == ST_CHILD ? PROGRAM_NOT_STARTED : complain(run, &err);
    const int failed = run_on_device(run, path, device.door, status);
    int device_status = device_finish(device.pid);
    run->device.folder = NULL;
    run->found = WIFEXITED(device_status) && WEXITSTATUS(device_status) == VG_PROCESS_FOUND;
    if (run->found)
        device_status = 0;
    if (WIFSIGNALED(device_status))
        fprintf(stderr, "%s: the device process was ended by signal %d (%s)\n", run->tool,
                WTERMSIG(device_status), strsignal(WTERMSIG(device_status)));
    if (failed)
        return failed;
    return *status == 0 && device_status != 0 ? PROGRAM_NOT_STARTED : 0;
}
