/* Findings as text: what happened, where, and what to look at. One table for all kinds. */
#include "vgpu/device/protocol.h"
#include "vgpu/device/record.h"

static const struct {
    const char *title, *hint;
    int error;
} kinds[VG_FAULT_KINDS] = {
    [VG_FAULT_OUT_OF_BOUNDS] = {"access outside of an allocation",
                                "check the index against the size, and the guard of threads that "
                                "lie past the end",
                                VP_ILLEGAL_ADDRESS},
    [VG_FAULT_MISALIGNED] = {"misaligned access",
                             "an access of N bytes needs an address that is a multiple of N",
                             VP_MISALIGNED},
    [VG_FAULT_UNINITIALISED] = {"read of memory that nobody wrote",
                                "copy or set the memory first, or write it before it is read", 0},
    [VG_FAULT_USE_AFTER_FREE] = {"access to memory after cudaFree",
                                 "free the memory after the last kernel that uses it",
                                 VP_ILLEGAL_ADDRESS},
    [VG_FAULT_INVALID_ADDRESS] = {"access to an address that is not the device's",
                                  "is it a null pointer, or a pointer of the host? kernels need "
                                  "pointers from cudaMalloc",
                                  VP_ILLEGAL_ADDRESS},
    [VG_FAULT_RACE_RAW] = {"race in shared memory: one thread reads what another writes",
                           "put __syncthreads() between the write and the read", 0},
    [VG_FAULT_RACE_WAR] = {"race in shared memory: one thread overwrites what another still reads",
                           "put __syncthreads() between the read and the next write", 0},
    [VG_FAULT_RACE_WAW] = {"race in shared memory: two threads write the same place",
                           "give each thread its own element, use an atomic, or put "
                           "__syncthreads() between the writes",
                           0},
    [VG_FAULT_RACE_GLOBAL] = {"race in global memory: several blocks add to the same element",
                              "use atomicAdd(), or let one block make the sum", 0},
    [VG_FAULT_BARRIER_DIVERGENCE] = {"__syncthreads() is not reached by all threads of the block",
                                     "move the barrier out of the branch", VP_LAUNCH_FAILURE},
    [VG_FAULT_NO_PROGRESS] = {"the kernel makes no progress",
                              "which thread is waited for, and can it ever run?", VP_TIMEOUT},
    [VG_FAULT_UNDEFINED_SHUFFLE] = {"a shuffle reads from a lane that takes no part",
                                    "call it with all lanes of the mask active", 0},
    [VG_FAULT_ASSERT] = {"assertion failed", "", VP_ASSERT},
    [VG_FAULT_TRAP] = {"the kernel executed a trap", "", VP_LAUNCH_FAILURE},
    [VG_FAULT_STACK_OVERFLOW] = {"the stack of a thread is full",
                                 "less recursion, or cudaDeviceSetLimit(cudaLimitStackSize, ...)",
                                 VP_ILLEGAL_ADDRESS},
};

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
    if (f->file[0])
        fprintf(out, "    source   %s:%d\n", f->file, f->line);
    else
        fprintf(out, "    source   unknown (hint: compile with -lineinfo)\n");
    if (f->other_line > 0)
        fprintf(out, "    and      %s:%d\n", f->other_file, f->other_line);
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
