/* The device process: owns the virtual GPU, serves the programs that hold its door.
 *
 *     vgpu-device --fd N --profiles DIR [--profile NAME] [--faults FILE] [--counters FILE]
 *                 [--trace FILE] [--cores N]
 *
 * Started by vgpu-run or by the grader, never by hand. Exit status 0, or 2 with a message. */
#include "vgpu/device/server.h"
#include "vgpu/profiles/profile.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *profile, *profiles, *faults, *counters, *trace;
    int fd, cores;
};

static error_t option_take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'f':
        o->fd = atoi(arg);
        return 0;
    case 'P':
        o->profiles = arg;
        return 0;
    case 'p':
        o->profile = arg;
        return 0;
    case 'F':
        o->faults = arg;
        return 0;
    case 'C':
        o->counters = arg;
        return 0;
    case 't':
        o->trace = arg;
        return 0;
    case 'c':
        o->cores = atoi(arg);
        return 0;
    case 's':
        return 0; /* nothing in the virtual GPU is random yet */
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"fd", 'f', "N", 0, "the door: an inherited socket", 0},
    {"profiles", 'P', "DIR", 0, "where the GPU profiles are", 0},
    {"profile", 'p', "NAME", 0, "the GPU to be", 0},
    {"faults", 'F', "FILE", 0, "write the findings to a TSV file", 0},
    {"counters", 'C', "FILE", 0, "write the counters to a TSV file", 0},
    {"trace", 't', "FILE", 0, "write launches, copies and calls to a TSV file", 0},
    {"seed", 's', "N", 0, "for what is random; nothing is, yet", 0},
    {"cores", 'c', "N", 0, "threads to use (default: all cores)", 0},
    {0}};

int main(int argc, char **argv)
{
    struct options o = {.fd = -1, .profile = VG_PROFILE_DEFAULT, .profiles = "."};
    const struct argp parser = {options, option_take, "",  "The virtual GPU's device process.",
                                NULL,    NULL,        NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    signal(SIGPIPE, SIG_IGN);
    /* Ctrl-C goes to the whole terminal group; the program ends first, then the device. */
    signal(SIGINT, SIG_IGN);
    static struct session_shared shared;
    struct st_error err;
    shared.cores = o.cores;
    enum st_code code = vg_profile_read(&shared.profile, o.profiles, o.profile, &err);
    if (!code)
        code = record_open(&shared.record, o.trace, o.faults, o.counters, &err);
    if (!code)
        code = server_run(&shared, o.fd, &err);
    if (!code)
        code = record_write(shared.record, &err);
    record_close(shared.record);
    if (code)
        st_print(stderr, "virtual GPU", &err);
    return code ? 2 : 0;
}
