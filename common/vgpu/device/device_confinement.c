/* Filters the system calls below (libseccomp), and restricts files with Landlock. A forbidden call
 * fails with EPERM: if the translator gets no memory, the interpreter runs the code. */
#include "vgpu/device/device_confinement.h"

#include "base/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- system calls ------------------------------------------------------------------------------ */

static const int forbidden[] = {
    /* other programs and processes */
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(kill),
    SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(pidfd_send_signal), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(setns),
    SCMP_SYS(unshare),
    /* new sockets */
    SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind),
    /* complex interfaces of the kernel */
    SCMP_SYS(bpf), SCMP_SYS(io_uring_setup), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(mount)};

static int forbid_calls(scmp_filter_ctx filter)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (forbidden[i] >= 0) /* negative: this architecture does not have the call */
            failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), forbidden[i], 0);
    return failed;
}

/* Threads are created by clone(). clone3() fails with ENOSYS, because a filter cannot read its
 * flags. */
static int forbid_processes(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) |
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) |
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                            SCMP_A0(SCMP_CMP_NE, (uint64_t)getpid(), 0));
}

static int forbid_writable_code(scmp_filter_ctx filter)
{
    static const int calls[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(pkey_mprotect)};
    const uint64_t both = PROT_WRITE | PROT_EXEC;
    int failed = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 1,
                                   SCMP_A2(SCMP_CMP_MASKED_EQ, both, both));
    return failed;
}

static void forbid(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter && !forbid_calls(filter) && !forbid_processes(filter) &&
        !forbid_writable_code(filter))
        seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
}

/* ---- files ------------------------------------------------------------------------------------- */

static void allow_reading(int rules, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

/* Allows reading the folders of libraries. */
static void allow_libraries(int rules)
{
    static const char *const folders[] = {"/usr", "/lib", "/lib64", "/opt", "/sys/devices/system"};
    const uint64_t all = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        allow_reading(rules, folders[i], all);
    const char *list = getenv("LD_LIBRARY_PATH");
    char *copy = list ? strdup(list) : NULL, *rest = NULL;
    for (char *one = copy ? strtok_r(copy, ":", &rest) : NULL; one;
         one = strtok_r(NULL, ":", &rest))
        allow_reading(rules, one, all);
    free(copy);
}

static void forbid_files(void)
{
    static const char *const files[] = {"/etc/ld.so.cache", "/proc/cpuinfo", "/proc/stat",
                                        "/proc/meminfo"};
    /* all rights of the first version */
    const struct landlock_ruleset_attr everything = {.handled_access_fs =
                                                         (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &everything, sizeof everything, 0);
    struct st_error ignored;
    const char *build = checkout_build(&ignored);
    if (rules < 0)
        return;
    allow_libraries(rules);
    if (build)
        allow_reading(rules, build, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
    allow_reading(rules, "/proc/self", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        allow_reading(rules, files[i], LANDLOCK_ACCESS_FS_READ_FILE);
    syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

void device_confine(bool reads_only)
{
    /* Sanitizers start a separate process, and read the files named in their reports. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)reads_only, (void)forbid, (void)forbid_files;
#else
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return;
    if (reads_only)
        forbid_files();
    forbid();
#endif
}
