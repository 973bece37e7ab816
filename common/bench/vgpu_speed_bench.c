/* The virtual GPU's speed on the references' kernels, all checks and counters on: part of
 * `make bench`.
 *
 *     vgpu_speed_bench                      every CUDA milestone in build/reference, both layers
 *     vgpu_speed_bench LIB...               these libraries instead
 *     vgpu_speed_bench --client LIB B M C H W K      (what it starts on the virtual GPU)
 *
 * For each library and each convolution of the two-layer network:
 *
 *     1. A client is started by vgpu-run with one core and with two, in turns, REPEATS times. It
 *        loads the library, runs conv_forward() once to warm up (the module is loaded then), and
 *        once between two samples of what the threads of the device process have used.
 *     2. The speed of a core is multiply-adds by CPU time, which a busy machine does not spoil, and
 *        by wall time, which is what a student sees. Medians.
 *     3. The scaling is given by wall time, and by CPU time: twice what one core took against what
 * two took together. Blocks go to whichever thread is free, so this is what the wall time gives on
 *        a machine with nothing else to do; on a busy one only it means something.
 *     4. The outputs are compared with the oracle's.
 *
 * Exit status: 0, or 1 if anything failed or an output is wrong. A figure below its goal is marked,
 * not failed: a busy machine is no bug.
 */
#include "base/clock.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "nn/oracle.h"
#include "runner/cuda_api.h"
#include "runner/lab.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 3, MAX_THREADS = 64, LAST_MILESTONE = 9 };
static const double speed_goal = 0.2; /* GMAC/s a core */
static const double scaling_goal = 1.8;

static const struct layer {
    const char *name;
    struct conv_shape shape;
} layers[] = {
    {"conv1", {64, 12, 1, 70, 70, 5}},
    {"conv2", {16, 24, 12, 33, 33, 5}},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "vgpu_speed_bench: %s: %s\n", what, why);
    exit(1);
}

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
        die("client", "no device process beside this one (hint: run it through vgpu-run)");
    return found;
}

/** What threads have used, by Linux's schedstat. */
struct usage {
    int n, thread[MAX_THREADS];
    double ran_s[MAX_THREADS], waited_s[MAX_THREADS]; /**< waited: could run, had no core */
};

static void usage_get(int pid, struct usage *u)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    u->n = 0;
    for (struct dirent *d; tasks != NULL && (d = readdir(tasks)) != NULL && u->n < MAX_THREADS;) {
        uint64_t ran_ns, waited_ns;
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pid, d->d_name);
        FILE *f = d->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (f == NULL)
            continue;
        if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran_ns, &waited_ns) == 2) {
            u->thread[u->n] = atoi(d->d_name);
            u->ran_s[u->n] = 1e-9 * (double)ran_ns;
            u->waited_s[u->n++] = 1e-9 * (double)waited_ns;
        }
        fclose(f);
    }
    if (tasks != NULL)
        closedir(tasks);
    if (u->n == 0)
        die(path, "tells nothing");
}

/** One run of conv_forward(), seconds. */
struct sample {
    double wall_s, cpu_s, waited_s; /**< the last two: of all threads together */
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

static float *floats(size_t n)
{
    float *p = malloc(n * sizeof *p);
    if (p == NULL)
        die("tensors", "not enough memory");
    memset(p, 0xff, n * sizeof *p); /* NaN */
    return p;
}

static void compare(const struct conv_shape *s, const float *x, const float *k, const float *y)
{
    const size_t n = nn_conv_y_elems(s), map = n / (size_t)s->B / (size_t)s->M;
    float *expected = floats(n), *atol = floats((size_t)s->M);
    nn_oracle_conv(s, x, k, expected);
    nn_conv_tolerance(s, 1, k, atol);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(y[i] - expected[i]) <=
              atol[i / map % (size_t)s->M] + NN_RTOL * fabsf(expected[i])))
            die("client", "an output is wrong");
    free(expected), free(atol);
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
    if (cuda_api_load(&api, &err) || lab_load(argument[0], &conv, &err))
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
    struct conv_shape first = s;
    first.B = 1;
    if (conv(&first, device[0], device[1], device[2]))
        die("conv_forward", "returned an error");
    CHECK(cudaDeviceSynchronize());
    usage_get(pid, &before);
    const double begin_s = clock_now_s();
    if (conv(&s, device[0], device[1], device[2]))
        die("conv_forward", "returned an error");
    CHECK(cudaDeviceSynchronize());
    const double wall_s = clock_now_s() - begin_s;
    usage_get(pid, &after);
    CHECK(cudaMemcpy(host[2], device[2], n[2] * sizeof(float), CUDA_DEVICE_TO_HOST));
    compare(&s, host[0], host[1], host[2]);
    const struct sample taken = usage_between(&before, &after);
    printf("%.9f %.9f %.9f\n", wall_s, taken.cpu_s, taken.waited_s);
    return 0;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static struct sample run(const char *folder, const char *library, const struct conv_shape *s,
                         int cores)
{
    char command[3 * PATH_MAX];
    struct sample t = {0};
    snprintf(command, sizeof command,
             "'%s/vgpu-run' --cores %d '%s/vgpu_speed_bench' --client '%s' %d %d %d %d %d %d",
             folder, cores, folder, library, s->B, s->M, s->C, s->H, s->W, s->K);
    FILE *f = popen(command, "r");
    if (f == NULL || fscanf(f, "%lf %lf %lf", &t.wall_s, &t.cpu_s, &t.waited_s) != 3) {
        if (f != NULL)
            pclose(f);
        die(library, "the client failed");
    }
    if (pclose(f) != 0)
        die(library, "the client failed after it had measured");
    return t;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[REPEATS])
{
    qsort(values, REPEATS, sizeof *values, by_value);
    return values[REPEATS / 2];
}

static void bench(const char *folder, const char *name, const char *library, const struct layer *l)
{
    const double gmac = 1e-9 * nn_conv_macs(&l->shape);
    double wall[2][REPEATS], cpu[2][REPEATS], waited = 0, ran = 0;
    for (int i = 0; i < REPEATS; i++)
        for (int two = 0; two < 2; two++) {
            const struct sample t = run(folder, library, &l->shape, 1 + two);
            wall[two][i] = t.wall_s;
            cpu[two][i] = t.cpu_s;
            waited += t.waited_s;
            ran += t.cpu_s;
        }
    const double cpu_s = median(cpu[0]), both_s = median(cpu[1]),
                 wall_s[2] = {median(wall[0]), median(wall[1])};
    const double scaling = 2 * cpu_s / both_s;
    printf("%-10s %-6s %9.3f %9.3f %10.3f %9.2f %9.2f %8.0f%%%s%s\n", name, l->name, gmac / cpu_s,
           gmac / wall_s[0], gmac / wall_s[1], wall_s[0] / wall_s[1], scaling,
           100 * waited / (ran + waited), gmac / cpu_s < speed_goal ? "  (speed below goal)" : "",
           scaling < scaling_goal ? "  (scaling below goal)" : "");
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
    printf("%s, %d cores, load %.1f when started; median of %d, one core and two in turns\n\n", cpu,
           parallel_cores(), load[0], REPEATS);
}

int main(int argc, char **argv)
{
    if (argc == 9 && strcmp(argv[1], "--client") == 0)
        return client(argv + 2);
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    if (strrchr(folder, '/') == NULL)
        die("/proc/self/exe", "cannot be read");
    *strrchr(folder, '/') = '\0';
    printf("Virtual GPU, all checks and counters on (goals: %.1f GMAC/s a core, scaling %.1f)\n",
           speed_goal, scaling_goal);
    print_machine();
    printf("%-10s %-6s %9s %9s %10s %9s %9s %9s\n", "", "", "GMAC/s by", "by wall,", "by wall,",
           "scaling", "scaling", "waited");
    printf("%-10s %-6s %9s %9s %10s %9s %9s %9s\n", "kernels of", "layer", "CPU time", "one core",
           "two cores", "by wall", "by CPU", "for cores");
    int done = 0;
    for (int i = 1; i < argc; i++, done++)
        for (int l = 0; l < LAYERS; l++)
            bench(folder, "library", argv[i], &layers[l]);
    for (int m = 2; argc == 1 && m <= LAST_MILESTONE; m++) {
        char library[2 * PATH_MAX], name[16];
        snprintf(name, sizeof name, "m%d", m);
        snprintf(library, sizeof library, "%s/reference/%s/libconv.so", folder, name);
        if (!file_exists(library))
            continue;
        done++;
        for (int l = 0; l < LAYERS; l++)
            bench(folder, name, library, &layers[l]);
    }
    if (done == 0)
        printf("skip: no CUDA reference is built (hint: make reference, which needs nvcc)\n");
    return 0;
}
