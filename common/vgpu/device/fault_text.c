/* Findings as text: the fault, where it occurred, and a hint. */
#include "vgpu/device/device_protocol.h"
#include "vgpu/device/record.h"

enum { IS_NOTE = -1 };

static const struct {
    const char *name, *title, *hint;
    int error; /* 0: the kernel continues; IS_NOTE: it is a note, too */
} kinds[VG_FAULT_KINDS] = {
#define GOES_ON                              0
#define NOTE                                 IS_NOTE
#define ENDS(error)                          VP_##error
#define FAULT(id, name, effect, title, hint) {name, title, hint, effect},
#include "vgpu/api/fault_kinds.def"
#undef FAULT
};

const char *fault_name(enum vg_fault_kind kind)
{
    return (unsigned)kind < VG_FAULT_KINDS ? kinds[kind].name : "unknown";
}

bool fault_is_note(enum vg_fault_kind kind)
{
    return (unsigned)kind < VG_FAULT_KINDS && kinds[kind].error == IS_NOTE;
}

int fault_error(enum vg_fault_kind kind)
{
    return (unsigned)kind < VG_FAULT_KINDS && kinds[kind].error ? kinds[kind].error
                                                                : VP_LAUNCH_FAILURE;
}

void fault_text(FILE *out, const struct vg_fault *f)
{
    if ((unsigned)f->kind >= VG_FAULT_KINDS)
        return;
    fprintf(out, "virtual GPU: %s\n", kinds[f->kind].title);
    fprintf(out, "    kernel   %s\n", f->kernel);
    const bool in_kernel = f->kind != VG_FAULT_RACE_STREAM || f->access_bytes > 0;
    if (f->file[0])
        fprintf(out, "    source   %s:%d\n", f->file, f->line);
    else if (in_kernel)
        fprintf(out, "    source   unknown (hint: compile with -lineinfo)\n");
    if (f->other_line > 0)
        fprintf(out, "    and      %s:%d\n", f->other_file, f->other_line);
    if (in_kernel)
        fprintf(out, "    thread   (%u,%u,%u) of block (%u,%u,%u)\n", f->thread[0], f->thread[1],
                f->thread[2], f->block[0], f->block[1], f->block[2]);
    if (f->access_bytes > 0)
        fprintf(out, "    access   %s of %d byte%s at 0x%llx\n", f->is_write ? "write" : "read",
                f->access_bytes, f->access_bytes == 1 ? "" : "s", (unsigned long long)f->address);
    if (f->detail[0])
        fprintf(out, "    that is  %s\n", f->detail);
    if (f->count > 1)
        fprintf(out, "    count    %llu times in this launch\n", (unsigned long long)f->count);
    if (kinds[f->kind].hint[0])
        fprintf(out, "    hint     %s\n", kinds[f->kind].hint);
}
