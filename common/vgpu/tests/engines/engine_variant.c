/* Runs a case on a separate device and records everything observable. */
#include "vgpu/tests/engines/engine_process.h"

#include "vgpu/device/native_library.h"
#include "vgpu/exec/tally.h"
#include "vgpu/exec/tests/test_gpu.h"
#include "vgpu/exec/vg_module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECONDS_MOST = 40 };

static const char *const engines[] = {[VG_ENGINE_AUTO] = "auto",
                                      [VG_ENGINE_INTERPRETER] = "interpreter",
                                      [VG_ENGINE_NATIVE] = "native"};
bool variant_read(struct variant *to, const char *text)
{
    char engine[16] = "interpreter";
    *to = (struct variant){.cores = 1};
    const int n = sscanf(text, "%11[a-z0-9]:%d:%15s", to->target, &to->cores, engine);
    size_t i = 0, count = sizeof engines / sizeof *engines;
    while (i < count && strcmp(engines[i], engine) != 0)
        i++;
    to->engine = (enum vg_engine)i;
    return n >= 1 && to->cores >= 1 && to->cores <= 64 && i < count &&
           (strcmp(to->target, "base") == 0 || strcmp(to->target, "avx2") == 0 ||
            strcmp(to->target, "avx512") == 0);
}

const char *variant_name(const struct variant *v, char to[40])
{
    snprintf(to, 40, "%s:%d:%s", v->target, v->cores, engines[v->engine]);
    return to;
}

/* ---- the translator, with a count ------------------------------------------------------------ */

static struct vg_translator counting;
static const struct vg_translator *counted;
static atomic_ulong translated; /* in this process */
static const struct engine_spoil *spoiled;

void variant_spoil(const struct engine_spoil *spoil)
{
    spoiled = spoil;
}

static vg_native_code translate(void *state, const struct ir_function *f, const uint32_t *entries,
                                size_t entry_count, const uint8_t *kinds)
{
    struct ir_insn *were = spoiled ? engine_spoil(spoiled, f) : NULL;
    if (spoiled && !were)
        return NULL; /* the code of an unchanged function would have no mistake */
    const vg_native_code code = counted->translate(state, f, entries, entry_count, kinds);
    if (were)
        engine_unspoil(f, were);
    translated += code != NULL;
    return code;
}

/* Code is kept between variants, as between the device processes of a grading: a variant runs code
 * that another variant translated. */
static void load_translator(void)
{
    enum { STORE_MIB = 64 };
    counted = native_library_load(NULL);
    if (!counted)
        return;
    void *store = calloc(1, (size_t)STORE_MIB << 20);
    if (store)
        counted->share(store, (size_t)STORE_MIB << 20);
    counting = *counted;
    counting.translate = translate;
}

const struct vg_translator *variant_translator(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_translator);
    return counted ? &counting : NULL;
}

/* A running case. */
struct run {
    const struct engine_case *c;
    struct vg_device *device;
    struct vg_module *module;
    uint64_t buffers[CASE_BUFFERS];
    FILE *text;
    bool is_over;
};

/* ---- a case that does not end ---------------------------------------------------------------- */

struct watch {
    struct vg_device *device;
    int seconds;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool is_over, has_cut;
};

/* Ends the launch repeatedly, because the case's next launch resets the request. */
static void *watch_main(void *argument)
{
    struct watch *w = argument;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += w->seconds;
    pthread_mutex_lock(&w->mutex);
    while (!w->is_over) {
        if (pthread_cond_timedwait(&w->ended, &w->mutex, &until) == 0)
            continue;
        w->has_cut = true;
        vg_interrupt(w->device);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static bool watch_end(struct watch *w, pthread_t thread)
{
    pthread_mutex_lock(&w->mutex);
    w->is_over = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(thread, NULL);
    return w->has_cut;
}

/* ---- observable results --------------------------------------------------------------------- */

static void note_counters(FILE *to, const struct vg_counters *c)
{
    const uint64_t *words = (const uint64_t *)c;
    for (size_t i = 0; i < sizeof *c / sizeof *words; i++)
        fprintf(to, "counter %zu (of struct vg_counters): %llu\n", i, (unsigned long long)words[i]);
}

static void note_report(FILE *to, const struct vg_launch_report *r)
{
    static const char *const terms[] = {
#define TERM(name, text, group) #text,
        VG_TERM_MAP(TERM)
#undef TERM
    };
    fprintf(to, "faulted %d with %d\n", r->faulted, r->faulted ? (int)r->fault : -1);
    note_counters(to, &r->counters);
    fprintf(to, "registers %d, of sm %d\nshared %zu + %zu, local %zu\n", r->registers,
            r->registers_sm, r->static_shared_bytes, r->dynamic_shared_bytes, r->local_bytes);
    fprintf(to, "occupancy %a\nmodelled_ns %a\nlimiter %s\n", r->occupancy, r->modelled_ns,
            r->limiter);
    for (int i = 0; i < VG_TERMS; i++)
        fprintf(to, "ns_%s %a\n", terms[i], r->term_ns[i]);
    fprintf(to, "dram_bytes %a\nl2_read_bytes %a\nl2_write_bytes %a\nl1_wavefronts %a\n",
            r->dram_bytes, r->l2_read_bytes, r->l2_write_bytes, r->l1_wavefronts);
    fprintf(to, "blocks %s\n", r->blocks ? r->blocks : "");
}

static void note_faults(const struct run *r)
{
    const struct vg_fault *f;
    const size_t n = vg_faults(r->device, &f);
    for (size_t i = 0; i < n; i++)
        fprintf(r->text,
                "finding %zu: kind %d of %s at %s:%d, other %s:%d, block %u,%u,%u, thread "
                "%u,%u,%u, address %llx, %d bytes, %s, '%s', %llu times\n",
                i, (int)f[i].kind, f[i].kernel, f[i].file, f[i].line, f[i].other_file,
                f[i].other_line, f[i].block[0], f[i].block[1], f[i].block[2], f[i].thread[0],
                f[i].thread[1], f[i].thread[2], (unsigned long long)f[i].address, f[i].access_bytes,
                f[i].is_write ? "write" : "read", f[i].detail, (unsigned long long)f[i].count);
}

static void note_printed(const struct run *r)
{
    size_t bytes;
    char *printed = vg_printf_take(r->device, &bytes);
    fprintf(r->text, "printed %zu bytes:\n", bytes);
    if (printed && bytes)
        fwrite(printed, 1, bytes, r->text);
    fputc('\n', r->text);
    free(printed);
}

/* The rows of opcodes.def that were executed. */
static void note_executed(const struct run *r, unsigned char *executed)
{
    for (size_t k = 0; k < r->module->kernel_count; k++) {
        const struct vg_tally *t = r->module->kernels[k].tally;
        for (uint32_t i = 0; t && i < r->module->ir.insn_count; i++)
            if (t->block_warps[r->module->block_of[i]])
                executed[r->module->insns[i]->op] = 1;
    }
}

static void note_memory(const struct run *r, struct outcome *o)
{
    FILE *to = open_memstream(&o->memory, &o->memory_bytes);
    for (int i = 0; to && i < r->c->buffer_count + r->c->variable_count; i++) {
        const bool is_buffer = i < r->c->buffer_count;
        uint64_t at = is_buffer ? r->buffers[i] : 0;
        size_t bytes = is_buffer ? r->c->buffers[i].bytes : 0;
        if (!is_buffer)
            vg_module_variable(r->module, r->c->variables[i - r->c->buffer_count], &at, &bytes);
        char *copy = calloc(1, bytes + 1);
        if (copy && vg_memory_read(r->device, copy, at, bytes, NULL) == ST_OK)
            fwrite(copy, 1, bytes, to);
        free(copy);
    }
    if (!to || fclose(to))
        abort();
}

/* ---- running ---------------------------------------------------------------------------------- */

static void make_buffers(struct run *r)
{
    for (int i = 0; i < r->c->buffer_count; i++) {
        const struct case_buffer *b = &r->c->buffers[i];
        char *content = malloc(b->bytes + 8);
        if (!content || vg_memory_alloc(r->device, b->bytes, &r->buffers[i], NULL) != ST_OK)
            abort();
        const size_t known = case_fill(b, content);
        if (known)
            vg_memory_write(r->device, r->buffers[i], content, known, NULL);
        if (strcmp(b->kind, "holes") == 0)
            vg_memory_write(r->device, r->buffers[i] + b->bytes / 4 * 3, content + b->bytes / 4 * 3,
                            b->bytes / 4, NULL);
        free(content);
    }
    for (int i = 0; i < r->c->buffer_count; i++)
        if (strcmp(r->c->buffers[i].kind, "freed") == 0)
            vg_memory_free(r->device, r->buffers[i], NULL);
}

static void make_parameters(const struct run *r, const struct vg_kernel *k, char *to)
{
    int buffer = 0, scalar = 0;
    size_t at, bytes;
    for (int i = 0; vg_kernel_parameter(k, i, &at, &bytes); i++) {
        if (bytes == 8 && buffer < CASE_BUFFERS)
            memcpy(to + at, &r->buffers[buffer++], 8);
        else if (bytes == 4 && scalar < CASE_SCALARS)
            memcpy(to + at, &r->c->scalars[scalar++], 4);
    }
}

static void launch(struct run *r, const struct case_launch *l)
{
    struct vg_launch_report report;
    struct st_error err = {0};
    struct vg_kernel *k = vg_module_kernel(r->module, l->kernel);
    char *parameters = k ? calloc(1, vg_kernel_parameter_bytes(k) + 8) : NULL;
    if (!parameters)
        return;
    const char *refusal = vg_kernel_refusal(k);
    if (refusal) { /* other callers of vg_launch() check this, too */
        fprintf(r->text, "refused %s\n", refusal);
        free(parameters);
        return;
    }
    make_parameters(r, k, parameters);
    fprintf(r->text, "launch %s\n", l->kernel);
    const enum st_code code =
        vg_launch(r->device, k, l->grid, l->block, l->dynamic_bytes, parameters, &report, &err);
    free(parameters);
    fprintf(r->text, "status %d %s\n", (int)code, code == ST_OK ? "" : err.what);
    if (code != ST_OK)
        return;
    note_report(r->text, &report);
    free(report.blocks);
    note_faults(r);
    note_printed(r);
    r->is_over = report.faulted;
}

static void run_launches(struct run *r, struct outcome *o)
{
    make_buffers(r);
    /* A kernel that faults ends its program: the other kernels do not run, and the memory is not
     * observable. */
    for (int i = 0; i < r->c->launch_count && !r->is_over; i++)
        launch(r, &r->c->launches[i]);
    for (size_t i = 0; !r->c->launch_count && i < r->module->kernel_count && !r->is_over; i++) {
        struct case_launch all = {.grid = {3, 1, 1}, .block = {70, 1, 1}};
        snprintf(all.kernel, sizeof all.kernel, "%s", vg_kernel_symbol(&r->module->kernels[i]));
        launch(r, &all);
    }
    vg_counters_write(r->device, r->text);
    o->executed = calloc(IR_OPS, 1);
    if (!o->executed)
        abort();
    note_executed(r, o->executed);
    if (!r->is_over)
        note_memory(r, o);
}

struct outcome variant_run_here(const struct variant *v, const struct engine_case *c)
{
    struct outcome o = {0};
    struct run r = {.c = c, .text = open_memstream(&o.text, &o.text_bytes)};
    struct st_error err = {0};
    setenv("CONVLAB_VGPU_TARGET", v->target, 1);
    if (!r.text || vg_device_open(&r.device, &test_gpu, v->cores, &err) != ST_OK)
        abort();
    vg_blocks_keep(r.device);
    vg_device_seed(r.device, c->order);
    vg_device_engine_set(r.device, v->engine, variant_translator);
    struct watch watch = {.seconds = v->seconds ? v->seconds : SECONDS_MOST,
                          .device = r.device,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .ended = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_main, &watch))
        abort();
    if (vg_module_load(r.device, &r.module, c->ptx, strlen(c->ptx), NULL, 0, &err) == ST_OK) {
        run_launches(&r, &o);
        vg_module_unload(r.device, r.module);
    } else {
        o.is_refused = true;
        fprintf(r.text, "%s: %s\n", err.what, err.where);
    }
    o.is_cut = watch_end(&watch, thread);
    o.translated = translated;
    vg_device_close(r.device);
    fclose(r.text);
    return o;
}
