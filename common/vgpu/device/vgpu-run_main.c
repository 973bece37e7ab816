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
#include "base/option_table.h"
#include "vgpu/device/program_run.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct vg_process_options device;
    char **program;
};

static void take_program(void *options, char *word, const struct option_row *row,
                         struct argp_state *state)
{
    (void)word, (void)row;
    ((struct options *)options)->program = state->argv + state->next - 1;
    state->next = state->argc;
}

/* The device process knows what executes kernels. */
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
        argp_error(state, "no program was given");
}

static const struct option_row rows[] = {
    {"profile", 'p', "GPU",
     "the GPU to be: h200 (default), titan-v, k80, rtx-4060-laptop, or a file",
     OPTION_TEXT(struct options, device.profile)},
    {"faults", 'F', "FILE", "write the findings to a TSV file",
     OPTION_TEXT(struct options, device.faults)},
    {"counters", 'C', "FILE", "write counters per kernel and source line to a TSV file",
     OPTION_TEXT(struct options, device.counters)},
    {"trace", 't', "FILE", "write launches, copies and calls, with modelled times, to a TSV file",
     OPTION_TEXT(struct options, device.trace)},
    {"work", 'w', "FILE",
     "write what each launch and copy worked on, and how often each basic block ran, to a TSV file",
     OPTION_TEXT(struct options, device.work)},
    {"seed", 's', "N",
     "run blocks and warps in an order that N decides, one block after the other: shows results that depend on the order",
     OPTION_TEXT(struct options, device.seed)},
    {"cores", 'c', "N", "threads to use (default: all cores)",
     OPTION_TEXT(struct options, device.cores)},
    {"engine", 'e', "ENGINE", VG_ENGINE_HELP,
     OPTION_WORD(struct options, device.engine, vg_engine_words)},
    {OPTION_OPERANDS(take_program)},
    {0}};

int main(int argc, char **argv)
{
    struct options o = {.device.output = -1};
    files_open_standard();
    static const struct option_table table = {
        .rows = rows,
        .check = check,
        .operands = "PROGRAM [ARGUMENT...]",
        .about = "Runs a CUDA program, compiled with nvcc -cudart shared, on the virtual GPU.",
        .flags = ARGP_IN_ORDER};
    argp_program_version_hook = print_version;
    options_parse(&table, argc, argv, &o);
    struct program_run run = {.tool = "vgpu-run", .device = o.device, .arguments = o.program};
    int status, failed = program_run(&run, &status);
    return failed ? failed : program_end_as(status);
}
