/* Tests the device process from its owner's view: how it starts and ends, the environment of its
 * programs, and its measured work. */
#include "base/tests/run_tool.h"
#include "vgpu/api/vgpu.h"
#include "vgpu/device/device_process.h"
#include "vgpu/device/device_protocol.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct vg_process start(const char *profile)
{
    struct vg_process process;
    struct st_error err;
    struct vg_process_options options = {
        .folder = tool_build(), .profile = profile, .output = -1, .owned = true};
    cr_assert_eq(vg_process_start(&process, &options, &err), ST_OK, "%s", err.what);
    return process;
}

Test(device_process, says_why_it_does_not_start)
{
    int ends[2];
    char text[400] = "";
    struct vg_process process;
    struct st_error err;
    cr_assert_eq(pipe(ends), 0);
    struct vg_process_options options = {
        .folder = tool_build(), .profile = "gtx-0", .output = ends[1], .owned = true};
    cr_assert_eq(vg_process_start(&process, &options, &err), ST_CHILD);
    cr_assert_gt(read(ends[0], text, sizeof text - 1), 0);
    cr_assert(strstr(text, "no GPU profile is named 'gtx-0'"), "%s", text);
    cr_assert_eq(process.pid, 0);
    options.folder = "/no-such-folder";
    cr_assert_eq(vg_process_start(&process, &options, &err), ST_CHILD);
    memset(text, 0, sizeof text);
    cr_assert_gt(read(ends[0], text, sizeof text - 1), 0);
    cr_assert(strstr(text, "/no-such-folder/vgpu-device"), "%s", text);
    close(ends[0]);
    close(ends[1]);
}

Test(device_process, ends_with_its_owner)
{
    struct vg_process process = start("h200");
    int status;
    close(process.control); /* as if the owner were killed */
    cr_assert_eq(waitpid(process.pid, &status, 0), process.pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(process.door);
}

Test(device_process, that_has_ended_gives_no_records)
{
    struct vg_process process = start("h200");
    struct vg_process_record record;
    struct st_error err;
    kill(process.pid, SIGKILL);
    waitpid(process.pid, NULL, 0);
    process.pid = 0;
    cr_assert(!vg_process_ask(&process) || vg_process_answer(&process, &record, &err) == ST_CHILD);
    vg_process_kill(&process);
}

Test(device_process, that_takes_too_much_memory_ends_itself_and_says_so)
{
    struct vg_process process = start("h200");
    int status;
    vg_process_limit(&process, (size_t)1 << 40);
    cr_assert_not(vg_process_ended(&process, &status));
    vg_process_limit(&process, 1);
    cr_assert(vg_process_ended(&process, &status));
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == VG_PROCESS_TOO_MUCH);
    vg_process_kill(&process);
    process = start("h200");
    kill(process.pid, SIGABRT);
    cr_assert(vg_process_ended(&process, &status));
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    vg_process_kill(&process);
}

Test(device_process, gives_a_program_the_paths_of_its_files)
{
    setenv("LD_LIBRARY_PATH", "/old", 1);
    setenv(VP_DOOR_VARIABLE, "99", 1);
    char **list = vg_process_environment("/b", 7, VG_PRELOAD_NONE);
    int found = 0;
    for (size_t i = 0; list[i]; i++) {
        found += strcmp(list[i], "LD_LIBRARY_PATH=/b/vgpu:/b/vgpu-libraries:/old") == 0;
        found += strcmp(list[i], VP_DOOR_VARIABLE "=7") == 0;
        cr_assert_neq(strcmp(list[i], VP_DOOR_VARIABLE "=99"), 0);
    }
    cr_assert_eq(found, 2);
    free(list);
}

Test(device_process, preloads_the_runtime_before_other_preloaded_libraries)
{
    setenv("LD_PRELOAD", "/l.so", 1);
    static const char *const values[] = {
        [VG_PRELOAD_NONE] = "LD_PRELOAD=/l.so",
        [VG_PRELOAD_RUNTIME] = "LD_PRELOAD=/b/vgpu/libcudart.so.13:/l.so",
        [VG_PRELOAD_ALL] =
            "LD_PRELOAD=/b/vgpu/libcudart.so.13:libnvJitLink.so.13:libnvJitLink.so.12:/l.so"};
    for (enum vg_preload preload = VG_PRELOAD_NONE; preload <= VG_PRELOAD_ALL; preload++) {
        char **list = vg_process_environment("/b", 7, preload);
        const char *wanted = values[preload];
        int found = 0, right = 0;
        for (size_t i = 0; list[i]; i++) {
            found += strncmp(list[i], "LD_PRELOAD=", 11) == 0;
            right += strcmp(list[i], wanted) == 0;
        }
        cr_assert_eq(found, 1);
        cr_assert_eq(right, 1);
        free(list);
    }
    unsetenv("LD_PRELOAD");
}

static sem_t worked, may_end;

/* A thread that takes a name and works for 0.3 s. */
static void *work_as(void *name)
{
    struct timespec t;
    pthread_setname_np(pthread_self(), name);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec == 0 && t.tv_nsec < 300000000);
    sem_post(&worked);
    sem_wait(&may_end);
    return NULL;
}

/* @return this process's measured work while a thread with this name works. */
static double work_beside(struct vg_process *self, const char *name)
{
    pthread_t thread;
    const double before_s = vg_process_work_s(self);
    cr_assert_eq(pthread_create(&thread, NULL, work_as, (void *)name), 0);
    sem_wait(&worked);
    const double after_s = vg_process_work_s(self);
    sem_post(&may_end);
    pthread_join(thread, NULL);
    return after_s - before_s;
}

/* A submission must not fail because translation to native code takes long. */
Test(device_process, works_while_it_makes_native_code_but_this_does_not_count, .timeout = 60)
{
    struct vg_process self = {.pid = getpid()};
    sem_init(&worked, 0, 0);
    sem_init(&may_end, 0, 0);
    for (int i = 0; i < 3; i++)
        cr_assert_lt(work_beside(&self, VG_TRANSLATOR_THREAD), 0.15);
    cr_assert_gt(work_beside(&self, "worker"), 0.25);
    struct vg_process none = VG_PROCESS_NONE;
    cr_assert_eq(vg_process_work_s(&none), 0);
}
