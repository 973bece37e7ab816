/* Turns a unit into machine code: with LLVM's passes, its code generator, and ORC, which puts the
 * object into memory that is never writable and executable at once. */
#include "vgpu/native/machine_code.h"

#include "base/sha256.h"
#include "vgpu/native/address_table.h"
#include "vgpu/native/bit_selects.h"
#include "vgpu/native/bodies.h"
#include "vgpu/native/lane_functions.h"
#include "vgpu/native/unit.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Since LLVM 18, instcombine ends the process unless its first iteration finds everything. */
#if LLVM_VERSION_MAJOR >= 18
#define COMBINE "instcombine<no-verify-fixpoint>"
#else
#define COMBINE "instcombine"
#endif

/* Inline first. Then passes turn variables into values, and move invariant code out of loops. */
static const char inlining[] = "always-inline,globaldce";
static const char passes[] =
    "function(sroa,early-cse<memssa>,simplifycfg,early-cse<memssa>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate,licm)," COMBINE ",early-cse<memssa>,simplifycfg,"
    "loop-mssa(licm),adce,simplifycfg)";

/* Names of a unit's function and table until name_unit() makes them unique. */
#define CODE  "code"
#define TABLE "table"

struct native_machine {
    LLVMTargetMachineRef target;
    LLVMOrcLLJITRef jit;
    struct code_store store; /* its memory belongs to the caller */
    struct code {
        char name[CODE_NAME];
        vg_native_code code;
        LLVMOrcResourceTrackerRef tracker;
        struct native_kept *kept; /* lists to which the code refers */
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

static LLVMModuleRef make_module(const struct native *native, LLVMContextRef context,
                                 const struct ir_function *f, const uint32_t *entries,
                                 size_t entry_count, const uint8_t *kinds,
                                 struct address_table *addresses, struct native_kept **kept)
{
    struct native_machine *m = native->machine;
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(CODE, context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->target);
    char *triple = LLVMGetTargetMachineTriple(m->target);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
    bool made = add_bitcode(module, lane_functions_bc, lane_functions_bc_bytes, "lanes") &&
                add_bitcode(module, access_functions_bc, access_functions_bc_bytes, "accesses");
    address_table_open(addresses, module);
    if (made) {
        bodies_define(module, addresses, native_has_masks(native));
        made =
            unit_translate(native, module, f, entries, entry_count, kinds, CODE, addresses, kept);
    }
    if (made) {
        bodies_bind(module, addresses, CODE);
        address_table_close(addresses, TABLE);
        return module;
    }
    LLVMDisposeModule(module);
    return NULL;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Sets the path to which the code is dumped. CONVLAB_NATIVE_DUMP=FOLDER requests this, for work on
 * the translator. */
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
        unit_name_room(module);
        bit_selects_fence(module);
    }
    LLVMDisposePassBuilderOptions(options);
    return done;
}

static void *look_up(struct native_machine *m, const char *name)
{
    LLVMOrcExecutorAddress at = 0;
    return report(LLVMOrcLLJITLookup(m->jit, &at, name)) ? (void *)(uintptr_t)at : NULL;
}

static void name_table(char to[2 * CODE_NAME], const char *name)
{
    snprintf(to, 2 * CODE_NAME, "%s_" TABLE, name);
}

/* Links an object and frees it. */
static vg_native_code link_object(struct native_machine *m, LLVMMemoryBufferRef object,
                                  const char *name, const struct address_table *addresses,
                                  struct native_kept *kept)
{
    char table_name[2 * CODE_NAME];
    name_table(table_name, name);
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(m->jit);
    LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(library);
    const bool added = report(LLVMOrcLLJITAddObjectFileWithRT(m->jit, tracker, object));
    void *at = added ? look_up(m, name) : NULL, *table = at ? look_up(m, table_name) : NULL;
    if (!table) {
        LLVMOrcReleaseResourceTracker(tracker);
        return NULL;
    }
    address_table_fill(addresses, table);
    struct code *code = malloc(sizeof *code);
    if (!code)
        abort();
    *code = (struct code){
        .code = (vg_native_code)(uintptr_t)at, .tracker = tracker, .kept = kept, .next = m->codes};
    snprintf(code->name, sizeof code->name, "%s", name);
    m->codes = code;
    return code->code;
}

static void free_kept(struct native_kept *s)
{
    while (s) {
        struct native_kept *next = s->next;
        free(s);
        s = next;
    }
}

/* Compiles a module and frees it. */
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

static bool is_taken(const struct native_machine *m, const char *name)
{
    for (const struct code *c = m->codes; c; c = c->next)
        if (strcmp(c->name, name) == 0)
            return true;
    return false;
}

/* Names the unit by its contents, so that the same code has the same name in all processes. */
static void name_unit(const struct native_machine *m, LLVMModuleRef module, char name[CODE_NAME])
{
    char hex[SHA256_HEX], table[2 * CODE_NAME];
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    sha256_hex(LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode), hex);
    LLVMDisposeMemoryBuffer(bitcode);
    unsigned again = 0; /* the same module may be loaded a second time */
    do
        snprintf(name, CODE_NAME, CODE "_%.32s_%u", hex, again++);
    while (is_taken(m, name));
    name_table(table, name);
    LLVMSetValueName2(LLVMGetNamedFunction(module, CODE), name, strlen(name));
    LLVMSetValueName2(LLVMGetNamedGlobal(module, TABLE), table, strlen(table));
}

/* Finds or compiles a module's code, and frees the module. @return the code, or NULL. */
static LLVMMemoryBufferRef find_or_compile(struct native_machine *m, LLVMModuleRef module,
                                           const char *name)
{
    size_t bytes;
    void *found = code_store_find(&m->store, name, &bytes);
    if (found) {
        LLVMMemoryBufferRef copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(found, bytes, name);
        free(found);
        LLVMDisposeModule(module);
        return copy;
    }
    LLVMMemoryBufferRef object = compile(m, module, name);
    if (object)
        code_store_add(&m->store, name, LLVMGetBufferStart(object), LLVMGetBufferSize(object));
    return object;
}

/* Finds the kinds of accesses that another process has seen, so that both processes generate the
 * same code; the kinds are only hints. @return the kinds, to be freed. NULL: none were found, and
 * this process's kinds were stored. */
static uint8_t *find_or_keep_kinds(const struct native_machine *m, const struct ir_function *f,
                                   const uint32_t *entries, size_t entry_count,
                                   const uint8_t *kinds)
{
    struct sha256 hash;
    char hex[SHA256_HEX], name[CODE_NAME];
    size_t bytes, sites = 0;
    for (uint32_t i = 0; i < f->insn_count; i++)
        sites = f->insns[i].site > sites ? f->insns[i].site : sites;
    if (!kinds || !m->store.memory)
        return NULL;
    sha256_begin(&hash);
    sha256_add(&hash, f->name, strlen(f->name));
    sha256_add(&hash, &f->insn_count, sizeof f->insn_count);
    sha256_add(&hash, &sites, sizeof sites);
    sha256_add(&hash, entries, entry_count * sizeof *entries);
    sha256_end_hex(&hash, hex);
    snprintf(name, sizeof name, "kinds_%.32s", hex);
    uint8_t *found = code_store_find(&m->store, name, &bytes);
    if (found && bytes == sites + 1)
        return found;
    free(found);
    code_store_add(&m->store, name, kinds, sites + 1);
    return NULL;
}

static vg_native_code translate(const struct native *native, const struct ir_function *f,
                                const uint32_t *entries, size_t entry_count, const uint8_t *kinds)
{
    struct native_machine *m = native->machine;
    uint8_t *kept = find_or_keep_kinds(m, f, entries, entry_count, kinds);
    struct native_kept *refers_to = NULL;
    struct address_table addresses = {0};
    vg_native_code code = NULL;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = make_module(native, context, f, entries, entry_count,
                                       kept ? kept : kinds, &addresses, &refers_to);
    if (module) {
        char name[CODE_NAME];
        name_unit(m, module, name);
        LLVMMemoryBufferRef object = find_or_compile(m, module, name);
        code = object ? link_object(m, object, name, &addresses, refers_to) : NULL;
    }
    LLVMContextDispose(context);
    free(kept);
    address_table_free(&addresses);
    if (!code)
        free_kept(refers_to);
    return code;
}

/* Where this thread continues after an error that LLVM cannot return. */
static _Thread_local jmp_buf *after_error;

static void leave_llvm(const char *reason)
{
    fprintf(stderr, "native: %s\n", reason);
    if (after_error)
        longjmp(*after_error, 1);
}

vg_native_code machine_translate(const struct native *native, const struct ir_function *f,
                                 const uint32_t *entries, size_t entry_count, const uint8_t *kinds)
{
    vg_native_code volatile code = NULL;
    jmp_buf here;
    after_error = &here;
    /* (the objects that LLVM was using are leaked: they may be incomplete) */
    if (!setjmp(here))
        code = translate(native, f, entries, entry_count, kinds);
    after_error = NULL;
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
        free_kept(found->kept);
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

/* Raises LLVM's limits on accesses per loop: above them, LLVM would not move the search for
 * shapes out of a loop. The limits stay finite, since the time grows with the square of the
 * number of accesses: for a loop of m9 with 1700 accesses LLVM took 18 s, without any effect.
 *
 * Turns the machine scheduler off: it moves loads up, so that more values must be kept at once.
 * Without it, m7 has 18% fewer accesses to the stack, and code generation takes 15% less time. */
static void set_options(void)
{
    static const char *const options[] = {"native",
                                          "-enable-misched=false",
                                          "-licm-mssa-optimization-cap=20000",
                                          "-memssa-check-limit=1000",
                                          "-licm-mssa-max-acc-promotion=700",
                                          "-capture-tracking-max-uses-to-explore=100000"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

static void set_up_llvm(void)
{
    set_options();
    LLVMInstallFatalErrorHandler(leave_llvm);
}

struct native_machine *machine_open(const char *target, const struct code_store *store)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* once per process */
    pthread_once(&once, set_up_llvm);
    struct native_machine *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->store = *store;
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
