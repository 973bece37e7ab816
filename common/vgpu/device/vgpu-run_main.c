/* vgpu-run: runs a CUDA program on the virtual GPU.
 *
 *     vgpu-run [OPTION...] PROGRAM [ARGUMENT...]
 *
 *     vgpu-run ──▶ vgpu-device       runs the virtual GPU; ends after the program
 *         └──────▶ PROGRAM           finds our libcudart.so.13 first, has the door to the device
 *
 * Both children die with vgpu-run, even by kill -9. The exit status is the program's; if a signal
 * ended it, vgpu-run ends by the same signal. 2 means that the program could not be started.
 * --error-exitcode sets the exit status for findings. */
#include "base/files.h"
#include "base/option_table.h"
#include "base/shown_path.h"
#include "vgpu/device/picture_page.h"
#include "vgpu/device/program_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct vg_process_options device;
    int error_exitcode; /* 0: findings do not change the exit status */
    const char *log_file, *picture;
    char **program;
};

static void take_program(void *options, char *word, const struct option_row *row,
                         struct argp_state *state)
{
    (void)word, (void)row;
    ((struct options *)options)->program = state->argv + state->next - 1;
    state->next = state->argc;
}

/* Lets the device process print which engine this machine uses. */
static void print_version(FILE *out, struct argp_state *state)
{
    char program[PATH_MAX];
    struct st_error err;
    (void)state;
    if (program_folder(program, &err)) {
        st_print(stderr, "vgpu-run", &err);
        return;
    }
    strncat(program, "/vgpu-device", sizeof program - strlen(program) - 1);
    fflush(out);
    execl(program, "vgpu-device", "--version", (char *)NULL);
    st_fail_errno(&err, errno, "cannot start the device process");
    st_detail(&err, ST_WHERE, "%s", program);
    st_print(stderr, "vgpu-run", &err);
}

static void check(void *options, struct argp_state *state)
{
    if (!((struct options *)options)->program)
        argp_error(state, "no program given");
}

static const struct option_row rows[] = {
    {"profile", 'p', "GPU",
     "the GPU to model: h200 (default), h100, a40, a10g, rtx-4060-laptop, rtx-3060, t4, rtx-2080, v100, titan-v, k80, or a file",
     OPTION_TEXT(struct options, device.profile)},
    {"faults", 'F', "FILE", "write the findings to a TSV file",
     OPTION_TEXT(struct options, device.faults)},
    {"counters", 'C', "FILE", "write counters per kernel and source line to a TSV file",
     OPTION_TEXT(struct options, device.counters)},
    {"trace", 't', "FILE", "write launches, copies and calls, with modelled times, to a TSV file",
     OPTION_TEXT(struct options, device.trace)},
    {"work", 'w', "FILE",
     "write the memory that each launch and copy used, and how often each basic block ran, to a TSV file",
     OPTION_TEXT(struct options, device.work)},
    {"picture", 'P', "FILE.html",
     "record one block of each kernel, the middle one of its largest grid, and write a page per kernel that replays it: FILE.html, FILE-2.html, ...",
     OPTION_TEXT(struct options, picture)},
    {"seed", 's', "N",
     "run blocks and warps in an order determined by N, one block after the other: this exposes results that depend on the order",
     OPTION_TEXT(struct options, device.seed)},
    {"stream-order", 'O', "ORDER",
     "run streams that do not wait for each other in another order than that of the calls: the first or the last stream first, or one copy or kernel of each in turn (first, last, turns; default: calls). This exposes missing waits; modelled times are wrong then",
     OPTION_WORD(struct options, device.stream_order, vg_order_words)},
    {"cores", 'c', "N", "number of threads to use (default: all cores)",
     OPTION_TEXT(struct options, device.cores)},
    {"engine", 'e', "ENGINE", VG_ENGINE_HELP,
     OPTION_WORD(struct options, device.engine, vg_engine_words)},
    {"error-exitcode", 'x', "N", "exit status if there are findings (default: the program's)",
     OPTION_INT(struct options, error_exitcode, 0, 255)},
    {"log-file", 'L', "FILE",
     "write the messages of the virtual GPU to a file instead of stderr; %p in its name is the process id",
     OPTION_TEXT(struct options, log_file)},
    {"suppressions", 'S', "FILE",
     "do not report findings that a line of the file matches: KIND KERNEL [FILE[:LINE]]",
     OPTION_TEXT(struct options, device.suppressions)},
    {"leak-check", 'l', NULL, "also report device memory that is never freed",
     OPTION_FLAG(struct options, device.leak_check)},
    {OPTION_OPERANDS(take_program)},
    {0}};

/* Opens the file for messages of the virtual GPU. @return the descriptor; -1: an error was
 * printed */
static int log_open(const char *name)
{
    char path[PATH_MAX];
    struct st_error err;
    const char *at = strstr(name, "%p");
    if (at)
        snprintf(path, sizeof path, "%.*s%d%s", (int)(at - name), name, (int)getpid(), at + 2);
    else
        snprintf(path, sizeof path, "%s", name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        st_fail_errno(&err, errno, "cannot write the log");
        st_detail(&err, ST_WHERE, "%s", path);
        st_print(stderr, "vgpu-run", &err);
    }
    return fd;
}

/* Creates the file to which the device process writes its recordings. @return whether it
 * succeeded */
static bool recordings_open(char path[])
{
    struct st_error err;
    const int fd = mkstemp(path);
    if (fd >= 0)
        return close(fd), true;
    st_fail_errno(&err, errno, "cannot create a file for the recordings");
    st_print(stderr, "vgpu-run", &err);
    return false;
}

/* Names a page, on stderr: stdout is the program's. */
static void say_page(void *context, const char *symbol, const char *name)
{
    const char *file = context;
    (void)symbol;
    fprintf(stderr, "vgpu-run: wrote %.*s%s\n", (int)(path_base(file) - file), file, name);
}

/* @return whether the pages were written */
static bool write_pictures(const char *file, const char *recordings)
{
    struct st_error err;
    const struct picture_listener listener = {say_page, (void *)file};
    const enum st_code code = picture_pages_write(file, recordings, NULL, &listener, &err);
    unlink(recordings);
    if (code)
        st_print(stderr, "vgpu-run", &err);
    return !code;
}

int main(int argc, char **argv)
{
    struct options o = {.device.output = -1};
    files_open_standard();
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "PROGRAM [ARGUMENT...]",
        .about = "Run a CUDA program on the virtual GPU, without compiling it again.",
        .flags = ARGP_IN_ORDER};
    argp_program_version_hook = print_version;
    options_parse(&table, argc, argv, &o);
    if (o.log_file && (o.device.output = log_open(o.log_file)) < 0)
        return PROGRAM_NOT_STARTED;
    o.device.tells_findings = o.error_exitcode != 0;
    char recordings[] = "/tmp/vgpu-run-XXXXXX";
    if (o.picture && !recordings_open(recordings))
        return PROGRAM_NOT_STARTED;
    o.device.recordings = o.picture ? recordings : NULL;
    struct program_run run = {.tool = "vgpu-run", .device = o.device, .arguments = o.program};
    int status, failed = program_run(&run, &status);
    if (failed && o.picture)
        unlink(recordings);
    if (failed)
        return failed;
    if (o.picture && !write_pictures(o.picture, recordings) && status == 0)
        return PROGRAM_NOT_STARTED;
    return run.found ? o.error_exitcode : program_end_as(status);
}
