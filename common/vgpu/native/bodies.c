/* Bodies of functions that the bitcode only declares. */
#include "vgpu/native/bodies.h"

#include "vgpu/exec/warp_size.h"
#include "vgpu/native/call_stub.h"
#include "vgpu/native/lane_functions.h"
#include "vgpu/native/shapes.h"
#include "vgpu/native/unit.h"

#include <stdlib.h>
#include <string.h>

/* @return a builder for the body of a function. */
static LLVMBuilderRef begin(LLVMValueRef f)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, f, ""));
    return b;
}

/* Ends the body of a function that is always inlined. */
static void end(LLVMBuilderRef b, LLVMValueRef f)
{
    LLVMDisposeBuilder(b);
    add_attribute(f, "alwaysinline", NULL);
}

/* Calls an intrinsic with two overloaded types and four arguments. */
static LLVMValueRef call_masked(LLVMBuilderRef b, LLVMModuleRef module, const char *name,
                                LLVMTypeRef types[2], LLVMValueRef arguments[4])
{
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMTypeRef type = LLVMIntrinsicGetType(LLVMGetModuleContext(module), id, types, 2);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(module, id, types, 2);
    return LLVMBuildCall2(b, type, f, arguments, 4, "");
}

LLVMValueRef flags_of_bits(LLVMBuilderRef b, LLVMValueRef bits, unsigned lanes, bool avx512)
{
    LLVMTypeRef i32 = LLVMTypeOf(bits), words = LLVMVectorType(i32, lanes);
    LLVMContextRef context = LLVMGetTypeContext(i32);
    if (avx512) {
        bits = LLVMBuildTrunc(b, bits, LLVMIntTypeInContext(context, lanes), "");
        LLVMTypeRef flags = LLVMVectorType(LLVMInt1TypeInContext(context), lanes);
        return LLVMBuildBitCast(b, bits, flags, "");
    }
    LLVMValueRef bit[VG_LANES], none = LLVMConstNull(words), first = LLVMConstNull(i32);
    for (unsigned i = 0; i < lanes; i++)
        bit[i] = LLVMConstInt(i32, UINT64_C(1) << i, false);
    LLVMValueRef all = LLVMBuildInsertElement(b, LLVMGetPoison(words), bits, first, "");
    all = LLVMBuildShuffleVector(b, all, LLVMGetPoison(words), none, "");
    all = LLVMBuildAnd(b, all, LLVMConstVector(bit, lanes), "");
    return LLVMBuildICmp(b, LLVMIntNE, all, none, "");
}

/* Builds a store of the lanes that a mask selects. Without mask registers, such a store takes tens
 * of cycles on some processors. So if the code may rewrite the other lanes (@p is_owned), it loads
 * them and stores all lanes. */
static void store_16(LLVMBuilderRef b, LLVMModuleRef module, LLVMValueRef f, bool avx512,
                     bool is_owned)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMTypeRef v16 = LLVMVectorType(i32, 16), pointer = LLVMPointerType(v16, 0);
    LLVMValueRef mask = LLVMGetParam(f, 2), flags = flags_of_bits(b, mask, 16, avx512),
                 to = LLVMBuildBitCast(b, LLVMGetParam(f, 0), pointer, ""),
                 from = LLVMBuildBitCast(b, LLVMGetParam(f, 1), pointer, ""),
                 value = LLVMBuildLoad2(b, v16, from, "");
    if (!avx512 && is_owned) {
        LLVMValueRef old = LLVMBuildLoad2(b, v16, to, "");
        LLVMSetAlignment(old, 4);
        LLVMValueRef all = LLVMBuildSelect(b, flags, value, old, "");
        LLVMSetAlignment(LLVMBuildStore(b, all, to), 4);
        return;
    }
    LLVMValueRef arguments[] = {value, to, LLVMConstInt(i32, 4, false), flags};
    LLVMTypeRef types[] = {v16, pointer};
    call_masked(b, module, "llvm.masked.store", types, arguments);
}

/* Defines native_store_16(to, value, mask), and native_mark_16, which may rewrite the other
 * lanes. */
static void define_stores(LLVMModuleRef module, bool avx512)
{
    static const char *const names[] = {"native_store_16", "native_mark_16"};
    for (int is_owned = 0; is_owned < 2; is_owned++) {
        LLVMValueRef f = LLVMGetNamedFunction(module, names[is_owned]);
        if (!f)
            continue;
        LLVMBuilderRef b = begin(f);
        store_16(b, module, f, avx512, is_owned);
        LLVMBuildRetVoid(b);
        end(b, f);
    }
}

/* Defines native_gather_16(to, from, relative), which loads words at 16 distances from an
 * address. */
static void define_gather(LLVMModuleRef module)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef f = LLVMGetNamedFunction(module, "native_gather_16");
    if (!f)
        return;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
    LLVMTypeRef v16 = LLVMVectorType(i32, 16), places = LLVMVectorType(LLVMPointerType(i32, 0), 16);
    LLVMTypeRef flags = LLVMVectorType(LLVMInt1TypeInContext(context), 16);
    LLVMBuilderRef b = begin(f);
    LLVMValueRef from = LLVMBuildBitCast(b, LLVMGetParam(f, 1), LLVMPointerType(i8, 0), "");
    LLVMValueRef relative = LLVMBuildLoad2(
        b, v16, LLVMBuildBitCast(b, LLVMGetParam(f, 2), LLVMPointerType(v16, 0), ""), "");
    LLVMSetAlignment(relative, 4);
    LLVMValueRef at = LLVMBuildBitCast(b, LLVMBuildGEP2(b, i8, from, &relative, 1, ""), places, "");
    LLVMValueRef arguments[] = {at, LLVMConstInt(i32, 4, false), LLVMConstAllOnes(flags),
                                LLVMGetPoison(v16)};
    LLVMTypeRef types[] = {v16, places};
    LLVMValueRef words = call_masked(b, module, "llvm.masked.gather", types, arguments);
    LLVMBuildStore(b, words, LLVMBuildBitCast(b, LLVMGetParam(f, 0), LLVMPointerType(v16, 0), ""));
    LLVMBuildRetVoid(b);
    end(b, f);
}

/* Defines native_equal_16(of, value), which returns a mask of the equal elements. */
static void define_equal(LLVMModuleRef module, const char *name, unsigned bits)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef f = LLVMGetNamedFunction(module, name);
    if (!f)
        return;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i16 = LLVMInt16TypeInContext(context);
    LLVMTypeRef type = LLVMVectorType(LLVMIntTypeInContext(context, bits), 16);
    LLVMBuilderRef b = begin(f);
    LLVMValueRef from = LLVMBuildBitCast(b, LLVMGetParam(f, 0), LLVMPointerType(type, 0), "");
    LLVMValueRef all = LLVMBuildLoad2(b, type, from, ""),
                 none = LLVMConstNull(LLVMVectorType(i32, 16));
    LLVMSetAlignment(all, bits / 8);
    LLVMValueRef one = LLVMBuildInsertElement(b, LLVMGetPoison(type), LLVMGetParam(f, 1),
                                              LLVMConstInt(i32, 0, false), "");
    one = LLVMBuildShuffleVector(b, one, LLVMGetPoison(type), none, "");
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, all, one, "");
    LLVMBuildRet(b, LLVMBuildZExt(b, LLVMBuildBitCast(b, same, i16, ""), i32, ""));
    end(b, f);
}

/* Builds a call of a C function of the same type, and returns its result. */
static void pass_on(struct address_table *addresses, LLVMBuilderRef b, LLVMTypeRef type,
                    const void *function, LLVMValueRef *arguments, unsigned n)
{
    LLVMValueRef to = LLVMBuildBitCast(b, address_table_load(addresses, b, function),
                                       LLVMPointerType(type, 0), "");
    LLVMValueRef call = LLVMBuildCall2(b, type, to, arguments, n, "");
    LLVMSetTailCall(call, true);
    LLVMBuildRet(b, call);
}

/* Defines a function that finds shapes. Its attributes let LLVM move and merge calls of it. */
static void define_shape(LLVMModuleRef module, struct address_table *addresses, const char *name,
                         unsigned bits, unsigned parts, uintptr_t address)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
    LLVMTypeRef members[] = {pointer, i64}, types[3 + 8] = {pointer, i32, i32};
    LLVMTypeRef result = LLVMStructTypeInContext(context, members, 2, false);
    for (unsigned i = 0; i < parts; i++)
        types[3 + i] = LLVMVectorType(LLVMIntTypeInContext(context, bits), VG_LANES / parts);
    LLVMTypeRef type = LLVMFunctionType(result, types, 3 + parts, false);
    LLVMValueRef f = LLVMAddFunction(module, name, type), arguments[3 + 8];
    LLVMGetParams(f, arguments);
    LLVMBuilderRef b = begin(f);
    pass_on(addresses, b, type, (const void *)address, arguments, 3 + parts);
    LLVMDisposeBuilder(b);
    static const char *const attributes[] = {"noinline", "nounwind",     "willreturn",
                                             "readnone", "speculatable", "memory"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        add_attribute(f, attributes[i], NULL);
    if (VG_LANES / parts * bits == 512)
        add_attribute(f, "min-legal-vector-width", "512");
}

static void define_shapes(LLVMModuleRef module, struct address_table *addresses, bool avx512)
{
    define_shape(module, addresses, "native_shape_wide", 64, avx512 ? 4 : 8,
                 shapes_entry(avx512, true));
    define_shape(module, addresses, "native_shape_narrow", 32, avx512 ? 2 : 4,
                 shapes_entry(avx512, false));
}

/* Defines a function that the bitcode calls: it calls the C function at an address. */
static void define_symbol(LLVMValueRef f, struct address_table *addresses, const void *address)
{
    enum { MOST = 8 };
    LLVMValueRef arguments[MOST];
    if (LLVMCountParams(f) > MOST)
        abort();
    LLVMGetParams(f, arguments);
    LLVMBuilderRef b = begin(f);
    pass_on(addresses, b, LLVMGlobalGetValueType(f), address, arguments, LLVMCountParams(f));
    end(b, f);
}

LLVMValueRef stub_call(LLVMBuilderRef b, LLVMValueRef arguments[4])
{
    LLVMTypeRef pointer = LLVMTypeOf(arguments[0]);
    LLVMTypeRef types[] = {pointer, pointer, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(pointer, types, 4, false);
    static const char text[] = "callq *$4";
    static const char constraints[] =
        "={rax},{rdi},{rsi},{rdx},{rax},~{memory},~{dirflag},~{fpsr},~{flags}";
    LLVMValueRef stub =
        LLVMGetInlineAsm(type, (char *)text, sizeof text - 1, (char *)constraints,
                         sizeof constraints - 1, true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, type, stub, arguments, 4, "");
}

/* Defines a function of three arguments that the bitcode only declares: it calls a stub. */
static void define_stub(LLVMModuleRef module, struct address_table *addresses, const char *name,
                        void (*stub)(void))
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
    LLVMValueRef f = LLVMGetNamedFunction(module, name), arguments[4];
    if (!f)
        return;
    LLVMBuilderRef b = begin(f);
    for (unsigned i = 0; i < 3; i++) {
        LLVMValueRef from = LLVMGetParam(f, i);
        arguments[i] = LLVMGetTypeKind(LLVMTypeOf(from)) == LLVMPointerTypeKind
                           ? LLVMBuildBitCast(b, from, pointer, "")
                           : LLVMBuildIntToPtr(b, from, pointer, "");
    }
    arguments[3] = address_table_load(addresses, b, (const void *)(uintptr_t)stub);
    LLVMValueRef result = stub_call(b, arguments);
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(b);
    else
        LLVMBuildRet(b, LLVMBuildPtrToInt(b, result, type, ""));
    end(b, f);
}

void bodies_define(LLVMModuleRef module, struct address_table *addresses, bool avx512)
{
    define_stores(module, avx512);
    define_gather(module);
    define_equal(module, "native_equal_16", 32);
    define_equal(module, "native_equal_bytes_16", 8);
    define_shapes(module, addresses, avx512);
    define_stub(module, addresses, "native_runs_marked", native_stub_runs_marked);
    define_stub(module, addresses, "native_range_marked", native_stub_range_marked);
    define_stub(module, addresses, "native_mark_runs", native_stub_mark_runs);
}

void bodies_bind(LLVMModuleRef module, struct address_table *addresses, const char *name)
{
    for (const struct native_symbol *s = native_symbols; s->name; s++) {
        LLVMValueRef f = LLVMGetNamedFunction(module, s->name);
        if (f && LLVMIsDeclaration(f))
            define_symbol(f, addresses, s->address);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        size_t n;
        if (LLVMIsDeclaration(f) || strcmp(LLVMGetValueName2(f, &n), name) == 0)
            continue;
        if (!LLVMGetFirstUse(f))
            LLVMDeleteFunction(f);
        else
            LLVMSetLinkage(f, LLVMInternalLinkage);
    }
}
