/* A program that pretends to use a GPU: it loads the injected library as the CUDA driver does.
 *
 *     fake_program STEP...
 *
 *     launch:N  N launches          copy:KIND  a copy        odd   fake_odd()
 *     drop:N    CUPTI drops N       reset      the context ends
 *     switch:0  cudaProfilerStop()  switch:1   cudaProfilerStart()
 *     attach:0  recorded_attach(0)  attach:1   recorded_attach(1)
 *     sleep     300 ms              fork       a child that exits at once
 *     then as the program ends: segv abort kill term exit:N _exit:N; else it returns from main */
#include "cupti/tests/fake_cupti.h"
#include "trace/recorded.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *cupti;
static volatile int *volatile nowhere;

static void *function(const char *name)
{
    void *f = dlsym(cupti, name);
    if (!f) {
        fprintf(stderr, "fake_program: the fake CUPTI has no %s\n", name);
        exit(99);
    }
    return f;
}

static void start(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH"), *name = getenv("CONVLAB_CUPTI");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(void) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjection");
    if (!initialize) {
        fprintf(stderr, "fake_program: nothing was injected: %s\n", path ? dlerror() : "no path");
        exit(99);
    }
    initialize();
    cupti = dlopen(name, RTLD_NOW);
}

static void step(const char *what)
{
    static int number;
    const char *value = strchr(what, ':');
    const int n = value ? atoi(value + 1) : 0;
    if (strncmp(what, "launch", 6) == 0)
        for (int i = 0; i < n; i++)
            ((fake_launch_function *)function("fake_launch"))(++number);
    else if (strncmp(what, "copy", 4) == 0)
        ((fake_copy_function *)function("fake_copy"))(++number, n);
    else if (strcmp(what, "odd") == 0)
        ((fake_odd_function *)function("fake_odd"))(++number);
    else if (strncmp(what, "drop", 4) == 0)
        ((fake_drop_function *)function("fake_drop"))(n);
    else if (strcmp(what, "reset") == 0)
        ((fake_reset_function *)function("fake_reset"))();
    else if (strncmp(what, "attach", 6) == 0)
        recorded_attach(n);
    else if (strncmp(what, "switch", 6) == 0)
        ((fake_switch_function *)function("fake_switch"))(++number, n);
    else if (strcmp(what, "stream") == 0)
        ((fake_reset_function *)function("fake_stream"))();
    else if (strcmp(what, "sleep") == 0)
        usleep(300000);
    else if (strcmp(what, "fork") == 0 && fork() == 0)
        exit(0);
    else if (strcmp(what, "segv") == 0)
        *nowhere = 1;
    else if (strcmp(what, "abort") == 0)
        abort();
    else if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(what, "term") == 0)
        kill(getpid(), SIGTERM);
    else if (strncmp(what, "exit", 4) == 0)
        exit(n);
    else if (strncmp(what, "_exit", 5) == 0)
        _exit(n);
}

int main(int argc, char **argv)
{
    start();
    for (int i = 1; i < argc && cupti; i++)
        step(argv[i]);
    while (wait(NULL) > 0)
        ;
    return cupti ? 0 : 98;
}
