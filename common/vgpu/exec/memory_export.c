/* Memory that several devices of this process share. The pages of an allocation contain no other
 * allocation (because of the gaps between allocations), so they can be the pages of a file, at a
 * different address in each device. */
#include "vgpu/exec/vg_device.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

static size_t pages_of(const struct vg_exported *e)
{
    return (e->offset + e->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static bool map_at(char *at, const struct vg_exported *e)
{
    return mmap(at, pages_of(e), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, e->fd, 0) !=
           MAP_FAILED;
}

/* Creates a file with the contents of the pages. */
static bool file_make(struct vg_exported *e, const char *pages)
{
    e->fd = memfd_create("vgpu-exported", MFD_CLOEXEC);
    if (e->fd < 0 || ftruncate(e->fd, (off_t)pages_of(e)))
        return false;
    char *copy = mmap(NULL, pages_of(e), PROT_READ | PROT_WRITE, MAP_SHARED, e->fd, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy + e->offset, pages + e->offset, e->bytes);
    munmap(copy, pages_of(e));
    return true;
}

enum st_code vg_memory_export(struct vg_device *d, uint64_t address, struct vg_exported *to,
                              struct st_error *err)
{
    struct vg_allocation *a = vg_memory_below(&d->memory, address);
    *to = (struct vg_exported){.fd = -1};
    if (!a || !a->live || !a->number || a->shared || a->exported || a->range || !a->bytes ||
        address - a->address >= a->bytes)
        return st_fail(err, ST_NOT_FOUND, "this address is not in an allocation of cudaMalloc");
    to->address = a->address;
    to->bytes = a->bytes;
    to->offset = a->address % PAGE_BYTES;
    char *pages = vg_memory_host(&d->memory, a->address - to->offset);
    if (!file_make(to, pages) || !map_at(pages, to)) {
        if (to->fd >= 0)
            close(to->fd);
        return st_fail(err, ST_NO_MEMORY, "%zu bytes cannot be shared", to->bytes);
    }
    a->exported = a->initialised = true; /* others may write to it */
    return ST_OK;
}

enum st_code vg_memory_import(struct vg_device *d, const struct vg_exported *from,
                              uint64_t *address, struct st_error *err)
{
    struct vg_memory *m = &d->memory;
    const size_t start = (m->next + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + from->offset;
    *address = 0;
    if (start + pages_of(from) > m->arena_bytes)
        return st_fail(err, ST_NO_MEMORY, "no address space for %zu bytes of another process",
                       from->bytes);
    m->next = start;
    enum st_code code = vg_memory_take(m, from->bytes, NULL, address, err);
    if (code != ST_OK)
        return code;
    struct vg_allocation *a = vg_memory_below(m, *address);
    a->exported = a->initialised = true;
    if (map_at(vg_memory_host(m, *address - from->offset), from))
        return ST_OK;
    vg_memory_free(d, *address, NULL);
    return st_fail(err, ST_NO_MEMORY, "%zu bytes of another process cannot be mapped", from->bytes);
}
