/* All calls are allowed except those in syscalls.def, and these:
 *
 *   - clone() with a new namespace ends the program, as these calls do; clone3(), whose flags a
 *     filter cannot see, does not exist (ENOSYS), and the C library falls back to clone();
 *   - sockets for the internet and for raw packets end the program; of other sockets, only local
 *     sockets (AF_UNIX) are allowed, the rest fail with EPERM;
 *   - fallocate() fails with EOPNOTSUPP, as on some file systems: it would allocate memory in the
 *     shared arena that no process's figures show;
 *   - ioctl(TIOCSTI), which types on the grader's terminal, ends the program;
 *   - memory that no process's figures show is refused where memory is counted: files in memory
 *     (memfd_create() fails with ENOSYS), and shared memory without a file, which raises SIGSYS:
 *     the runner replaces it by a file of limited size (runner/shared_memory.h).
 *
 * "Ends the program" means that it gets SIGSYS, which the runner reports with the call's number and
 * its location in the source. A call for another architecture (32 bit) kills the program at
 * once. */
#include "grader/sandbox/filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct refused {
    const char *name, *purpose;
};

static const struct refused refused[] = {
#define REFUSED(name, purpose) {#name, purpose},
#include "grader/sandbox/syscalls.def"
#undef REFUSED
};

static int add_table(scmp_filter_ctx filter)
{
    int failed = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const int number = seccomp_syscall_resolve_name(refused[i].name);
        if (number >= 0)
            failed |= seccomp_rule_add(filter, SCMP_ACT_TRAP, number, 0);
    }
    return failed;
}

static int add_name_spaces(scmp_filter_ctx filter)
{
    static const unsigned long flags[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                          CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
    int failed = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(clone), 1,
                                   SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    return failed;
}

static int add_sockets(scmp_filter_ctx filter, bool loopback)
{
    static const int network[] = {AF_INET, AF_INET6, AF_PACKET};
    int failed = 0;
    for (size_t i = 0; i < sizeof network / sizeof *network; i++)
        if (!loopback || network[i] == AF_PACKET)
            failed |= seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(socket), 1,
                                       SCMP_A0(SCMP_CMP_EQ, (unsigned)network[i], 0));
    for (int family = 0; family < AF_MAX; family++)
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_PACKET)
            failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                                       SCMP_A0(SCMP_CMP_EQ, (unsigned)family, 0));
    return failed;
}

/* Refuses memory that no process's figures show: memfd_create(), and shared mappings without a
 * file. */
static int add_memory(scmp_filter_ctx filter)
{
    enum { TYPE_MASK = 0x0f };
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(memfd_create), 0) ||
           seccomp_rule_add(
               filter, SCMP_ACT_TRAP, SCMP_SYS(mmap), 1,
               SCMP_A3(SCMP_CMP_MASKED_EQ, TYPE_MASK | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS));
}

enum st_code gr_filter_open(int *fd, bool loopback, bool own_memory, struct st_error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    *fd = memfd_create("convlab-filter", MFD_CLOEXEC);
    int failed = !filter || *fd < 0;
    if (!failed)
        failed = add_table(filter) || add_name_spaces(filter) || add_sockets(filter, loopback) ||
                 (own_memory && add_memory(filter)) ||
                 seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(fallocate), 0) ||
                 seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(ioctl), 1,
                                  SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI)) ||
                 seccomp_export_bpf(filter, *fd) || lseek(*fd, 0, SEEK_SET) != 0;
    if (filter)
        seccomp_release(filter);
    if (!failed)
        return ST_OK;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return st_fail(err, ST_SYSTEM, "cannot create a system-call filter");
}

char *gr_filter_name(char *to, size_t room, int number)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    const char *purpose = "";
    for (size_t i = 0; name && i < sizeof refused / sizeof *refused; i++)
        if (strcmp(name, refused[i].name) == 0)
            purpose = refused[i].purpose;
    if (name && strcmp(name, "socket") == 0)
        purpose = "to use the network";
    if (name && strcmp(name, "clone") == 0)
        purpose = "to create namespaces";
    snprintf(to, room, "%s%s%s", name ? name : "an unknown call", purpose[0] ? ", " : "", purpose);
    free(name);
    return to;
}

void gr_filter_print(FILE *out)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        fprintf(out, "%s\t%s\n", refused[i].name, refused[i].purpose);
}
