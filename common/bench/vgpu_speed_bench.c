/* Measures the virtual GPU's speed on the references' kernels, in the interpreter and in native
 * code, with all checks and counters: part of `make bench`.
 *
 *     vgpu_speed_bench                      every CUDA milestone in build/reference, both layers
 *     vgpu_speed_bench LIB...               these libraries instead
 *     vgpu_speed_bench --client LIB B M C H W K      (used internally, on the virtual GPU)
 *
 * For each library and each convolution of the two-layer network:
 *
 *     1. vgpu-run starts a client with --engine interpreter and --engine auto, with one core and
 *        with two, alternately, REPEATS times. The client loads the library, and calls
 *        conv_forward() for all images until the translator is idle. Then it calls conv_forward()
 *        RUNS times, and samples the CPU time of the device process's threads before and after.
 *     2. The speed is multiply-adds divided by the wall time, which a student sees; medians are
 *        shown.
 *     3. The scaling is computed from wall time and from CPU time: twice the time of one core
 *        divided by the total of two. A block goes to any idle thread, so both figures agree on an
 *        idle machine; on a busy one, only CPU time is meaningful.
 *     4. The compile time is the translator's CPU time at the end.
 *     5. Before these steps, PoCL runs the kernels of m2 and m3 (vgpu_pocl_bench).
 *     6. The outputs are compared with the oracle's.
 *
 * Exit status: 0, or 1 if anything failed or an output is wrong. A figure below its goal is marked
 * but is not a failure, because the machine may be busy.
 */
#include "base/clock.h"
#include "base/files.h"
#include "base/median.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/threads.h"
#include "bench/bench_tensors.h"
#include "runner/cuda_api.h"
#include "exercise/exercise.h"
#include "runner/lab.h"
#include "vgpu/api/vgpu.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 3, RUNS = 3, MAX_THREADS = 64, LAST_MILESTONE = 9 };
static const double speed_goal = 5,
                    pocl_goal = 2; /* GMAC/s by wall time; multiple of PoCL's, if measured */
static const double warm_s = 1, warm_most_s = 20;
static const double scaling_goal = 1.8, compile_goal_s = 0.5;

static const struct layer {
    const char *name;
    struct conv_shape shape;
} layers[] = {
    {"conv1", {64, 12, 1, 70, 70, 5}},
    {"conv2", {16, 24, 12, 33, 33, 5}},
};
enum { LAYERS = sizeof layers / sizeof *layers };

/* ---- the client ------------------------------------------------------------------------------ */

static struct cuda_api api;

static void *device_alloc(size_t bytes)
{
    void *device = NULL;
    return api.cudaMalloc(&device, bytes) == 0 ? device : NULL;
}

static void device_free(void *device)
{
    api.cudaFree(device);
}

static void check(int error, const char *call)
{
    if (error)
        die(call, api.cudaGetErrorString(error));
}
#define CHECK(call) check(api.call, #call)

/* The device process: a child of our parent, vgpu-run. */
static int device_process(void)
{
    DIR *proc = opendir("/proc");
    int found = 0;
    for (struct dirent *d; proc != NULL && (d = readdir(proc)) != NULL;) {
        char path[300], name[64];
        int pid = atoi(d->d_name), parent;
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *f = pid > 0 ? fopen(path, "r") : NULL;
        if (f == NULL)
            continue;
        if (fscanf(f, "%*d (%63[^)]) %*c %d", name, &parent) == 2 && parent == getppid() &&
            strcmp(name, "vgpu-device") == 0)
            found = pid;
        fclose(f);
    }
    if (proc != NULL)
        closedir(proc);
    if (found == 0)
        die("client", "this program has no device process (hint: run it through vgpu-run)");
    return found;
}

/** CPU times of the device process's threads, from Linux's schedstat. */
struct usage {
    int n, thread[MAX_THREADS];
    double ran_s[MAX_THREADS], waited_s[MAX_THREADS]; /**< waited: runnable, but without a core */
    double compiled_s;                                /**< time of the translator's thread */
};

static bool usage_add(pid_t pid, const char *thread, void *context)
{
    struct usage *u = context;
    struct thread_stat stat;
    char path[300];
    uint64_t ran_ns, waited_ns;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pid, thread);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return true;
    if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran_ns, &waited_ns) == 2) {
        if (thread_stat_read(pid, thread, &stat) && strcmp(stat.name, VG_TRANSLATOR_THREAD) == 0)
            u->compiled_s = 1e-9 * (double)ran_ns;
        u->thread[u->n] = atoi(thread);
        u->ran_s[u->n] = 1e-9 * (double)ran_ns;
        u->waited_s[u->n++] = 1e-9 * (double)waited_ns;
    }
    fclose(f);
    return u->n < MAX_THREADS;
}

static void usage_get(int pid, struct usage *u)
{
    u->n = 0;
    u->compiled_s = 0;
    threads_each(pid, usage_add, u);
    if (u->n == 0)
        die("/proc", "no thread of the device has a readable schedstat");
}

/** One run of conv_forward(), in seconds. */
struct sample {
    double compiled_s;              /**< time spent on translation */
    double wall_s, cpu_s, waited_s; /**< the last two: sums over all threads */
};

static struct sample usage_between(const struct usage *a, const struct usage *b)
{
    struct sample s = {0};
    for (int i = 0; i < b->n; i++) {
        double ran = b->ran_s[i], waited = b->waited_s[i];
        for (int k = 0; k < a->n; k++)
            if (a->thread[k] == b->thread[i]) {
                ran -= a->ran_s[k];
                waited -= a->waited_s[k];
            }
        s.cpu_s += ran;
        s.waited_s += waited;
    }
    return s;
}

static double convolve_s(lab_function *conv, const struct conv_shape *s, void *const device[3])
{
    const double begin_s = clock_now_s();
    if (conv(s, device[0], device[1], device[2]))
        die("conv_forward", "returned an error");
    CHECK(cudaDeviceSynchronize());
    return clock_now_s() - begin_s;
}

/* Runs until the translator has been idle for a while. @param translated  wait for its first code */
static void warm_up(lab_function *conv, const struct conv_shape *s, void *const device[3], int pid,
                    bool translated)
{
    const double begin_s = clock_now_s();
    double compiled_s = 0, since_s = begin_s, now_s;
    do {
        struct usage used;
        convolve_s(conv, s, device);
        usage_get(pid, &used);
        now_s = clock_now_s();
        if (used.compiled_s > compiled_s)
            since_s = now_s;
        compiled_s = used.compiled_s;
    } while ((now_s - since_s < warm_s || (translated && compiled_s == 0)) &&
             now_s - begin_s < warm_most_s);
}

static int client(char **argument)
{
    struct conv_shape s = {atoi(argument[1]), atoi(argument[2]), atoi(argument[3]),
                           atoi(argument[4]), atoi(argument[5]), atoi(argument[6])};
    const size_t n[3] = {nn_conv_x_elems(&s), nn_conv_k_elems(&s), nn_conv_y_elems(&s)};
    float *host[3] = {floats(n[0]), floats(n[1]), floats(n[2])};
    void *device[3];
    struct st_error err;
    lab_function *conv;
    if (cuda_api_load(&api, argument[0], &err) ||
        lab_load(argument[0], exercise_at(0), &conv, &err))
        die(argument[0], err.what);
    lab_workspace_use(device_alloc, device_free);
    struct rng r = rng_make(1, 0);
    rng_fill(&r, host[0], n[0], -1, 1);
    rng_fill(&r, host[1], n[1], -1, 1);
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMalloc(&device[i], n[i] * sizeof(float)));
        CHECK(cudaMemcpy(device[i], host[i], n[i] * sizeof(float), CUDA_HOST_TO_DEVICE));
    }
    const int pid = device_process();
    struct usage before, after;
    double wall_s[RUNS];
    warm_up(conv, &s, device, pid, strcmp(argument[7], "auto") == 0);
    usage_get(pid, &before);
    for (int i = 0; i < RUNS; i++)
        wall_s[i] = convolve_s(conv, &s, device);
    usage_get(pid, &after);
    CHECK(cudaMemcpy(host[2], device[2], n[2] * sizeof(float), CUDA_DEVICE_TO_HOST));
    compare(&s, host[0], host[1], host[2]);
    const struct sample taken = usage_between(&before, &after);
    printf("%.9f %.9f %.9f %.9f\n", after.compiled_s, median_of(wall_s, RUNS).median,
           taken.cpu_s / RUNS, taken.waited_s / RUNS);
    return 0;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

enum engine { INTERPRETER, AUTO, ENGINES };

static struct sample run(const char *folder, const char *library, const struct conv_shape *s,
                         enum engine engine, int cores)
{
    const char *const name = engine == AUTO ? "auto" : "interpreter";
    char command[3 * PATH_MAX];
    struct sample t = {0};
    snprintf(
        command, sizeof command,
        "'%s/vgpu-run' --engine %s --cores %d '%s/vgpu_speed_bench' --client '%s' %d %d %d %d %d %d %s",
        folder, name, cores, folder, library, s->B, s->M, s->C, s->H, s->W, s->K, name);
    FILE *f = popen(command, "r");
    if (f == NULL ||
        fscanf(f, "%lf %lf %lf %lf", &t.compiled_s, &t.wall_s, &t.cpu_s, &t.waited_s) != 4) {
        if (f != NULL)
            pclose(f);
        die(library, "the client failed");
    }
    if (pclose(f) != 0)
        die(library, "the client failed after its measurements");
    return t;
}

/** Medians of an engine's runs with one core and with two. */
struct speed {
    double compiled_s[2], wall_s[2], cpu_s[2];
    double waited; /**< share of the threads' runnable time spent waiting for cores */
};

static void measure(const char *folder, const char *library, const struct conv_shape *s,
                    int engines, struct speed speed[ENGINES])
{
    double compiled[ENGINES][2][REPEATS], wall[ENGINES][2][REPEATS], cpu[ENGINES][2][REPEATS];
    double waited[ENGINES] = {0}, ran[ENGINES] = {0};
    for (int i = 0; i < REPEATS; i++)
        for (int e = 0; e < engines; e++)
            for (int two = 0; two < 2; two++) {
                const struct sample t = run(folder, library, s, (enum engine)e, 1 + two);
                compiled[e][two][i] = t.compiled_s;
                wall[e][two][i] = t.wall_s;
                cpu[e][two][i] = t.cpu_s;
                waited[e] += t.waited_s;
                ran[e] += t.cpu_s;
            }
    for (int e = 0; e < engines; e++) {
        speed[e].waited = waited[e] / (ran[e] + waited[e]);
        for (int two = 0; two < 2; two++) {
            speed[e].compiled_s[two] = median_of(compiled[e][two], REPEATS).median;
            speed[e].wall_s[two] = median_of(wall[e][two], REPEATS).median;
            speed[e].cpu_s[two] = median_of(cpu[e][two], REPEATS).median;
        }
    }
}

/* ---- comparison with PoCL ---------------------------------------------------------------------- */

/** PoCL's GMAC/s by wall time with a milestone's kernel. */
static struct pocl {
    char milestone[8], layer[8];
    double speed;
} pocl[8];

static void pocl_run(const char *folder)
{
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "'%s/vgpu_pocl_bench' --figures", folder);
    FILE *f = popen(command, "r");
    size_t n = 0;
    while (f != NULL && n < sizeof pocl / sizeof *pocl &&
           fscanf(f, "%7s %7s %lf", pocl[n].milestone, pocl[n].layer, &pocl[n].speed) == 3)
        n++;
    if (f != NULL)
        pclose(f);
}

/* @return NAN if PoCL did not run the kernel. */
static double pocl_speed(const char *milestone, const char *layer)
{
    for (size_t i = 0; i < sizeof pocl / sizeof *pocl; i++)
        if (strcmp(pocl[i].milestone, milestone) == 0 && strcmp(pocl[i].layer, layer) == 0)
            return pocl[i].speed;
    return NAN;
}

/* Prints the engines. @return the number of engines to measure */
static int print_engines(const char *folder)
{
    char command[PATH_MAX + 64], line[640] = "";
    snprintf(command, sizeof command, "'%s/vgpu-run' --version", folder);
    FILE *f = popen(command, "r");
    int engines = ENGINES;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        fputs(line, stdout);
        if (strstr(line, "interpreter only") != NULL)
            engines = 1;
    }
    if (f != NULL)
        pclose(f);
    return engines;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_figure(int width, int digits, double value)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

static void print_head(void)
{
    printf("%-10s %-6s %17s %17s %7s %17s %7s %7s %7s\n", "", "", "interpreter,", "native code,",
           "times", "scaling", "s to", "waited", "PoCL,");
    printf("%-10s %-6s %8s %8s %8s %8s %7s %8s %8s %7s %7s %7s\n", "kernels of", "layer", "1 core",
           "2 cores", "1 core", "2 cores", "interp.", "by wall", "by CPU", "compile", "",
           "2 cores");
}

/* Marks figures that miss their goal. */
static void print_marks(double speed, double times_pocl, double scaling, double compile_s)
{
    if (!isnan(times_pocl)) {
        if (times_pocl < pocl_goal)
            printf("  (%.2f times PoCL: below goal)", times_pocl);
    } else if (speed < speed_goal) {
        printf("  (speed below goal)");
    }
    if (scaling < scaling_goal)
        printf("  (scaling below goal)");
    if (compile_s > compile_goal_s)
        printf("  (compiling above goal)");
    printf("\n");
}

static void bench(const char *folder, const char *name, const char *library, int engines,
                  const struct layer *l)
{
    const double gmac = 1e-9 * nn_conv_macs(&l->shape), other = pocl_speed(name, l->name);
    struct speed speed[ENGINES] = {0};
    measure(folder, library, &l->shape, engines, speed);
    const struct speed *slow = &speed[INTERPRETER], *best = &speed[engines - 1];
    const bool native = engines == ENGINES;
    const double scaling = 2 * best->cpu_s[0] / best->cpu_s[1];
    const double compile_s = native ? best->compiled_s[1] : NAN;
    printf("%-10s %-6s", name, l->name);
    for (int two = 0; two < 2; two++)
        print_figure(8, 3, gmac / slow->wall_s[two]);
    for (int two = 0; two < 2; two++)
        print_figure(8, 3, native ? gmac / best->wall_s[two] : NAN);
    print_figure(7, 2, native ? slow->wall_s[1] / best->wall_s[1] : NAN);
    print_figure(8, 2, best->wall_s[0] / best->wall_s[1]);
    print_figure(8, 2, scaling);
    print_figure(7, 3, compile_s);
    printf(" %6.0f%%", 100 * best->waited);
    print_figure(7, 3, other);
    print_marks(gmac / best->wall_s[1], gmac / best->wall_s[1] / other, scaling, compile_s);
    fflush(stdout);
}

static void print_machine(void)
{
    char cpu[128] = "unknown CPU", line[256];
    double load[3] = {0};
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "model name : %127[^\n]", cpu) == 1)
            break;
    if (f != NULL)
        fclose(f);
    if (getloadavg(load, 3) < 1)
        load[0] = NAN;
    printf("%s, %d cores, load %.1f when started; median of %d, engines and cores alternating\n\n",
           cpu, parallel_cores(), load[0], REPEATS);
}

int main(int argc, char **argv)
{
    if (argc == 10 && strcmp(argv[1], "--client") == 0)
        return client(argv + 2);
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    if (strrchr(folder, '/') == NULL)
        die("/proc/self/exe", "cannot be read");
    *strrchr(folder, '/') = '\0';
    printf(
        "\nVirtual GPU, all checks and counters on: GMAC/s by wall time (goals: %.0f times PoCL or %.0f, scaling %.1f by CPU, %.1f s to compile)\n",
        pocl_goal, speed_goal, scaling_goal, compile_goal_s);
    const int engines = print_engines(folder);
    print_machine();
    pocl_run(folder);
    print_head();
    int done = 0;
    for (int i = 1; i < argc; i++, done++)
        for (int l = 0; l < LAYERS; l++)
            bench(folder, "library", argv[i], engines, &layers[l]);
    for (int m = 2; argc == 1 && m <= LAST_MILESTONE; m++) {
        char library[2 * PATH_MAX], name[16];
        snprintf(name, sizeof name, "m%d", m);
        snprintf(library, sizeof library, "%s/reference/%s/libconv.so", folder, name);
        if (!file_exists(library))
            continue;
        done++;
        for (int l = 0; l < LAYERS; l++)
            bench(folder, name, library, engines, &layers[l]);
    }
    if (done == 0)
        printf("skip: no CUDA reference is built (hint: make reference, which needs nvcc)\n");
    return 0;
}
