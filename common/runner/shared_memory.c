#include "runner/shared_memory.h"

#include "runner/runner_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The arguments of a system call, and a pointer to its result. */
struct call {
    long long argument[4];
    long long *result;
};

static bool call_read(struct call *call, ucontext_t *context)
{
#if defined(__x86_64__)
    greg_t *r = context->uc_mcontext.gregs;
    *call = (struct call){{r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10]}, &r[REG_RAX]};
    return true;
#elif defined(__aarch64__)
    unsigned long long *r = context->uc_mcontext.regs;
    *call = (struct call){{(long long)r[0], (long long)r[1], (long long)r[2], (long long)r[3]},
                          (long long *)&r[0]};
    return true;
#else
    (void)call, (void)context;
    return false;
#endif
}

/* Maps a file; makes only calls that are allowed in a signal handler. @return an address, or an
 * error as -errno. */
static long long map(const struct call *call)
{
    static const char refused[] = "sandbox: no more shared memory: the limit is 256 MiB\n";
    struct statvfs space;
    const size_t bytes = (size_t)call->argument[1];
    const int file = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    long long result = -ENOMEM;
    _Static_assert(RUNNER_SHARED_BYTES == (size_t)256 << 20, "as in the text above");
    if (file >= 0 && fstatvfs(file, &space) == 0 && bytes <= space.f_bavail * space.f_bsize &&
        bytes <= RUNNER_SHARED_BYTES && ftruncate(file, (off_t)bytes) == 0) {
        const int flags = (int)call->argument[3] & ~MAP_ANONYMOUS;
        void *at = mmap((void *)call->argument[0], bytes, (int)call->argument[2], flags, file, 0);
        result = at == MAP_FAILED ? -errno : (long long)at;
    } else {
        const ssize_t ignored = write(STDERR_FILENO, refused, sizeof refused - 1);
        (void)ignored;
    }
    if (file >= 0)
        close(file);
    return result;
}

bool shared_memory_give(const siginfo_t *info, void *context)
{
    enum { TYPE_MASK = 0x0f };
    struct call call;
    if (info->si_syscall != SYS_mmap || !call_read(&call, context) ||
        (call.argument[3] & (TYPE_MASK | MAP_ANONYMOUS)) != (MAP_SHARED | MAP_ANONYMOUS))
        return false;
    const int kept = errno;
    *call.result = map(&call);
    errno = kept;
    return true;
}
