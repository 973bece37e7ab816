#include "vgpu/exec/printed.h"

#include "vgpu/exec/vg_block.h"
#include "vgpu/exec/vg_launch.h"
#include "vgpu/exec/workers.h"

#include <stdlib.h>
#include <string.h>

void vg_print(struct vg_block *b, const char *text, size_t n)
{
    if (atomic_fetch_add(&b->launch->device->printing, n) > VG_PRINT_BYTES_MAX)
        return;
    if (b->text_bytes + n + 1 > b->text_room) {
        size_t room = (b->text_room + n + 256) * 2;
        char *more = realloc(b->text, room);
        if (!more)
            return;
        b->text = more;
        b->text_room = room;
    }
    memcpy(b->text + b->text_bytes, text, n);
    b->text_bytes += n;
    b->text[b->text_bytes] = '\0';
}

void vg_printed_keep(struct vg_worker *w, struct vg_block *b)
{
    if (!b->text_bytes)
        return;
    w->printed = ptx_grow(w->printed, w->printed_count, &w->printed_room, sizeof *w->printed);
    w->printed[w->printed_count++] = (struct vg_printed){b->number, b->text, b->text_bytes};
    b->text = NULL;
    b->text_bytes = b->text_room = 0;
}

static int compare_printed(const void *a, const void *b)
{
    const struct vg_printed *x = a, *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

void vg_printed_collect(struct vg_device *d, uint64_t fault_block)
{
    struct vg_printed *all = NULL;
    size_t count = 0, room = 0;
    for (int i = 0; i < d->worker_count; i++) {
        struct vg_worker *w = &d->workers[i];
        for (size_t k = 0; k < w->printed_count; k++) {
            all = ptx_grow(all, count, &room, sizeof *all);
            all[count++] = w->printed[k];
        }
        w->printed_count = 0;
    }
    if (count)
        qsort(all, count, sizeof *all, compare_printed);
    for (size_t i = 0; i < count; i++) {
        if (all[i].block <= fault_block) {
            d->printed =
                ptx_grow(d->printed, d->printed_bytes + all[i].bytes + 1, &d->printed_room, 1);
            memcpy(d->printed + d->printed_bytes, all[i].text, all[i].bytes);
            d->printed_bytes += all[i].bytes;
            d->printed[d->printed_bytes] = '\0';
        }
        free(all[i].text);
    }
    free(all);
}

char *vg_printf_take(struct vg_device *d, size_t *bytes)
{
    char *text = d->printed ? d->printed : calloc(1, 1);
    *bytes = d->printed_bytes;
    d->printed = NULL;
    d->printed_bytes = d->printed_room = 0;
    atomic_store(&d->printing, 0);
    return text;
}
