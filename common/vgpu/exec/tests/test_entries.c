/* Tests of the interpreter while a slow translator runs: only a kernel that must be native waits
 * for the translator, and a module that the translator reads stays until the translation has
 * ended. */
#include "vgpu/exec/tests/gpu.h"
#include "vgpu/exec/translator.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define LOOP                                                                                       \
    PTX_HEAD ".visible .entry loop(.param .u32 n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"       \
             "ld.param.u32 %r1, [n];\nAGAIN: sub.s32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n"     \
             "@%p1 bra AGAIN;\nret;\n}\n"

static sem_t began, may_end, closed;
static atomic_int made, dropped;
static atomic_size_t read_insns;
static char made_by[16];

static const char *version(void)
{
    return "a test";
}

static void *open_slow(const char *target, const struct vg_handlers *handlers,
                       const struct vg_services *services)
{
    return target && handlers && services ? &began : NULL;
}

/* Native code that executes nothing and returns to the interpreter at once. */
static const struct ir_insn *nothing(const struct ir_insn *in, struct vg_warp *w, char *room)
{
    (void)w, (void)room;
    return in;
}

static vg_native_code translate(void *state, const struct ir_function *f, const uint32_t *entries,
                                size_t entry_count, const uint8_t *kinds)
{
    (void)state, (void)entries, (void)entry_count, (void)kinds;
    pthread_getname_np(pthread_self(), made_by, sizeof made_by);
    sem_post(&began);
    sem_wait(&may_end);
    for (size_t i = 0; i < f->insn_count; i++)
        atomic_fetch_add(&read_insns, f->insns[i].op < IR_OPS);
    atomic_fetch_add(&made, 1);
    return nothing;
}

static void begin(struct vg_worker *worker)
{
    (void)worker;
}

static void drop(void *state, vg_native_code code)
{
    (void)state;
    cr_assert(code == nothing);
    atomic_fetch_add(&dropped, 1);
}

static void close_slow(void *state)
{
    (void)state;
    sem_post(&closed);
}

static const struct vg_translator slow = {version, NULL, open_slow, translate, NULL,
                                          begin,   NULL, drop,      close_slow};

static const struct vg_translator *find(void)
{
    return &slow;
}

/* Runs a kernel of many blocks until the translator starts to translate it. (The interpreter also
 * samples the accesses of the first blocks.) */
static struct vg_module *run_hot(struct vg_device **d)
{
    const uint32_t n = 10000;
    sem_init(&began, 0, 0);
    sem_init(&may_end, 0, 0);
    sem_init(&closed, 0, 0);
    *d = gpu_open(1);
    vg_device_engine_set(*d, VG_ENGINE_AUTO, find);
    struct vg_module *m = gpu_load(*d, LOOP);
    do
        cr_assert(!gpu_run(*d, m, "loop", 64, 32, &n).faulted);
    while (sem_trywait(&began));
    return m;
}

Test(entries, unloading_and_closing_do_not_wait_for_the_translator, .timeout = 60)
{
    struct vg_device *d;
    struct vg_module *m = run_hot(&d);
    vg_module_unload(d, m);
    vg_device_close(d);
    sem_post(&may_end);
    sem_wait(&closed);
    cr_assert_gt(atomic_load(&read_insns), 0);
    cr_assert_eq(atomic_load(&made), 1);
    cr_assert_eq(atomic_load(&dropped), 1);
}

/* (vg_process_work_s() must not count the time of the translator's thread.) */
Test(entries, native_code_is_waited_for_and_made_by_its_own_thread, .timeout = 60)
{
    const uint32_t n = 10000;
    sem_init(&began, 0, 0);
    sem_init(&may_end, 0, 100);
    sem_init(&closed, 0, 0);
    struct vg_device *d = gpu_open(1);
    vg_device_engine_set(d, VG_ENGINE_NATIVE, find);
    struct vg_module *m = gpu_load(d, LOOP);
    cr_assert(!gpu_run(d, m, "loop", 64, 32, &n).faulted);
    cr_assert_eq(sem_trywait(&began), 0);
    cr_assert_str_eq(made_by, VG_TRANSLATOR_THREAD);
    vg_device_close(d);
}

Test(entries, code_is_dropped_with_its_module, .timeout = 60)
{
    struct vg_device *d;
    struct vg_module *m = run_hot(&d);
    const uint32_t n = 10000;
    for (int i = 0; i < 100; i++)
        sem_post(&may_end);
    for (int i = 0; i < 10; i++)
        cr_assert(!gpu_run(d, m, "loop", 64, 32, &n).faulted);
    vg_module_unload(d, m);
    vg_device_close(d);
    sem_wait(&closed);
    cr_assert_gt(atomic_load(&made), 0);
    cr_assert_eq(atomic_load(&dropped), atomic_load(&made));
}
