/* Tests the rights of a confined process. Each test confines a process of its own. */
#include "vgpu/device/device_confinement.h"
#include "vgpu/device/device_process.h"
#include "vgpu/device/memory_limit.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINED .disabled = true
#else
#define CONFINED .disabled = false
#endif

/* Runs the check in a confined child, which exits with 0 if it passes. */
static int confined(bool reads_only, bool (*as_it_should_be)(void))
{
    int status;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        device_confine(reads_only);
        _exit(as_it_should_be() ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define REFUSED(call) ((call) == -1 && errno == EPERM)

static bool no_other_process(void)
{
    char *const argv[] = {"true", NULL};
    return REFUSED(execv("/bin/true", argv)) && REFUSED(fork()) && REFUSED(kill(getppid(), 0)) &&
           REFUSED(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}

Test(confinement, no_other_process, CONFINED)
{
    cr_assert_eq(confined(false, no_other_process), 0);
}

static bool no_new_socket(void)
{
    return REFUSED(socket(AF_INET, SOCK_STREAM, 0)) && REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
}

Test(confinement, no_new_socket, CONFINED)
{
    cr_assert_eq(confined(false, no_new_socket), 0);
}

static bool no_writable_code(void)
{
    const int rw = PROT_READ | PROT_WRITE, rx = PROT_READ | PROT_EXEC;
    if (mmap(NULL, 4096, rw | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        return false;
    unsigned char *code = mmap(NULL, 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || !REFUSED(mprotect(code, 4096, rw | PROT_EXEC)))
        return false;
#ifdef __x86_64__
    code[0] = 0xc3; /* ret */
#endif
    if (mprotect(code, 4096, rx))
        return false;
#ifdef __x86_64__
    ((void (*)(void))(uintptr_t)code)();
#endif
    return true;
}

Test(confinement, code_is_never_writable_and_executable_at_once, CONFINED)
{
    cr_assert_eq(confined(false, no_writable_code), 0);
}

static void *thread(void *argument)
{
    return argument;
}

static bool serves(void)
{
    pthread_t started;
    int token;
    void *result = NULL;
    void *library = dlopen("libz.so.1", RTLD_NOW);
    return library && pthread_create(&started, NULL, thread, &token) == 0 &&
           pthread_join(started, &result) == 0 && result == &token &&
           memfd_create("records", 0) >= 0;
}

Test(confinement, threads_libraries_and_memory_are_to_be_had, CONFINED)
{
    cr_assert_eq(confined(false, serves), 0);
    cr_assert_eq(confined(true, serves), 0);
}

static bool dies_by_its_own_signal(void)
{
    return raise(SIGABRT) != 0;
}

Test(confinement, can_end_itself, CONFINED)
{
    cr_assert_eq(confined(true, dies_by_its_own_signal), 128 + SIGABRT);
}

static bool writes(void)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/convlab-confined-%d", (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return fd >= 0 && unlink(path) == 0;
}

static bool reads_libraries_only(void)
{
    return !writes() && errno == EACCES && open("/etc/passwd", O_RDONLY) == -1 && errno == EACCES &&
           open("/proc/1/status", O_RDONLY) == -1 && open("/proc/cpuinfo", O_RDONLY) >= 0 &&
           open("/proc/self/status", O_RDONLY) >= 0;
}

Test(confinement, files_are_libraries_if_it_only_reads, CONFINED)
{
    cr_assert_eq(confined(false, writes), 0);
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 0)
        cr_skip_test("this system has no Landlock");
    cr_assert_eq(confined(true, reads_libraries_only), 0);
}

/* Allocates memory until the process is killed or has four times its limit. */
static int with_limit(rlim_t bytes)
{
    int status;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        enum { PIECE_BYTES = 1 << 20, PIECES = 256 };
        memory_limit_keep();
        setrlimit(RLIMIT_RSS, &(struct rlimit){bytes, RLIM_INFINITY});
        for (int i = 0; i < PIECES; i++) {
            char *piece = malloc(PIECE_BYTES);
            memset(piece, i, PIECE_BYTES);
            usleep(1000);
        }
        sleep(bytes == RLIM_INFINITY ? 0 : 10); /* a busy machine may kill it later */
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Test(confinement, memory_has_a_limit, CONFINED)
{
    cr_assert_eq(with_limit((rlim_t)64 << 20), VG_PROCESS_TOO_MUCH);
    cr_assert_eq(with_limit(RLIM_INFINITY), 0);
}
