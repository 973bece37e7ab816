#include "vgpu/native/call_stub.h"

#include "vgpu/exec/handlers.h"
#include "vgpu/exec/vg_device.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

#include <string.h>

__attribute__((used)) const struct ir_insn *
native_steps_to(const struct ir_insn *in, struct vg_warp *w, const struct ir_insn *end)
{
    w->resume = NULL;
    do {
        in = (w->copies_unset ? w->worker->device->handlers->follow_unset : in->once)(in, w);
        if (!in) { /* the warp may hold unwritten bytes from now on */
            in = w->resume;
            w->resume = NULL;
        }
    } while (in && in < end);
    return in;
}

void native_stub_avx512(void);
void native_stub_avx2(void);

void *native_stub(const char *target)
{
    return (void *)(strcmp(target, "avx512") == 0 ? (uintptr_t)native_stub_avx512
                                                  : (uintptr_t)native_stub_avx2);
}

/* The beginning and end of both stubs: saves general registers, and reserves ROOM bytes aligned to
 * 64. */
#define ENTER(NAME, ROOM)                                                                          \
    ".globl " NAME "\n.hidden " NAME "\n.type " NAME ", @function\n" NAME ":\n"                    \
    "push %rbp\nmov %rsp, %rbp\n"                                                                  \
    "push %rcx\npush %rdx\npush %rdi\npush %rsi\npush %r8\npush %r9\npush %r10\npush %r11\n"       \
    "sub $" ROOM ", %rsp\nand $-64, %rsp\n"
#define LEAVE                                                                                      \
    "lea -64(%rbp), %rsp\n"                                                                        \
    "pop %r11\npop %r10\npop %r9\npop %r8\npop %rsi\npop %rdi\npop %rdx\npop %rcx\npop %rbp\nret\n"
#define CALL "vzeroupper\ncall native_steps_to\n"

#define Z(n)      "vmovdqu64 %zmm" #n ", 64*" #n "(%rsp)\n"
#define Z_BACK(n) "vmovdqu64 64*" #n "(%rsp), %zmm" #n "\n"
#define K(n)      "kmovq %k" #n ", 2048+8*" #n "(%rsp)\n"
#define K_BACK(n) "kmovq 2048+8*" #n "(%rsp), %k" #n "\n"
#define Y(n)      "vmovdqu %ymm" #n ", 32*" #n "(%rsp)\n"
#define Y_BACK(n) "vmovdqu 32*" #n "(%rsp), %ymm" #n "\n"
#define TO_7(M)   M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define TO_15(M)  TO_7(M) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define TO_31(M)                                                                                   \
    TO_15(M)                                                                                       \
    M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)

/* Calls functions that use no vector registers, see memory_marks.c. */
#define STUB(FUNCTION) ENTER("native_stub_" FUNCTION, "0") "call native_" FUNCTION "\n" LEAVE

__asm__(".text\n" STUB("runs_marked") STUB("range_marked") STUB("mark_runs"));
__asm__(".text\n" ENTER("native_stub_avx512", "2112") TO_31(Z) TO_7(K) CALL TO_31(Z_BACK)
            TO_7(K_BACK) LEAVE ENTER("native_stub_avx2", "512") TO_15(Y) CALL TO_15(Y_BACK) LEAVE);
