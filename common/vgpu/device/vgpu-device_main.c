/* The device process: owns the virtual GPU, serves the programs that hold its door.
 *
 *     vgpu-device --fd N --profiles DIR [--control N] [--profile NAME] [--faults FILE]
 *                 [--counters FILE] [--trace FILE] [--work FILE] [--cores N]
 *
 * Started by vgpu-run or by the grader (device_process.h), never by hand. Exit status 0, or 2 with
 * a message. */
#include "vgpu/device/server.h"
#include "vgpu/gpus/profile.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct options {
    const char *profile, *profiles, *path[RECORD_TABLES];
    int fd, control, cores;
    uint64_t seed;
};

static error_t option_take(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'f':
        o->fd = atoi(arg);
        return 0;
    case 'o':
        o->control = atoi(arg);
        return 0;
    case 'P':
        o->profiles = arg;
        return 0;
    case 'p':
        o->profile = arg;
        return 0;
    case 'F':
        o->path[RECORD_FAULTS] = arg;
        return 0;
    case 'C':
        o->path[RECORD_COUNTERS] = arg;
        return 0;
    case 't':
        o->path[RECORD_TRACE] = arg;
        return 0;
    case 'w':
        o->path[RECORD_WORK] = arg;
        return 0;
    case 'c':
        o->cores = atoi(arg);
        return 0;
    case 's':
        o->seed = strtoull(arg, NULL, 10);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"fd", 'f', "N", 0, "the door: an inherited socket", 0},
    {"control", 'o', "N", 0, "the owner's channel: an inherited socket", 0},
    {"profiles", 'P', "DIR", 0, "where the GPU profiles are", 0},
    {"profile", 'p', "NAME", 0, "the GPU to be", 0},
    {"faults", 'F', "FILE", 0, "write the findings to a TSV file", 0},
    {"counters", 'C', "FILE", 0, "write the counters to a TSV file", 0},
    {"trace", 't', "FILE", 0, "write launches, copies and calls to a TSV file", 0},
    {"work", 'w', "FILE", 0, "write what each launch and copy worked on to a TSV file", 0},
    {"seed", 's', "N", 0, "order of blocks and warps", 0},
    {"cores", 'c', "N", 0, "threads to use (default: all cores)", 0},
    {0}};

/* When memory runs out, the system is to end this process, which holds the device's memory, before
 * the one that waits for it. */
static void offer_to_be_killed(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t ignored = fd >= 0 ? write(fd, "1000", 4) : 0;
    (void)ignored;
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct options o = {.fd = -1, .control = -1, .profile = VG_PROFILE_DEFAULT, .profiles = "."};
    const struct argp parser = {options, option_take, "",  "The virtual GPU's device process.",
                                NULL,    NULL,        NULL};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    signal(SIGPIPE, SIG_IGN);
    offer_to_be_killed();
    /* Ctrl-C goes to the whole terminal group; the program ends first, then the device. */
    signal(SIGINT, SIG_IGN);
    if (o.control >= 0) /* who owns the records lets no other process of this user read them */
        prctl(PR_SET_DUMPABLE, 0);
    static struct session_shared shared;
    struct st_error err;
    shared.cores = o.cores;
    shared.seed = o.seed;
    enum st_code code = vg_profile_read(&shared.profile, o.profiles, o.profile, &err);
    if (!code)
        code = record_open(&shared.record, o.path, o.control >= 0, &err);
    if (!code)
        code = server_run(&shared, o.fd, o.control, &err);
    if (!code)
        code = record_write(shared.record, &err);
    record_close(shared.record);
    if (code)
        st_print(stderr, "virtual GPU", &err);
    return code ? 2 : 0;
}
