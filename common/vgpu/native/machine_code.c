/* From a unit to machine code: LLVM's passes, its code generator, and ORC, which puts the object into
 * memory that is never writable and executable at once. */
#include "vgpu/native/machine_code.h"

#include "vgpu/native/lane_functions.h"
#include "vgpu/native/patterns.h"
#include "vgpu/native/unit.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inlining first; then what makes variables values, and moves what does not change out of loops. */
static const char inlining[] = "always-inline,globaldce";
static const char passes[] =
    "function(sroa,early-cse<memssa>,simplifycfg,early-cse<memssa>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate,licm),instcombine,gvn,simplifycfg,"
    "loop-mssa(licm),adce,simplifycfg)";

struct native_machine {
    LLVMTargetMachineRef target;
    LLVMOrcLLJITRef jit;
    uint32_t count; /* of codes, for their names */
    struct code {
        vg_native_code code;
        LLVMOrcResourceTrackerRef tracker;
        struct native_saved *saved; /* it refers to these */
        struct code *next;
    } * codes;
};

/* ---- the module ------------------------------------------------------------------------------ */

static bool add_bitcode(LLVMModuleRef to, const unsigned char *bytes, size_t n, const char *name)
{
    LLVMContextRef context = LLVMGetModuleContext(to);
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange((const char *)bytes, n, name, false);
    LLVMModuleRef from;
    const bool read = !LLVMParseBitcodeInContext2(context, buffer, &from);
    LLVMDisposeMemoryBuffer(buffer);
    return read && !LLVMLinkModules2(to, from);
}

/* Body of native_store_16(to, value, mask). */
static void define_store(LLVMModuleRef module)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef f = LLVMGetNamedFunction(module, "native_store_16");
    if (!f)
        return;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i16 = LLVMInt16TypeInContext(context);
    LLVMTypeRef v16 = LLVMVectorType(i32, 16), pointer = LLVMPointerType(v16, 0);
    LLVMTypeRef flags = LLVMVectorType(LLVMInt1TypeInContext(context), 16);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, f, ""));
    LLVMValueRef mask = LLVMBuildTrunc(b, LLVMGetParam(f, 2), i16, "");
    LLVMValueRef value =
        LLVMBuildLoad2(b, v16, LLVMBuildBitCast(b, LLVMGetParam(f, 1), pointer, ""), "");
    LLVMValueRef arguments[] = {value, LLVMBuildBitCast(b, LLVMGetParam(f, 0), pointer, ""),
                                LLVMConstInt(i32, 4, false), LLVMBuildBitCast(b, mask, flags, "")};
    LLVMTypeRef types[] = {v16, pointer};
    const unsigned id = LLVMLookupIntrinsicID("llvm.masked.store", strlen("llvm.masked.store"));
    LLVMBuildCall2(b, LLVMIntrinsicGetType(context, id, types, 2),
                   LLVMGetIntrinsicDeclaration(module, id, types, 2), arguments, 4, "");
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    add_attribute(f, "alwaysinline", NULL);
}

/* A function that finds patterns, which LLVM may call wherever and as seldom as it likes. */
static void define_pattern(LLVMModuleRef module, const char *name, unsigned bits, unsigned parts,
                           uintptr_t address)
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
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, f, ""));
    LLVMValueRef to =
        LLVMConstIntToPtr(LLVMConstInt(i64, address, false), LLVMPointerType(type, 0));
    LLVMValueRef call = LLVMBuildCall2(b, type, to, arguments, 3 + parts, "");
    LLVMSetTailCall(call, true);
    LLVMBuildRet(b, call);
    LLVMDisposeBuilder(b);
    static const char *const attributes[] = {"noinline", "nounwind",     "willreturn",
                                             "readnone", "speculatable", "memory"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        add_attribute(f, attributes[i], NULL);
    if (VG_LANES / parts * bits == 512)
        add_attribute(f, "min-legal-vector-width", "512");
}

static void define_patterns(LLVMModuleRef module, bool avx512)
{
    define_pattern(module, "native_pattern_wide", 64, avx512 ? 4 : 8, patterns_entry(avx512, true));
    define_pattern(module, "native_pattern_narrow", 32, avx512 ? 2 : 4,
                   patterns_entry(avx512, false));
}

/* What the bitcode calls outside is called by its address; the rest is nobody else's business. */
static void bind(LLVMModuleRef module, const char *name)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
    for (const struct native_symbol *s = native_symbols; s->name; s++) {
        LLVMValueRef f = LLVMGetNamedFunction(module, s->name);
        if (f)
            LLVMReplaceAllUsesWith(
                f, LLVMConstIntToPtr(LLVMConstInt(i64, (uint64_t)(uintptr_t)s->address, false),
                                     LLVMTypeOf(f)));
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

static LLVMModuleRef make_module(const struct native *native, LLVMContextRef context,
                                 const struct ir_function *f, const uint32_t *entries,
                                 size_t entry_count, const uint8_t *kinds, const char *name,
                                 struct native_saved **saved)
{
    struct native_machine *m = native->machine;
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->target);
    char *triple = LLVMGetTargetMachineTriple(m->target);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    bool made = add_bitcode(module, lane_functions_bc, lane_functions_bc_bytes, "lanes") &&
                add_bitcode(module, access_functions_bc, access_functions_bc_bytes, "accesses");
    if (made) {
        define_store(module);
        define_patterns(module, strcmp(native->target, "avx512") == 0);
        made = unit_translate(native, module, f, entries, entry_count, kinds, name, saved);
    }
    if (made) {
        bind(module, name);
        return module;
    }
    LLVMDisposeModule(module);
    return NULL;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Where to write what was made, for whoever works on the translator: CONVLAB_NATIVE_DUMP=FOLDER. */
static bool dump_path(char path[PATH_MAX], const char *name, const char *suffix)
{
    const char *folder = getenv("CONVLAB_NATIVE_DUMP");
    return folder && snprintf(path, PATH_MAX, "%s/%s%s", folder, name, suffix) < PATH_MAX;
}

static void dump_module(LLVMModuleRef module, const char *name, const char *suffix)
{
    char path[PATH_MAX];
    if (dump_path(path, name, suffix))
        LLVMPrintModuleToFile(module, path, NULL);
}

static void dump_object(LLVMMemoryBufferRef object, const char *name)
{
    char path[PATH_MAX];
    FILE *f = dump_path(path, name, ".o") ? fopen(path, "wb") : NULL;
    if (!f)
        return;
    fwrite(LLVMGetBufferStart(object), 1, LLVMGetBufferSize(object), f);
    fclose(f);
}

static bool report(LLVMErrorRef error)
{
    if (!error)
        return true;
    char *text = LLVMGetErrorMessage(error);
    fprintf(stderr, "native: %s\n", text);
    LLVMDisposeErrorMessage(text);
    return false;
}

static bool optimise(struct native_machine *m, LLVMModuleRef module, const char *name)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    bool done = report(LLVMRunPasses(module, inlining, m->target, options));
    if (done) {
        unit_mark_homes(module, name);
        done = report(LLVMRunPasses(module, passes, m->target, options));
    }
    LLVMDisposePassBuilderOptions(options);
    return done;
}

static vg_native_code link_object(struct native_machine *m, LLVMMemoryBufferRef object,
                                  const char *name, struct native_saved *saved)
{
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(m->jit);
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(library);
    LLVMOrcExecutorAddress at = 0;
    if (!report(LLVMOrcLLJITAddObjectFileWithRT(m->jit, tracker, object)) ||
        !report(LLVMOrcLLJITLookup(m->jit, &at, name))) {
        LLVMOrcReleaseResourceTracker(tracker);
        return NULL;
    }
    struct code *code = malloc(sizeof *code);
    if (!code)
        abort();
    *code = (struct code){(vg_native_code)(uintptr_t)at, tracker, saved, m->codes};
    m->codes = code;
    return code->code;
}

static void free_saved(struct native_saved *s)
{
    while (s) {
        struct native_saved *next = s->next;
        free(s);
        s = next;
    }
}

/* Consumes the module. */
static LLVMMemoryBufferRef compile(struct native_machine *m, LLVMModuleRef module, const char *name)
{
    LLVMMemoryBufferRef object = NULL;
    char *error = NULL;
    dump_module(module, name, "-unit.ll");
    if (optimise(m, module, name)) {
        dump_module(module, name, "-optimised.ll");
        if (LLVMTargetMachineEmitToMemoryBuffer(m->target, module, LLVMObjectFile, &error, &object))
            LLVMDisposeMessage(error);
        else
            dump_object(object, name);
    }
    LLVMDisposeModule(module);
    return object;
}

vg_native_code machine_translate(const struct native *native, const struct ir_function *f,
                                 const uint32_t *entries, size_t entry_count, const uint8_t *kinds)
{
    struct native_machine *m = native->machine;
    struct native_saved *saved = NULL;
    char name[32];
    snprintf(name, sizeof name, "code%u", ++m->count);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module =
        make_module(native, context, f, entries, entry_count, kinds, name, &saved);
    LLVMMemoryBufferRef object = module ? compile(m, module, name) : NULL;
    const vg_native_code code = object ? link_object(m, object, name, saved) : NULL;
    LLVMContextDispose(context);
    if (!code)
        free_saved(saved);
    return code;
}

void machine_drop(struct native_machine *m, vg_native_code code)
{
    for (struct code **at = &m->codes; *at; at = &(*at)->next) {
        if ((*at)->code != code)
            continue;
        struct code *found = *at;
        *at = found->next;
        report(LLVMOrcResourceTrackerRemove(found->tracker));
        LLVMOrcReleaseResourceTracker(found->tracker);
        free_saved(found->saved);
        free(found);
        return;
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static LLVMTargetMachineRef make_target(const char *target)
{
    LLVMTargetRef t;
    char *triple = LLVMGetDefaultTargetTriple(), *error = NULL;
    const bool avx512 = strcmp(target, "avx512") == 0;
    LLVMTargetMachineRef machine = NULL;
    if (!LLVMGetTargetFromTriple(triple, &t, &error))
        machine = LLVMCreateTargetMachine(t, triple, avx512 ? "skylake-avx512" : "haswell",
                                          avx512 ? "-prefer-256-bit" : "", LLVMCodeGenLevelDefault,
                                          LLVMRelocPIC, LLVMCodeModelJITDefault);
    LLVMDisposeMessage(triple);
    return machine;
}

static LLVMOrcLLJITRef make_jit(void)
{
    LLVMOrcLLJITRef jit;
    LLVMOrcDefinitionGeneratorRef process;
    if (!report(LLVMOrcCreateLLJIT(&jit, NULL)))
        return NULL;
    if (report(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, 0, NULL, NULL)))
        LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
    return jit;
}

/* LLVM gives up early on loops with many accesses: then patterns would not move out of them. */
static void raise_limits(void)
{
    static const char *const options[] = {"native", "-licm-mssa-optimization-cap=20000",
                                          "-memssa-check-limit=1000"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

struct native_machine *machine_open(const char *target)
{
    static pthread_once_t limits = PTHREAD_ONCE_INIT; /* of the process */
    pthread_once(&limits, raise_limits);
    struct native_machine *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    m->target = make_target(target);
    m->jit = m->target ? make_jit() : NULL;
    if (m->jit)
        return m;
    if (m->target)
        LLVMDisposeTargetMachine(m->target);
    free(m);
    return NULL;
}

void machine_close(struct native_machine *m)
{
    while (m->codes)
        machine_drop(m, m->codes->code);
    report(LLVMOrcDisposeLLJIT(m->jit));
    LLVMDisposeTargetMachine(m->target);
    free(m);
}
