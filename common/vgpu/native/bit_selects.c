#include "vgpu/native/bit_selects.h"

#include <stdbool.h>
#include <string.h>

static const char name[] = "llvm.arithmetic.fence";

/* @return the constant operand if @p v is an "and" with a constant; otherwise NULL. */
static LLVMValueRef mask_of(LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionOpcode(v) != LLVMAnd)
        return NULL;
    const LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    return LLVMIsConstant(b) ? b : LLVMIsConstant(a) ? a : NULL;
}

static bool is_bit_select(LLVMValueRef v)
{
    if (LLVMGetInstructionOpcode(v) != LLVMOr ||
        LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind)
        return false;
    const LLVMValueRef c = mask_of(LLVMGetOperand(v, 0)), d = mask_of(LLVMGetOperand(v, 1));
    return c && d && LLVMConstNot(c) == d; /* equal constants are one object */
}

/* @return a vector type of floats as wide as @p type, which has at least eight bits per element. */
static LLVMTypeRef floats_like(LLVMTypeRef type)
{
    const unsigned bits = LLVMGetVectorSize(type) * LLVMGetIntTypeWidth(LLVMGetElementType(type));
    return LLVMVectorType(LLVMFloatTypeInContext(LLVMGetTypeContext(type)), bits / 32);
}

/* Inserts llvm.arithmetic.fence: it costs no instruction, but accepts only floats. */
static void fence(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef or)
{
    const LLVMValueRef half = LLVMGetOperand(or, 0);
    LLVMTypeRef type = floats_like(LLVMTypeOf(half));
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMPositionBuilderBefore(b, or);
    LLVMValueRef v = LLVMBuildBitCast(b, half, type, "");
    v = LLVMBuildCall2(b, LLVMIntrinsicGetType(LLVMGetTypeContext(type), id, &type, 1),
                       LLVMGetIntrinsicDeclaration(module, id, &type, 1), &v, 1, "");
    LLVMSetOperand(or, 0, LLVMBuildBitCast(b, v, LLVMTypeOf(half), ""));
}

static void fence_block(LLVMModuleRef module, LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    for (LLVMValueRef v = LLVMGetFirstInstruction(block); v; v = LLVMGetNextInstruction(v))
        if (is_bit_select(v))
            fence(module, b, v);
}

void bit_selects_fence(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
             block = LLVMGetNextBasicBlock(block))
            fence_block(module, b, block);
    LLVMDisposeBuilder(b);
}
