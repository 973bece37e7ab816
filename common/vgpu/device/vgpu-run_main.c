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
#include "vgpu/device/program_run.h"

#include <argp.h>

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

int main(int argc, char **argv)
{
    struct options o = {.device.output = -1};
    files_open_standard();
    const struct argp parser = {
        options,
        option_take,
        "PROGRAM [ARGUMENT...]",
        "Runs a CUDA program, compiled with nvcc -cudart shared, on the virtual GPU.",
        NULL,
        NULL,
        NULL};
    argp_err_exit_status = PROGRAM_NOT_STARTED;
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &o);
    struct program_run run = {.tool = "vgpu-run", .device = o.device, .arguments = o.program};
    int status, failed = program_run(&run, &status);
    return failed ? failed : program_end_as(status);
}
