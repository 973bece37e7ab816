#include "vgpu/device/device_process.h"

#include "base/files.h"
#include "base/threads.h"
#include "vgpu/api/vgpu.h"
#include "vgpu/device/descriptors.h"
#include "vgpu/device/device_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CODE_STORE_MIB = 64, START_LIMIT_MS = 30000, STATUS_NOT_STARTED = 2 };

const char *const vg_order_words[] = {"calls", "first", "last", "turns", NULL};
const char *const vg_engine_words[] = {"auto", "interpreter", "native", NULL};

int vg_code_store_make(void)
{
    const int fd = memfd_create("native code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return 0;
    /* only used pages take memory */
    if (ftruncate(fd, (off_t)CODE_STORE_MIB << 20) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)) {
        close(fd);
        return 0;
    }
    return fd;
}

void vg_code_store_close(int *store)
{
    if (*store > 0)
        close(*store);
    *store = 0;
}

/* Runs in the child. */
static void become_device(const struct vg_process_options *o, int door, int control, pid_t parent)
{
    char program[PATH_MAX], profiles[PATH_MAX], numbers[4][16];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(STATUS_NOT_STARTED);
    if (o->owned)
        setpgid(0, 0);
    if (o->output >= 0)
        dup2(o->output, STDERR_FILENO);
    const int inherited[4] = {door, control, o->code_store > 0 ? o->code_store : -1,
                              o->progress > 0 ? o->progress : -1};
    for (int i = 0; i < 4; i++) {
        if (inherited[i] >= 0)
            fcntl(inherited[i], F_SETFD, 0);
        snprintf(numbers[i], sizeof numbers[i], "%d", inherited[i]);
    }
    path_format(program, sizeof program, "%s/vgpu-device", o->folder);
    path_format(profiles, sizeof profiles, "%s/vgpu/profiles", o->folder);
    const char *const named[][2] = {{"--fd", numbers[0]},
                                    {"--control", control >= 0 ? numbers[1] : NULL},
                                    {"--code-store", inherited[2] >= 0 ? numbers[2] : NULL},
                                    {"--progress", inherited[3] >= 0 ? numbers[3] : NULL},
                                    {"--profiles", profiles},
                                    {"--profile", o->profile},
                                    {"--faults", o->faults},
                                    {"--counters", o->counters},
                                    {"--trace", o->trace},
                                    {"--work", o->work},
                                    {"--record", o->recordings},
                                    {"--seed", o->seed},
                                    {"--stream-order", o->stream_order},
                                    {"--cores", o->cores},
                                    {"--engine", o->engine},
                                    {"--suppressions", o->suppressions},
                                    {"--prove", o->prove},
                                    {"--multiprocessors", o->multiprocessors},
                                    {"--memory", o->memory}};
    const char *arguments[2 * sizeof named / sizeof *named + 6] = {"vgpu-device"};
    size_t n = 1;
    if (o->is_brief)
        arguments[n++] = "--brief";
    if (o->leak_check)
        arguments[n++] = "--leak-check";
    if (o->host_tensors)
        arguments[n++] = "--host-tensors";
    if (o->tells_findings)
        arguments[n++] = "--tell-findings";
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (!named[i][1])
            continue;
        arguments[n++] = named[i][0];
        arguments[n++] = named[i][1];
    }
    execv(program, (char **)arguments);
    struct st_error err;
    st_fail_errno(&err, errno, "cannot start the device process");
    st_detail(&err, ST_WHERE, "%s", program);
    st_print(stderr, "virtual GPU", &err);
    _exit(STATUS_NOT_STARTED);
}

enum st_code vg_process_start(struct vg_process *process, const struct vg_process_options *options,
                              struct st_error *err)
{
    int door[2], control[2] = {-1, -1};
    *process = VG_PROCESS_NONE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, door))
        return st_fail_errno(err, errno, "cannot create a socket");
    if (options->owned && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control)) {
        int why = errno;
        close(door[0]);
        close(door[1]);
        return st_fail_errno(err, why, "cannot create a socket");
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become_device(options, door[0], control[0], parent);
    int why = errno;
    close(door[0]);
    if (options->owned)
        close(control[0]);
    *process =
        (struct vg_process){.pid = pid > 0 ? pid : 0, .door = door[1], .control = control[1]};
    struct pollfd ready = {.fd = door[1], .events = POLLIN};
    char byte;
    if (pid > 0 && poll(&ready, 1, START_LIMIT_MS) == 1 && recv(door[1], &byte, 1, 0) == 1)
        return ST_OK;
    if (ready.revents) /* the device process has ended or is ending */
        waitpid(process->pid, NULL, 0), process->pid = 0;
    vg_process_kill(process);
    if (pid < 0)
        return st_fail_errno(err, why, "cannot start a process");
    return st_fail(err, ST_CHILD, "the virtual GPU did not start");
}

static bool is_variable(const char *text, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && text[n] == '=';
}

/* Writes NAME=FIRST[:OLD], OLD being the variable's value. @return the byte after the text. */
static char *put_before(char *to, const char *name, const char *first)
{
    const char *old = getenv(name);
    return to + 1 + sprintf(to, "%s=%s%s%s", name, first, old && *old ? ":" : "", old ? old : "");
}

char **vg_process_environment(const char *folder, int door, enum vg_preload preload)
{
    static const char *const files[] = {
        [VG_PRELOAD_RUNTIME] = "/libcudart.so.13",
        [VG_PRELOAD_ALL] = "/libcudart.so.13:libnvJitLink.so.13:libnvJitLink.so.12"};
    static const char path[] = "LD_LIBRARY_PATH", first[] = "LD_PRELOAD";
    const char *old_path = getenv(path), *old_first = getenv(first);
    size_t n = 0, kept = 0;
    char before[2 * PATH_MAX];
    while (environ[n])
        n++;
    const size_t bytes = 3 * strlen(folder) + (old_path ? strlen(old_path) : 0) +
                         (old_first ? strlen(old_first) : 0) + 256;
    char **list = malloc((n + 4) * sizeof *list + bytes);
    if (!list)
        return NULL;
    char *text = (char *)(list + n + 4);
    for (size_t i = 0; i < n; i++)
        if (!is_variable(environ[i], path) && !is_variable(environ[i], VP_DOOR_VARIABLE) &&
            !(preload && is_variable(environ[i], first)))
            list[kept++] = environ[i];
    list[kept++] = text;
    snprintf(before, sizeof before, "%s/vgpu:%s/vgpu-libraries", folder, folder);
    text = put_before(text, path, before);
    if (preload) {
        list[kept++] = text;
        snprintf(before, sizeof before, "%s/vgpu%s", folder, files[preload]);
        text = put_before(text, first, before);
    }
    list[kept++] = text;
    sprintf(text, VP_DOOR_VARIABLE "=%d", door);
    list[kept] = NULL;
    return list;
}

static bool control_send(const struct vg_process *process, char what)
{
    return send(process->control, &what, 1, MSG_NOSIGNAL) == 1;
}

void vg_process_order(const struct vg_process *process, struct vg_order order)
{
    control_send(process, (char)(VP_CONTROL_STREAMS + order.streams));
    control_send(process, (char)(VP_CONTROL_BLOCKS + (int)order.blocks));
}

bool vg_process_ask(const struct vg_process *process)
{
    return control_send(process, VP_CONTROL_TAKE);
}

/* @return the next @p bytes of a file, as text. */
static char *text_read(int fd, size_t bytes)
{
    char *text = malloc(bytes + 1);
    for (size_t at = 0; text && at < bytes;) {
        ssize_t got = read(fd, text + at, bytes - at);
        if (got <= 0) {
            free(text);
            return NULL;
        }
        at += (size_t)got;
    }
    if (text)
        text[bytes] = '\0';
    return text;
}

enum st_code vg_process_answer(const struct vg_process *process, struct vg_process_record *record,
                               struct st_error *err)
{
    struct vp_control_reply reply;
    int fd;
    memset(record, 0, sizeof *record);
    ssize_t got =
        descriptor_receive(process->control, &(struct iovec){&reply, sizeof reply}, 1, &fd, 0);
    if (got != sizeof reply || fd < 0 || lseek(fd, 0, SEEK_SET) != 0) {
        if (fd >= 0)
            close(fd);
        return st_fail(err, ST_CHILD, "the virtual GPU's process has ended");
    }
    record->lost = reply.lost;
    record->trace_bytes = reply.bytes[0];
    record->faults_bytes = reply.bytes[1];
    record->counters_bytes = reply.bytes[2];
    record->work_bytes = reply.bytes[3];
    record->proof_bytes = reply.bytes[4];
    record->trace = text_read(fd, record->trace_bytes);
    record->faults = record->trace ? text_read(fd, record->faults_bytes) : NULL;
    record->counters = record->faults ? text_read(fd, record->counters_bytes) : NULL;
    record->work = record->counters ? text_read(fd, record->work_bytes) : NULL;
    record->proof = record->work ? text_read(fd, record->proof_bytes) : NULL;
    close(fd);
    if (record->proof)
        return ST_OK;
    vg_process_record_free(record);
    return st_fail(err, ST_NO_MEMORY, "out of memory for the virtual GPU's records");
}

void vg_process_record_free(struct vg_process_record *record)
{
    free(record->trace);
    free(record->faults);
    free(record->counters);
    free(record->work);
    free(record->proof);
    memset(record, 0, sizeof *record);
}

void vg_process_limit(const struct vg_process *process, size_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    if (process->pid > 0)
        prlimit(process->pid, RLIMIT_RSS, &limit, NULL);
}

static bool add_translating(pid_t pid, const char *thread, void *sum_s)
{
    struct thread_stat stat;
    if (thread_stat_read(pid, thread, &stat) && strcmp(stat.name, VG_TRANSLATOR_THREAD) == 0)
        *(double *)sum_s += stat.cpu_s;
    return true;
}

double vg_process_work_s(struct vg_process *process)
{
    clockid_t clock;
    struct timespec all;
    if (process->pid <= 0)
        return 0;
    double translating_s = 0;
    threads_each(process->pid, add_translating, &translating_s);
    if (translating_s > process->translating_s) /* if smaller, a thread has ended */
        process->translated_s += translating_s - process->translating_s;
    process->translating_s = translating_s;
    if (clock_getcpuclockid(process->pid, &clock) || clock_gettime(clock, &all))
        return 0;
    return (double)all.tv_sec + 1e-9 * (double)all.tv_nsec - process->translated_s;
}

bool vg_process_ended(const struct vg_process *process, int *status)
{
    enum { WAIT_MS = 2000, STEP_MS = 5 };
    siginfo_t end = {.si_pid = 0};
    if (process->pid <= 0)
        return false;
    for (int waited = 0; waited < WAIT_MS && !end.si_pid; waited += STEP_MS) {
        if (waitid(P_PID, (id_t)process->pid, &end, WEXITED | WNOHANG | WNOWAIT))
            return false;
        if (!end.si_pid)
            nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
    }
    *status =
        end.si_code == CLD_EXITED ? W_EXITCODE(end.si_status, 0) : W_EXITCODE(0, end.si_status);
    return end.si_pid != 0;
}

void vg_process_leave(struct vg_process *process)
{
    if (process->door >= 0)
        close(process->door);
    if (process->control >= 0)
        close(process->control);
    process->door = process->control = -1;
}

void vg_process_kill(struct vg_process *process)
{
    if (process->pid > 0) {
        kill(process->pid, SIGKILL);
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    vg_process_leave(process);
    *process = VG_PROCESS_NONE;
}
