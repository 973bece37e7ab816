#include "runner/arena.h"

#include "nn/oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

struct arena_layout arena_layout_for(const struct conv_shape *shape)
{
    /* y first: what runs past its end must not reach the inputs unseen. */
    size_t bytes[3] = {nn_conv_y_elems(shape) * sizeof(float),
                       nn_conv_x_elems(shape) * sizeof(float),
                       nn_conv_k_elems(shape) * sizeof(float)};
    struct arena_layout layout;
    size_t at = 0, *tensor[3] = {&layout.y, &layout.x, &layout.k};
    for (int i = 0; i < 3; i++) {
        layout.guard[i] = at;
        at = round_up(at + ARENA_GUARD_BYTES, 256);
        layout.guard_bytes[i] = at - layout.guard[i];
        *tensor[i] = at;
        at += bytes[i];
    }
    layout.guard[3] = at;
    layout.bytes = round_up(at + ARENA_GUARD_BYTES, 4096);
    layout.guard_bytes[3] = layout.bytes - at;
    return layout;
}

/* More than any tensor needs. No memory is taken before it is written to. */
static off_t largest(void)
{
    struct rlimit limit;
    const off_t all = (off_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)all;
    return limited ? (off_t)limit.rlim_cur : all;
}

enum st_code arena_open(struct arena *arena, struct st_error *err)
{
    /* The lab has the descriptor, too: it must neither take memory away from under the grader nor
     * change the size behind its back. */
    *arena = (struct arena){.fd = memfd_create("convlab-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (arena->fd < 0 || ftruncate(arena->fd, largest()) ||
        fcntl(arena->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return st_fail_errno(err, errno, "cannot make shared memory");
    return ST_OK;
}

enum st_code arena_reserve(struct arena *arena, size_t bytes, struct st_error *err)
{
    if (bytes <= arena->bytes)
        return ST_OK;
    if (arena->base)
        munmap(arena->base, arena->bytes);
    arena->base = NULL;
    arena->bytes = 0;
    errno = ENOMEM;
    void *base = (off_t)bytes <= largest()
                     ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd, 0)
                     : MAP_FAILED;
    if (base == MAP_FAILED) {
        enum st_code code =
            st_fail_errno(err, errno, "cannot get %zu MiB of shared memory", bytes >> 20);
        st_detail(err, ST_HINT, "ask for fewer images with --images");
        return code;
    }
    arena->base = base;
    arena->bytes = bytes;
    return ST_OK;
}

void arena_close(struct arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->bytes);
    if (arena->fd >= 0)
        close(arena->fd);
    *arena = (struct arena){.fd = -1};
}
