#include "runner/lab.h"

#include "runner/loading.h"
#include "runner/shared_memory.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- scratch memory ------------------------------------------------------------------------- */

static void *host_alloc(size_t bytes)
{
    return aligned_alloc(256, bytes);
}

static void *(*workspace_alloc)(size_t bytes) = host_alloc;
static void (*workspace_release)(void *memory) = free;
static void *workspace;
static size_t workspace_bytes;
static unsigned workspace_calls; /* since the last lab_workspace_spoil() */

void lab_workspace_use(void *(*alloc)(size_t bytes), void (*release)(void *memory))
{
    workspace_alloc = alloc;
    workspace_release = release;
}

void *conv_workspace(size_t bytes)
{
    if (bytes > workspace_bytes) {
        if (workspace)
            workspace_release(workspace);
        size_t rounded = (bytes + 255) / 256 * 256;
        workspace = rounded >= bytes ? workspace_alloc(rounded) : NULL;
        workspace_bytes = workspace ? rounded : 0;
    }
    workspace_calls += workspace != NULL;
    return workspace;
}

unsigned lab_workspace_calls(void)
{
    return workspace_calls;
}

void lab_workspace_spoil(void *(*spoil)(void *memory, size_t bytes))
{
    workspace_calls = 0;
    if (!workspace)
        return;
    workspace = spoil(workspace, workspace_bytes);
    if (!workspace)
        workspace_bytes = 0;
}

void *lab_workspace_fill(void *memory, size_t bytes)
{
    const uint32_t bits = RUNNER_SCRATCH_BITS;
    uint32_t *word = memory;
    for (size_t i = 0; i < bytes / sizeof bits; i++)
        word[i] = bits;
    return memory;
}

/* ---- crashes -------------------------------------------------------------------------------- */

static struct runner_reply *crash_reply;
static void (*crash_send)(const struct runner_reply *);

/* ---- loading -------------------------------------------------------------------------------- */

/* The range of the library's code, for the crash handler, which must not call dladdr(). */
static uintptr_t lab_base, lab_begin, lab_end;

static int note_addresses(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    if (info->dlpi_addr != *(uintptr_t *)base)
        return 0;
    lab_base = lab_begin = lab_end = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > lab_end)
            lab_end = end;
    }
    return 1;
}

/* @param caller  the address after the call */
static void on_loading(const char *function, const void *caller)
{
    struct runner_reply *reply = crash_reply;
    Dl_info where;
    if (crash_send && dladdr(caller, &where)) {
        reply->kind = RUNNER_CRASHED;
        reply->signal = SIGSYS;
        reply->in_lab = 1;
        reply->lab_offset = (uintptr_t)caller - 1 - (uintptr_t)where.dli_fbase;
        snprintf(reply->text, sizeof reply->text, "%s()", function);
        crash_send(reply);
    } else {
        fprintf(stderr, "runner: the lab called %s(), which loads other libraries\n", function);
    }
    _exit(128 + SIGSYS);
}

static void on_refused_call(int signal, siginfo_t *info, void *context)
{
    if (!shared_memory_give(info, context))
        _exit(128 + signal);
}

enum st_code lab_load(const char *path, const struct exercise *exercise, lab_function **function,
                      struct st_error *err)
{
    sigaction(
        SIGSYS,
        &(struct sigaction){.sa_sigaction = on_refused_call, .sa_flags = SA_SIGINFO | SA_ONSTACK},
        NULL);
    loading_refuse(path, on_loading);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror(), *undefined = why ? strstr(why, "undefined symbol: ") : NULL;
        if (undefined) {
            st_fail(err, ST_BAD_FORMAT, "the library needs a function or library that is missing");
            st_detail(err, ST_GOT, "%s", undefined);
            st_detail(err, ST_HINT,
                      "define that function in your %s file, or check the spelling of its name",
                      exercise->file);
        } else {
            st_fail(err, ST_BAD_FORMAT, "the library cannot be loaded");
            st_detail(err, ST_GOT, "%s", why ? why : "no reason given");
            st_detail(err, ST_HINT,
                      "build it: run make with the name of your milestone, for example make m1");
        }
        return ST_BAD_FORMAT;
    }
    void *symbol = dlsym(library, exercise->entry);
    if (!symbol) {
        st_fail(err, ST_BAD_FORMAT, "the library does not export %s", exercise->entry);
        st_detail(err, ST_HINT,
                  "define `%s`, not static, with exactly this name; extern \"C\" in a .cu file",
                  exercise->types);
        return ST_BAD_FORMAT;
    }
    Dl_info where;
    if (dladdr(symbol, &where)) {
        uintptr_t base = (uintptr_t)where.dli_fbase;
        dl_iterate_phdr(note_addresses, &base);
    }
    *function = exercise->adapt(symbol);
    return ST_OK;
}

/* ---- the handler ---------------------------------------------------------------------------- */

static int in_lab(uintptr_t address)
{
    return address >= lab_begin && address < lab_end;
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    struct runner_reply *reply = crash_reply;
    if (signal == SIGSYS && shared_memory_give(info, context))
        return;
    reply->kind = RUNNER_CRASHED;
    reply->signal = signal;
    reply->in_lab = 0;
    if (signal == SIGSEGV || signal == SIGBUS)
        reply->fault_address = (uintptr_t)info->si_addr;
    if (signal == SIGSYS)
        reply->fault_address = (uint64_t)info->si_syscall;
    uintptr_t pc = 0;
#if defined(__x86_64__)
    const mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    pc = (uintptr_t)machine->gregs[REG_RIP];
    reply->is_write =
        signal == SIGSEGV && machine->gregs[REG_ERR] & 2; /* bit 1 of the fault code */
#elif defined(__aarch64__)
    pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#endif
    if (in_lab(pc)) {
        reply->in_lab = 1;
        reply->lab_offset = pc - lab_base;
    } else {
        /* For a crash in memcpy(), abort() or another library, report the call in the lab. A return
         * address points after the call, hence minus one. */
        void *frames[64];
        int n = backtrace(frames, 64);
        for (int i = 0; i < n && !reply->in_lab; i++) {
            if (in_lab((uintptr_t)frames[i])) {
                reply->in_lab = 1;
                reply->lab_offset = (uintptr_t)frames[i] - 1 - lab_base;
            }
        }
    }
    crash_send(reply);
    _exit(128 + signal);
}

void lab_watch_crashes(struct runner_reply *reply, void (*send)(const struct runner_reply *))
{
    static char stack[1 << 16] __attribute__((aligned(64)));
    void *frames[1];
    backtrace(frames, 1); /* loads the unwinder, because the handler must not */
    crash_reply = reply;
    crash_send = send;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
}
