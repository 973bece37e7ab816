/* vgpu-run: runs a CUDA program on the virtual GPU.
 *
 *     vgpu-run [OPTION...] PROGRAM [ARGUMENT...]
 *
 *     vgpu-run ──▶ vgpu-device       holds the virtual GPU; ends after the program
 *         └──────▶ PROGRAM           finds our libcudart.so.13 first, holds the door to the device
 *
 * Both children die with vgpu-run, even by kill -9. The exit status is the program's; if a signal
 * ended it, vgpu-run ends by the same signal. 2 means that the program could not be started. */
#include "base/files.h"
#include "vgpu/device/device_process.h"
#include "vgpu/device/program_check.h"
#include "vgpu/profiles/profile.h"

#include <argp.h>
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

#define STATUS_NOT_STARTED 2
#define LINGER_MS          1000 /* for processes that the program left behind */

struct options {
    struct vg_process_options device;
    char **program;
};

static error_t option_take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'p':
        o->device.profile = arg;
        return 0;
    case 'F':
        o->device.faults = arg;
        return 0;
    case 'C':
        o->device.counters = arg;
        return 0;
    case 't':
        o->device.trace = arg;
        return 0;
    case 'w':
        o->device.work = arg;
        return 0;
    case 's':
        o->device.seed = arg;
        return 0;
    case 'c':
        o->device.cores = arg;
        return 0;
    case ARGP_KEY_ARG:
        o->program = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program was given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"profile", 'p', "GPU", 0,
     "the GPU to be: h200 (default), titan-v, k80, rtx-4060-laptop, or a file", 0},
    {"faults", 'F', "FILE", 0, "write the findings to a TSV file", 0},
    {"counters", 'C', "FILE", 0, "write counters per kernel and source line to a TSV file", 0},
    {"trace", 't', "FILE", 0,
     "write launches, copies and calls, with modelled times, to a TSV file", 0},
    {"work", 'w', "FILE", 0,
     "write what each launch and copy worked on, and how often each basic block ran, to a TSV file",
     0},
    {"seed", 's', "N", 0,
     "run blocks and warps in an order that N decides, one block after the other: shows results "
     "that "
     "depend on the order",
     0},
    {"cores", 'c', "N", 0, "threads to use (default: all cores)", 0},
    {0}};

static int complain(const struct st_error *err)
{
    st_print(stderr, "vgpu-run", err);
    return STATUS_NOT_STARTED;
}

/* The folder of vgpu-run itself: everything else is found from there. */
static bool own_folder(char *to)
{
    ssize_t n = readlink("/proc/self/exe", to, PATH_MAX - 1);
    if (n <= 0)
        return false;
    to[n] = '\0';
    *strrchr(to, '/') = '\0';
    return true;
}

/* In a child: die when vgpu-run does, even if it is dead already. */
static void die_with_parent(int signal_number, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, signal_number);
    if (getppid() != parent)
        _exit(STATUS_NOT_STARTED);
}

static pid_t program_start(const char *folder, const char *path, char **arguments, int door)
{
    char **environment = vg_process_environment(folder, door);
    pid_t parent = getpid(), pid = environment ? fork() : -1;
    if (pid != 0) {
        free(environment);
        return pid;
    }
    die_with_parent(SIGKILL, parent);
    fcntl(door, F_SETFD, 0); /* no close-on-exec: this one is for the program */
    execve(path, arguments, environment);
    struct st_error err;
    st_fail_errno(&err, errno, "cannot run the program");
    st_detail(&err, ST_WHERE, "%s", path);
    _exit(complain(&err));
}

static volatile sig_atomic_t program_pid;

/* What is sent to vgpu-run is meant for the program. */
static void forward(int signal_number)
{
    if (program_pid > 0)
        kill(program_pid, signal_number);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* The device ends when the last holder of the door has; one that the program left running in the
 * background does not keep vgpu-run. */
static int device_finish(pid_t device)
{
    int status = 0;
    for (int ms = 0; ms < LINGER_MS; ms++) {
        if (waitpid(device, &status, WNOHANG) == device)
            return status;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(device, SIGTERM);
    return wait_for(device);
}

/* Ends as the program did. */
static int end_as(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static int run(struct options *o, const char *folder, const char *path)
{
    struct st_error err;
    struct vg_process device;
    enum st_code code = vg_process_start(&device, &o->device, &err);
    if (code) /* a device process that ended has said why itself */
        return code == ST_CHILD ? STATUS_NOT_STARTED : complain(&err);
    pid_t program = program_start(folder, path, o->program, device.door);
    close(device.door);
    program_pid = program;
    int status = program > 0 ? wait_for(program) : STATUS_NOT_STARTED << 8;
    int device_status = device_finish(device.pid);
    if (WIFSIGNALED(device_status))
        fprintf(stderr, "vgpu-run: the device process was ended by signal %d (%s)\n",
                WTERMSIG(device_status), strsignal(WTERMSIG(device_status)));
    int result = end_as(status);
    return result == 0 && device_status != 0 ? STATUS_NOT_STARTED : result;
}

int main(int argc, char **argv)
{
    struct options o = {.device.output = -1};
    const struct argp parser = {
        options,
        option_take,
        "PROGRAM [ARGUMENT...]",
        "Runs a CUDA program, compiled with nvcc -cudart shared, on the virtual GPU.",
        NULL,
        NULL,
        NULL};
    argp_err_exit_status = STATUS_NOT_STARTED;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &o);
    char folder[PATH_MAX], path[PATH_MAX];
    struct st_error err;
    if (!own_folder(folder)) {
        st_fail_errno(&err, errno, "cannot find the folder of vgpu-run");
        return complain(&err);
    }
    if (program_find(path, o.program[0], &err) || program_check(path, &err))
        return complain(&err);
    const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        signal(forwarded[i], forward);
    o.device.folder = folder;
    return run(&o, folder, path);
}
