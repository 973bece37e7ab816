#include "vgpu/device/ptxas.h"

#include "base/files.h"
#include "base/process.h"
#include "base/toolkit.h"
#include "vgpu/device/descriptors.h"
#include "vgpu/fatbin/fatbin.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_S = 60 };

/* A request, sent with a descriptor of the PTX. The answer is a byte, with a descriptor of the
 * machine code unless ptxas failed. */
struct question {
    int sm;
    char symbol[4096];
};

static int service = -1;

/* ---- the process that starts ptxas ----------------------------------------------------------- */

/* @return a file with the machine code, or -1 */
static int assemble(const char *ptxas, const struct question *q, int ptx)
{
    const int code = memfd_create("vgpu-cubin", 0);
    char arch[32], in[64], out[64];
    snprintf(arch, sizeof arch, "-arch=sm_%d", q->sm);
    snprintf(in, sizeof in, "/proc/self/fd/%d", ptx);
    snprintf(out, sizeof out, "/proc/self/fd/%d", code);
    const char *const argv[] = {ptxas, arch, "-e", q->symbol, in, "-o", out, NULL};
    struct process_end end;
    struct st_error err;
    fcntl(ptx, F_SETFD, 0);
    if (code >= 0 &&
        process_run(&(struct process_options){.argv = argv, .limit_s = LIMIT_S}, &end, &err) ==
            ST_OK &&
        end.exit_status == 0)
        return code;
    if (code >= 0)
        close(code);
    return -1;
}

static void serve(const char *ptxas, int socket)
{
    static struct question q;
    for (;;) {
        int ptx;
        const struct iovec part = {&q, sizeof q};
        if (descriptor_receive(socket, (struct iovec *)&part, 1, &ptx, 0) != (ssize_t)sizeof q)
            _exit(0);
        const int code = ptx >= 0 ? assemble(ptxas, &q, ptx) : -1;
        descriptor_send(socket, &(struct iovec){"A", 1}, 1, code, 0);
        if (ptx >= 0)
            close(ptx);
        if (code >= 0)
            close(code);
    }
}

void ptxas_start(void)
{
    char folder[PATH_MAX], ptxas[PATH_MAX];
    const char *home = toolkit_find();
    int pair[2];
    if (!home || !path_format(folder, sizeof folder, "%s/bin", home) ||
        !process_find(folder, "ptxas", ptxas))
        return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return;
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(0);
        /* Closes all other descriptors: only the device process has the door and the records. */
        const int mine = dup2(pair[1], STDERR_FILENO + 1);
        close_range((unsigned)STDERR_FILENO + 2, ~0u, 0);
        fcntl(mine, F_SETFD, FD_CLOEXEC);
        serve(ptxas, mine);
    }
    close(pair[1]);
    if (pid > 0)
        service = pair[0];
    else
        close(pair[0]);
}

/* ---- the requesting side --------------------------------------------------------------------- */

bool ptxas_is_there(void)
{
    return service >= 0;
}

/* Finds the facts of a kernel in machine code. */
static bool find(int code, const char *symbol, struct vg_kernel_info *info)
{
    struct stat status;
    struct vg_kernel_info *list = NULL;
    size_t n = 0;
    bool found = false;
    const size_t bytes = fstat(code, &status) == 0 ? (size_t)status.st_size : 0;
    const void *cubin = bytes ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, code, 0) : MAP_FAILED;
    if (cubin == MAP_FAILED)
        return false;
    if (cubin_kernels(cubin, bytes, &list, &n, NULL) == ST_OK)
        for (size_t i = 0; i < n && !found; i++)
            if (strcmp(list[i].name, symbol) == 0 && list[i].registers > 0)
                *info = list[i], found = true;
    free(list);
    munmap((void *)cubin, bytes);
    return found;
}

static int ask(const struct question *q, const char *ptx, size_t bytes)
{
    char answer;
    int code = -1;
    const int file = memfd_create("vgpu-ptx", MFD_CLOEXEC);
    const struct iovec part = {(void *)q, sizeof *q}, reply = {&answer, 1};
    if (file >= 0 && write(file, ptx, bytes) == (ssize_t)bytes &&
        descriptor_send(service, (struct iovec *)&part, 1, file, 0) == (ssize_t)sizeof *q)
        descriptor_receive(service, (struct iovec *)&reply, 1, &code, 0);
    if (file >= 0)
        close(file);
    return code;
}

bool ptxas_ask(const char *ptx, size_t bytes, const char *symbol, int sm,
               struct vg_kernel_info *info)
{
    static struct question q;
    if (service < 0 || strlen(symbol) >= sizeof q.symbol)
        return false;
    memset(&q, 0, sizeof q);
    q.sm = sm;
    strcpy(q.symbol, symbol);
    const int code = ask(&q, ptx, bytes);
    if (code < 0)
        return false;
    const bool found = find(code, symbol, info);
    close(code);
    info->sm = sm;
    return found;
}
