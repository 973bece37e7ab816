/* Tests of the interpreter while a slow translator runs: only a kernel that must be native waits
 * for the translator, and a module that the translator reads stays until the translation has
 * ended. */
#include "vgpu/exec/tests/gpu.h"
#include "vgpu/exec/translator.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#define LOOP                                                                                       \
    PTX_HEAD ".visible .entry loop(.param .u32 n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n"       \
             "ld.param.u32 %r1, [n];\nAGAIN: sub.s32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n"     \
             "@%p1 bra AGAIN;\nret;\n}\n"

/* Accesses memory, if asked to. Then only the last block loops n times, the others once. */
#define ACCESS_AND_LOOP                                                                            \
    PTX_HEAD ".visible .entry loop(.param .u64 p, .param .u32 n, .param .u32 accesses)\n{\n"       \
             ".reg .pred %p<3>;\n.reg .b32 %r<7>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"   \
             "ld.param.u32 %r1, [n];\nld.param.u32 %r6, [accesses];\nsetp.eq.s32 %p2, %r6, 0;\n"   \
             "@%p2 bra LAST;\nld.global.u32 %r2, [%rd1];\nadd.s32 %r2, %r2, 1;\n"                  \
             "st.global.u32 [%rd1], %r2;\nLAST: mov.u32 %r4, %ctaid.x;\n"                          \
             "mov.u32 %r5, %nctaid.x;\nsub.s32 %r5, %r5, 1;\nsetp.eq.s32 %p1, %r4, %r5;\n"         \
             "selp.s32 %r1, %r1, 1, %p1;\nAGAIN: sub.s32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, 0;\n" \
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

/* A translation may begin after 4000000 executed instructions of loops. */
enum { MANY_ROUNDS = 1500000, MORE_ROUNDS = 200000 };

static struct vg_device *open_for_translation(struct vg_module **m, uint64_t *p)
{
    const uint32_t zero = 0;
    sem_init(&began, 0, 0);
    sem_init(&may_end, 0, 100);
    sem_init(&closed, 0, 0);
    struct vg_device *d = gpu_open(1);
    vg_device_engine_set(d, VG_ENGINE_AUTO, find);
    *m = gpu_load(d, ACCESS_AND_LOOP);
    *p = gpu_alloc(d, &zero, sizeof zero);
    return d;
}

static void run(struct vg_device *d, struct vg_module *m, uint64_t p, uint32_t blocks, uint32_t n,
                bool accesses)
{
    const struct {
        uint64_t p;
        uint32_t n, accesses;
    } parameters = {p, n, accesses};
    cr_assert(!gpu_run(d, m, "loop", blocks, 32, &parameters).faulted);
}

static bool begins_within(time_t seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += seconds;
    return sem_timedwait(&began, &end) == 0;
}

/* Only the last block asks for the translation. */
Test(entries, a_launch_that_ends_soon_postpones_the_translation, .timeout = 120)
{
    struct vg_module *m;
    uint64_t p;
    struct vg_device *d = open_for_translation(&m, &p);
    run(d, m, p, 64, MANY_ROUNDS, true);
    run(d, m, p, 65, MORE_ROUNDS, true);
    cr_assert(!begins_within(1));
    for (int i = 0; i < 4; i++) /* launches of one size: more of them will follow */
        run(d, m, p, 64, MORE_ROUNDS, true);
    cr_assert(begins_within(60));
    vg_device_close(d);
}

Test(entries, a_few_blocks_do_not_postpone_the_translation, .timeout = 120)
{
    struct vg_module *m;
    uint64_t p;
    struct vg_device *d = open_for_translation(&m, &p);
    run(d, m, p, 63, MANY_ROUNDS, true);
    cr_assert(begins_within(60));
    vg_device_close(d);
}

Test(entries, a_translation_waits_for_the_kinds_of_accesses, .timeout = 120)
{
    struct vg_module *m;
    uint64_t p;
    struct vg_device *d = open_for_translation(&m, &p);
    run(d, m, p, 63, MANY_ROUNDS, false);
    cr_assert(!begins_within(1));
    run(d, m, p, 63, MANY_ROUNDS, true);
    cr_assert(begins_within(60));
    vg_device_close(d);
}
