/* The device process: runs the virtual GPU and serves the programs that have its door.
 *
 *     vgpu-device --fd N --profiles DIR [OPTION...]     (--help lists the options)
 *     vgpu-device --version                             prints which engine this machine uses
 *
 * vgpu-run and the grader start it (device_process.h); it is not started by hand. The exit status
 * is 0, or 2 with a message. */
#include "base/option_table.h"
#include "base/progress.h"
#include "vgpu/device/device_confinement.h"
#include "vgpu/device/device_process.h"
#include "vgpu/device/memory_limit.h"
#include "vgpu/device/native_library.h"
#include "vgpu/device/ptxas.h"
#include "vgpu/device/server.h"
#include "vgpu/exec/code_store.h"
#include "vgpu/gpus/gpu_profile.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct options {
    const char *profile, *profiles, *prove, *recordings, *path[RECORD_TABLES];
    int fd, control, cores, multiprocessors, memory, code_store, progress;
    enum vg_engine engine;
    enum vg_stream_order order;
    uint64_t seed;
    const char *suppressions;
    bool leak_check, tells_findings, host_tensors, is_brief;
};

static const struct option_row rows[] = {
    {"fd", 'f', "N", "the door: the number of an inherited socket",
     OPTION_INT(struct options, fd, 0, INT_MAX)},
    {"control", 'o', "N", "the owner's channel: an inherited socket",
     OPTION_INT(struct options, control, 0, INT_MAX)},
    {"code-store", 'd', "N", "inherited memory for native code",
     OPTION_INT(struct options, code_store, 0, INT_MAX)},
    {"progress", 'b', "N", "inherited memory for counts of blocks",
     OPTION_INT(struct options, progress, 0, INT_MAX)},
    {"profiles", 'P', "DIR", "the folder of GPU profiles", OPTION_TEXT(struct options, profiles)},
    {"profile", 'p', "NAME", "the GPU to model", OPTION_TEXT(struct options, profile)},
    {"multiprocessors", 'm', "N", "number of multiprocessors of the GPU (default: its profile's)",
     OPTION_INT(struct options, multiprocessors, 1, INT_MAX)},
    {"memory", 'M', "MIB", "memory of the GPU (default: its profile's)",
     OPTION_INT(struct options, memory, 1, INT_MAX)},
    {"faults", 'F', "FILE", "write the findings to a TSV file",
     OPTION_TEXT(struct options, path[RECORD_FAULTS])},
    {"counters", 'C', "FILE", "write the counters to a TSV file",
     OPTION_TEXT(struct options, path[RECORD_COUNTERS])},
    {"trace", 't', "FILE", "write launches, copies and calls to a TSV file",
     OPTION_TEXT(struct options, path[RECORD_TRACE])},
    {"work", 'w', "FILE", "write the memory that each launch and copy used to a TSV file",
     OPTION_TEXT(struct options, path[RECORD_WORK])},
    {"record", 'R', "FILE", "record a block of each kernel, as lines of JSON",
     OPTION_TEXT(struct options, recordings)},
    {"prove", 'r', "[tiles;]B,M,C,H,W,K[:N][;...]",
     "prove this convolution by execution, on the interpreter; record how output N is computed; after ';', the next convolution; after 'tiles;', tiles of the unrolled matrix are recognised",
     OPTION_TEXT(struct options, prove)},
    {"host-tensors", 'H', NULL, "x, k and y are the first page-locked allocations of a record",
     OPTION_FLAG(struct options, host_tensors)},
    {"seed", 's', "N", "order of blocks and warps",
     OPTION_NUMBER(struct options, seed, 0, UINT64_MAX)},
    {"stream-order", 'O', "ORDER", "order of streams that do not wait for each other",
     OPTION_CHOICE(struct options, order, vg_order_words)},
    {"cores", 'c', "N", "number of threads to use (default: all cores)",
     OPTION_INT(struct options, cores, 0, INT_MAX)},
    {"engine", 'e', "ENGINE", VG_ENGINE_HELP,
     OPTION_CHOICE(struct options, engine, vg_engine_words)},
    {"brief", 'B', NULL, "few launches follow: native code must pay within a launch",
     OPTION_FLAG(struct options, is_brief)},
    {"suppressions", 'S', "FILE", "file of findings that are not reported",
     OPTION_TEXT(struct options, suppressions)},
    {"leak-check", 'l', NULL, "report memory that is never freed",
     OPTION_FLAG(struct options, leak_check)},
    {"tell-findings", 'T', NULL, "exit status if the kernels have findings",
     OPTION_FLAG(struct options, tells_findings)},
    {0}};

/* ---- the engine ------------------------------------------------------------------------------ */

/* Memory through which a grading's device processes share native code. */
static struct code_store code_store;

static void open_code_store(int fd)
{
    struct stat file;
    if (fd < 0 || fstat(fd, &file) || file.st_size <= 0)
        return;
    void *memory = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED)
        code_store = (struct code_store){memory, (size_t)file.st_size};
    close(fd);
}

/* @return the memory for the count of blocks, or NULL. */
static struct progress_shared *open_progress(int fd)
{
    struct progress_shared *memory = MAP_FAILED;
    if (fd >= 0) {
        memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

static const struct vg_translator *load_translator(struct st_error *err)
{
    const struct vg_translator *found = native_library_load(err);
    if (found && code_store.memory)
        found->share(code_store.memory, code_store.bytes);
    return found;
}

static const struct vg_translator *find_translator(void)
{
    return load_translator(NULL);
}

/* Finishes the current translation, which other device processes will use. */
static void finish_code(void)
{
    enum { LIMIT_MS = 30000, STEP_MS = 10 };
    const struct vg_translator *t =
        code_store.memory && native_library_is_begun() ? native_library_load(NULL) : NULL;
    for (int waited = 0; t && t->is_busy() && waited < LIMIT_MS; waited += STEP_MS)
        nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
}

/* @return the translator. If native code was requested and the translator is missing, reports the
 * reason once. */
static const struct vg_translator *find_translator_or_say(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct st_error err;
    const struct vg_translator *found = load_translator(&err);
    if (!found && !atomic_flag_test_and_set(&said))
        st_print(stderr, "virtual GPU", &err);
    return found;
}

/* Prints which engine this machine uses, in one line. */
static void print_engine(FILE *out, struct argp_state *state)
{
    const struct vg_profile any = {.global_bytes = 1 << 28};
    struct vg_device *device;
    struct st_error err;
    (void)state;
    if (vg_device_open(&device, &any, 1, &err)) {
        st_print(stderr, "virtual GPU", &err);
        return;
    }
    /* no native code for narrower vectors */
    const bool any_native = strcmp(vg_device_instruction_set(device), "base") != 0;
    const struct vg_translator *found = any_native ? native_library_load(&err) : NULL;
    fprintf(out, "virtual GPU: %s, instruction set %s\n",
            found ? found->version() : "interpreter only", vg_device_instruction_set(device));
    if (any_native && !found)
        st_print(out, "virtual GPU", &err);
    vg_device_close(device);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* If memory runs out, Linux should kill this process, which has the device's memory, rather than
 * the waiting owner. */
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
    struct options o = {.fd = -1,
                        .control = -1,
                        .code_store = -1,
                        .progress = -1,
                        .profile = VG_PROFILE_DEFAULT,
                        .profiles = "."};
    static const struct option_table table = {.rows = rows,
                                              .about = "The virtual GPU's device process."};
    argp_program_version_hook = print_engine;
    options_parse(&table, argc, argv, &o);
    signal(SIGPIPE, SIG_IGN);
    offer_to_be_killed();
    /* Ctrl-C is sent to the whole process group; the program must end first, then the device. */
    signal(SIGINT, SIG_IGN);
    if (o.control >= 0) /* other processes of this user must not read the records of the owner */
        prctl(PR_SET_DUMPABLE, 0);
    else
        ptxas_start();
    open_code_store(o.code_store);
    static struct session_shared shared;
    struct st_error err;
    shared.progress = open_progress(o.progress);
    shared.cores = o.cores;
    shared.seed = o.seed;
    shared.engine = o.engine;
    shared.is_brief = o.is_brief;
    shared.leak_check = o.leak_check;
    shared.host_tensors = o.host_tensors;
    shared.order = o.order;
    shared.owned = shared.charges_host = o.control >= 0;
    shared.find_translator = o.engine == VG_ENGINE_NATIVE ? find_translator_or_say
                             : native_library_exists()    ? find_translator
                                                          : NULL;
    static struct session_proved proved[SESSION_PROVED];
    if (o.prove) {
        if (!session_proof_read(o.prove, proved)) {
            fprintf(
                stderr,
                "virtual GPU: '%s' is not a shape: expected B,M,C,H,W,K or B,M,C,H,W,K:OUTPUT\n",
                o.prove);
            return 2;
        }
        shared.proved = proved;
        shared.cores = 1;
        shared.engine = VG_ENGINE_INTERPRETER;
    }
    enum st_code code = vg_profile_read(&shared.profile, o.profiles, o.profile, &err);
    if (!code)
        code = record_open(&shared.record, o.path, o.control >= 0, &err);
    if (!code && o.recordings)
        record_blocks(shared.record, o.recordings);
    if (!code && o.multiprocessors)
        shared.profile.multiprocessors = o.multiprocessors;
    if (!code && o.memory && shared.profile.global_bytes >> 20 > (size_t)o.memory)
        shared.profile.global_bytes = (size_t)o.memory << 20;
    if (!code && o.suppressions)
        code = record_suppress(shared.record, o.suppressions, &err);
    if (!code)
        device_confine(o.control >= 0);
    if (!code && o.control >= 0)
        memory_limit_keep();
    if (!code)
        code = server_run(&shared, o.fd, o.control, &err);
    if (!code)
        code = record_write(shared.record, &err);
    const bool found = !code && o.tells_findings && record_has_findings(shared.record);
    record_close(shared.record);
    if (code)
        st_print(stderr, "virtual GPU", &err);
    fflush(NULL);
    finish_code();
    const int status = code ? 2 : found ? VG_PROCESS_FOUND : 0;
    if (native_library_is_begun()) /* loading and compiling cannot be interrupted */
        _exit(status);
    return status;
}
