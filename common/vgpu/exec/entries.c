/* Entries: instructions at which native code may begin. They are the start of a function, heads of
 * loops, meetings of lanes, and instructions after those at which a warp may have to wait. The
 * interpreter counts its passes through the entries. After enough passes a separate thread
 * translates the function, while the interpreter continues. Which engine executes an instruction
 * may differ between runs: results, counters and times do not depend on it. */
#include "base/clock.h"
#include "vgpu/exec/control_flow.h"
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/translator.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_warp.h"
#include "vgpu/exec/workers.h"

#include <stdlib.h>
#include <string.h>

/* A pass through an entry counts as the number of instructions in its basic block. */
enum {
    PATIENCE_FIRST = 4000000, /* passes before a small function is translated: about 0.05 s */
    PATIENCE_PART = 40000, /* the same for each instruction of a large one: most of LLVM's time */
    PATIENCE_AGAIN = 16000000, /* for entries that were too rare for the last translation */
    POSTPONEMENTS = 20,        /* of a function's first translation, unless few launches follow */
    TRANSLATION_NS = 1000000,  /* time to translate an instruction */
    REPEATED = 3,              /* launches of equal size in a row: more of them will follow */
    FEW_BLOCKS = 64,           /* of a launch: they say little about the time that is left */
    PATIENCE_NATIVE = 400,     /* for functions that must run as native code, see patience_of() */
    SELDOM = 80000,            /* fewer passes are not worth an entry's code */
    TRANSLATIONS = 4,          /* of a function, each with more entries */
    WORTH_ENTERING = 8,        /* instructions in the basic block after a branch */
    MOST_TRANSLATED = 3000, /* instructions of a function: LLVM takes seconds for larger ones, and
                                  its code is then not faster than the interpreter */
    MOST_AWAITED = 1000, /* instructions of a function: nothing waits for the code of larger ones */
};

struct vg_entry {
    const struct ir_insn *in;
    ir_handler interpret;         /* the instruction's handler in the interpreter */
    _Atomic(vg_native_code) code; /* NULL: none yet, or not useful */
    atomic_int patience;          /* after the first translation: passes before the next one */
    int weight;                   /* what a pass counts */
    struct translation *of;
};

enum translation_state { IDLE, QUEUED };

/* The code of a function. */
struct translation {
    struct vg_module *module;
    struct ir_function *function;
    struct vg_entry *entries; /* [count] */
    uint32_t count;
    atomic_int state;    /* enum translation_state */
    atomic_int patience; /* passes through all entries before the first one */
    atomic_bool is_translated;
    vg_native_code codes[TRANSLATIONS]; /* warps may still run older codes */
    int code_count;
    struct {       /* guarded by `state` */
        int count; /* of postponements: launches would end before the first code is made */
        uint64_t launch, blocks; /* the last such launch, and its size */
        int repeated;            /* launches of this size in a row */
    } postponed;
    uint8_t *kinds;  /* of accesses, as the workers that requested it saw them; NULL: unknown */
    bool is_waiting; /* its translation is queued or running; guarded by the engine's mutex */
    struct translation *next_queued, *next;
};

struct vg_engine_state {
    enum vg_engine engine;
    const struct vg_translator *(*find)(void);
    const struct vg_translator *translator;
    void *state;   /* state of the translator */
    bool looked;   /* the translator has been looked for */
    bool is_brief; /* see vg_device_brief_set() */
    const char *target;
    const struct vg_handlers *handlers;
    bool quit, has_thread;
    bool alone; /* the device is closed: the thread frees this */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked, answered;
    struct translation *first, *last, *busy;
    _Atomic(const struct vg_module *) at_work; /* module of `busy` if that has no code yet */
    struct vg_module *left; /* modules unloaded while the thread was busy; the thread frees them */
    void (*free_module)(struct vg_module *m);
};

static const struct vg_services services = {
    .split = vg_split,
    .wait = vg_wait,
    .meet = vg_meet,
    .yield = vg_yield,
    .resume = vg_resume,
    .rows = ir_rows,
    .flow_new = ptx_flow_new,
    .flow_free = ptx_flow_free,
    .flow_live = ptx_flow_live,
    .flow_operands = ptx_flow_operands,
    .flow_next = ptx_flow_next,
};

/* ---- translating ----------------------------------------------------------------------------- */

static void look_for_translator(struct vg_engine_state *e)
{
    e->looked = true;
    e->translator = e->find ? e->find() : NULL;
    e->state = e->translator ? e->translator->open(e->target, e->handlers, &services) : NULL;
}

/* @return whether a warp may have to wait at an instruction, or continue after it with other
 * lanes. */
static bool may_wait(const struct ir_insn *in)
{
    return in->op == IR_CALL || (ir_rows[in->op].whole_warp && in->op != IR_BRX);
}

/* @return whether native code ends at an instruction, even if all lanes of the warp execute it. */
static bool ends_code(const struct ir_insn *in)
{
    return may_wait(in) && !ir_rows[in->op].is_together;
}

/* Chooses the instructions of a function that get an entry into its code. The first code has
 * entries at the function's start and after waits, since an entry in a loop hides the loop from
 * LLVM. Later, separate code has entries where the interpreter still passes often: where lanes
 * diverged or a long loop was interrupted.
 * @return their number */
static size_t choose(const struct vg_engine_state *e, const struct translation *t, uint32_t *to)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct vg_entry *entry = &t->entries[i];
        const uint32_t index = entry->in->index;
        const bool first = index == 0 || ends_code(&t->function->insns[index - 1]);
        const bool often = e->engine == VG_ENGINE_NATIVE ||
                           PATIENCE_AGAIN - atomic_load(&entry->patience) >= SELDOM;
        if (t->code_count ? !atomic_load(&entry->code) && often : first)
            to[n++] = index;
    }
    return n;
}

static void install(struct translation *t, const uint32_t *chosen, size_t n, vg_native_code code,
                    bool is_impatient)
{
    size_t k = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct vg_entry *entry = &t->entries[i];
        atomic_store(&entry->patience, is_impatient ? 0 : PATIENCE_AGAIN);
        if (k < n && chosen[k] == entry->in->index) {
            atomic_store(&entry->code, code);
            k++;
        }
    }
}

/* Called by one thread at a time. */
static void translate(struct vg_engine_state *e, struct translation *t)
{
    uint32_t *chosen = calloc(t->count + 1, sizeof *chosen);
    bool may_ask_again = false; /* false after a failure, which would repeat */
    if (!e->looked)
        look_for_translator(e);
    if (e->state && chosen) {
        const size_t n = choose(e, t, chosen);
        const vg_native_code code =
            e->translator->translate(e->state, t->function, chosen, n, t->kinds);
        if (code) {
            t->codes[t->code_count++] = code;
            install(t, chosen, n, code, e->engine == VG_ENGINE_NATIVE);
            atomic_store(&t->is_translated, true);
            may_ask_again = t->code_count < TRANSLATIONS;
        }
    }
    free(chosen);
    free(t->kinds);
    t->kinds = NULL;
    if (may_ask_again)
        atomic_store(&t->state, IDLE);
}

static bool nearly_all(uint64_t part, uint64_t whole)
{
    return (whole - part) * 12 <= whole;
}

/* Adds to t->kinds those of the sites that have been used in this launch; see struct vg_translator. */
static void note_kinds(struct translation *t, struct vg_site *sites)
{
    const struct vg_module *m = t->module;
    if (!t->kinds)
        t->kinds = calloc(m->ir.site_count + 1, 1);
    uint8_t *const kinds = t->kinds;
    for (uint32_t i = 0; kinds && i <= m->ir.site_count; i++) {
        struct vg_site *const s = &sites[i];
        if (!s->shape) {
            kinds[i] = s->divergent ? VG_SITE_DIVERGED : kinds[i];
            continue;
        }
        vg_count_kinds(s);
        kinds[i] = VG_SITE_UNIFORM;
        while (kinds[i] < VG_SITE_OTHER &&
               !nearly_all(s->of_kind[kinds[i] - VG_SITE_UNIFORM], s->seen))
            kinds[i]++;
    }
}

/* @return whether less than half of a function's sites have known kinds */
static bool knows_few_kinds(const struct translation *t)
{
    const struct ir_function *f = t->function;
    uint32_t all = 0, known = 0;
    for (uint32_t i = 0; i < f->insn_count && t->kinds; i++) {
        const uint32_t site = f->insns[i].site;
        all += site != 0;
        known += site && t->kinds[site] != VG_SITE_UNKNOWN;
    }
    return 2 * known < all;
}

static void drop_translations(struct vg_engine_state *e, struct vg_module *m)
{
    while (m->translations) {
        struct translation *t = m->translations;
        m->translations = t->next;
        for (int i = 0; i < t->code_count; i++)
            e->translator->drop(e->state, t->codes[i]);
        free(t->kinds);
        free(t);
    }
    free(m->entries);
    m->entries = NULL;
}

static void free_left(struct vg_engine_state *e)
{
    while (e->left) {
        struct vg_module *m = e->left;
        e->left = m->next;
        drop_translations(e, m);
        e->free_module(m);
    }
}

static void engine_free(struct vg_engine_state *e)
{
    if (e->state)
        e->translator->close(e->state);
    pthread_mutex_destroy(&e->mutex);
    pthread_cond_destroy(&e->asked);
    pthread_cond_destroy(&e->answered);
    free(e);
}

/* A translation cannot be interrupted, and unloading a module or closing a device does not wait for
 * it: this thread frees such modules and devices after the translation. */
static void *translator_main(void *arg)
{
    struct vg_engine_state *e = arg;
    pthread_setname_np(pthread_self(), VG_TRANSLATOR_THREAD);
    pthread_mutex_lock(&e->mutex);
    while (!e->quit) {
        if (!e->first) {
            pthread_cond_wait(&e->asked, &e->mutex);
            continue;
        }
        struct translation *t = e->busy = e->first;
        e->first = t->next_queued;
        atomic_store(&e->at_work, t->code_count ? NULL : t->module);
        pthread_cond_broadcast(&e->answered);
        pthread_mutex_unlock(&e->mutex);
        translate(e, t);
        pthread_mutex_lock(&e->mutex);
        atomic_store(&e->at_work, NULL);
        e->busy = NULL;
        t->is_waiting = false;
        pthread_cond_broadcast(&e->answered);
        free_left(e);
    }
    const bool alone = e->alone;
    pthread_mutex_unlock(&e->mutex);
    if (alone)
        engine_free(e);
    return NULL;
}

static bool is_large(const struct translation *t)
{
    return t->function->insn_count > MOST_AWAITED;
}

/* @return the passes before translation. If all code must be native, half of the functions are
 * translated at once. The others are translated after the interpreter has seen how their lanes
 * access memory, so that comparisons of the engines test both kinds of code. */
static int patience_of(const struct vg_module *m, const struct ir_function *f)
{
    if (m->device->engine->engine == VG_ENGINE_NATIVE)
        return f->insn_count % 2 ? 0 : PATIENCE_NATIVE;
    const int all = (int)f->insn_count * PATIENCE_PART; /* at most MOST_TRANSLATED instructions */
    return all > PATIENCE_FIRST ? all : PATIENCE_FIRST;
}

/* @return whether the launch will probably end before the first code of a function is made: then the
 * interpreter counts again, and the next launch decides. */
static bool ends_before(const struct vg_engine_state *e, struct translation *t,
                        const struct vg_launch *l)
{
    if (t->postponed.launch != l->number) {
        t->postponed.repeated = t->postponed.blocks == l->blocks ? t->postponed.repeated + 1 : 0;
        t->postponed.launch = l->number;
        t->postponed.blocks = l->blocks;
    }
    const uint64_t all = l->blocks, begun = atomic_load(&l->next_block);
    const double passed_ns = (clock_now_s() - l->begin_s) * 1e9;
    if (t->code_count || all < FEW_BLOCKS || !begun || t->postponed.repeated >= REPEATED ||
        (t->postponed.count >= POSTPONEMENTS && !e->is_brief))
        return false;
    const double left = begun < all ? (double)(all - begun) / (double)begun : 0;
    return passed_ns * left < (double)t->function->insn_count * TRANSLATION_NS;
}

/* @return whether a launch has just begun, so that better code can be made later */
static bool is_too_early(const struct translation *t)
{
    return !t->code_count && t->postponed.count < POSTPONEMENTS && knows_few_kinds(t);
}

/* Requests a translation of a function after many passes through its entries. If all code
 * must be native, waits for it, but not while the translator is busy with a large function. */
static void ask(struct vg_engine_state *e, struct translation *t, const struct vg_launch *l,
                struct vg_site *sites)
{
    int idle = IDLE;
    if (!atomic_compare_exchange_strong(&t->state, &idle, QUEUED))
        return;
    note_kinds(t, sites);
    if (e->engine == VG_ENGINE_AUTO && (ends_before(e, t, l) || is_too_early(t))) {
        t->postponed.count++;
        atomic_store(&t->patience, patience_of(t->module, t->function) / 8);
        atomic_store(&t->state, IDLE);
        return;
    }
    pthread_mutex_lock(&e->mutex);
    t->is_waiting = true;
    t->next_queued = NULL;
    if (e->first)
        e->last->next_queued = t;
    else
        e->first = t;
    e->last = t;
    if (!e->has_thread)
        e->has_thread = pthread_create(&e->thread, NULL, translator_main, e) == 0;
    pthread_cond_signal(&e->asked);
    while (e->engine == VG_ENGINE_NATIVE && e->has_thread && t->is_waiting && !is_large(t) &&
           !(e->busy && is_large(e->busy)))
        pthread_cond_wait(&e->answered, &e->mutex);
    pthread_mutex_unlock(&e->mutex);
}

static vg_native_code count_pass(struct vg_entry *e, struct vg_warp *w)
{
    atomic_int *const patience = e->of->is_translated ? &e->patience : &e->of->patience;
    const int left = atomic_load_explicit(patience, memory_order_relaxed) - e->weight;
    atomic_store_explicit(patience, left, memory_order_relaxed);
    if (left <= 0 && atomic_load_explicit(&e->of->state, memory_order_relaxed) == IDLE)
        ask(e->of->module->device->engine, e->of, w->block->launch, w->sites);
    return atomic_load_explicit(&e->code, memory_order_acquire);
}

static const struct ir_insn *enter(const struct ir_insn *in, struct vg_warp *w)
{
    struct vg_module *m = w->block->launch->module;
    struct vg_entry *e = &m->entries[in->entry - 1];
    vg_native_code code = atomic_load_explicit(&e->code, memory_order_acquire);
    if (!code)
        code = count_pass(e, w);
    if (w->saved_as && in->op == IR_BAR) /* other native code returned, to wait here */
        m->device->engine->translator->settle(w);
    if (code) {
        m->device->engine->translator->begin(w->worker);
        w->worker->settle = m->device->engine->translator->settle;
        const struct ir_insn *next = code(in, w, w->saved);
        if (next != in)
            return next;
    }
    if (w->saved_as)
        m->device->engine->translator->settle(w);
    return e->interpret(in, w);
}

/* ---- entries --------------------------------------------------------------------------------- */

static uint32_t block_length(const struct ir_function *f, uint32_t from)
{
    return ptx_block_end(f, from) - from;
}

static void mark_branch(const struct ir_function *f, uint32_t i, bool *wanted)
{
    const struct ir_insn *in = &f->insns[i];
    if (in->target <= i)
        wanted[in->target] = true;
    if (in->guard && block_length(f, in->target) >= WORTH_ENTERING)
        wanted[in->target] = true;
    if (in->guard && i + 1 < f->insn_count && block_length(f, i + 1) >= WORTH_ENTERING)
        wanted[i + 1] = true;
}

/* @return [insn_count] which instructions of a function may become entries. */
static bool *mark_places(const struct ir_function *f)
{
    bool *wanted = calloc(f->insn_count + 1, sizeof *wanted);
    if (!wanted)
        return NULL;
    wanted[0] = true;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        if (in->op == IR_ENTER_JOIN)
            wanted[i] = true;
        else if (in->op == IR_BRA)
            mark_branch(f, i, wanted);
        else if (may_wait(in) && i + 1 < f->insn_count)
            wanted[i + 1] = true;
    }
    return wanted;
}

static bool make_places(struct vg_module *m, struct ir_function *f)
{
    bool *wanted = mark_places(f);
    struct translation *t = calloc(1, sizeof *t);
    if (!wanted || !t) {
        free(wanted);
        free(t);
        return false;
    }
    *t = (struct translation){.module = m,
                              .function = f,
                              .entries = &m->entries[m->entry_count],
                              .patience = patience_of(m, f),
                              .next = m->translations};
    m->translations = t;
    for (uint32_t i = 0; i < f->insn_count; i++) {
        if (!wanted[i])
            continue;
        struct ir_insn *in = &f->insns[i];
        struct vg_entry *e = &t->entries[t->count++];
        in->entry = ++m->entry_count;
        *e = (struct vg_entry){
            .in = in, .interpret = in->run, .weight = (int)block_length(f, i), .of = t};
        in->run = enter;
    }
    /* Branches to entries must not bypass them. */
    for (size_t i = 0; i < f->insn_count; i++) {
        struct ir_insn *in = &f->insns[i];
        if (in->op != IR_BRA)
            continue;
        in->d = wanted[in->target] ? 0 : in->d;
        in->e = i + 1 < f->insn_count && wanted[i + 1] ? 0 : in->e;
    }
    free(wanted);
    return true;
}

static bool is_translated(const struct vg_module *m, const struct ir_function *f)
{
    return f->has_body &&
           (m->device->engine->engine == VG_ENGINE_NATIVE || f->insn_count <= MOST_TRANSLATED);
}

bool vg_entries_make(struct vg_module *m)
{
    if (m->device->engine->engine == VG_ENGINE_INTERPRETER)
        return true;
    m->entries = calloc(m->ir.insn_count + 1, sizeof *m->entries);
    bool made = m->entries != NULL;
    for (size_t i = 0; made && i < m->ir.function_count; i++)
        if (is_translated(m, &m->ir.functions[i])) {
            const size_t bytes = vg_saved_bytes(&m->ir.functions[i]);
            m->saved_bytes = bytes > m->saved_bytes ? bytes : m->saved_bytes;
            made = make_places(m, &m->ir.functions[i]);
        }
    return made;
}

/* Takes a module's functions out of the queue. */
static void unqueue(struct vg_engine_state *e, const struct vg_module *m)
{
    struct translation **at = &e->first;
    e->last = NULL;
    while (*at) {
        if ((*at)->module == m) {
            *at = (*at)->next_queued;
        } else {
            e->last = *at;
            at = &(*at)->next_queued;
        }
    }
}

void vg_entries_free(struct vg_module *m, void (*free_module)(struct vg_module *m))
{
    struct vg_engine_state *e = m->device->engine;
    pthread_mutex_lock(&e->mutex);
    unqueue(e, m);
    const bool busy = m->entries && e->busy;
    if (busy) {
        m->next = e->left;
        e->left = m;
        e->free_module = free_module;
    } else {
        drop_translations(e, m);
    }
    pthread_mutex_unlock(&e->mutex);
    if (!busy)
        free_module(m);
}

/* ---- the engine ------------------------------------------------------------------------------ */

bool vg_engine_translates(const struct vg_device *d, const struct vg_module *m)
{
    return atomic_load_explicit(&d->engine->at_work, memory_order_relaxed) == m;
}

void vg_engine_open(struct vg_device *d)
{
    struct vg_engine_state *e = d->engine = calloc(1, sizeof *e);
    if (!e)
        abort();
    e->engine = VG_ENGINE_INTERPRETER;
    pthread_mutex_init(&e->mutex, NULL);
    pthread_cond_init(&e->asked, NULL);
    pthread_cond_init(&e->answered, NULL);
}

void vg_device_engine_set(struct vg_device *d, enum vg_engine engine,
                          const struct vg_translator *(*find)(void))
{
    d->engine->engine = find ? engine : VG_ENGINE_INTERPRETER;
    d->engine->find = find;
    d->engine->target = d->target;
    d->engine->handlers = d->handlers;
}

void vg_device_brief_set(struct vg_device *d)
{
    d->engine->is_brief = true;
}

void vg_engine_close(struct vg_device *d)
{
    struct vg_engine_state *e = d->engine;
    if (!e)
        return;
    pthread_mutex_lock(&e->mutex);
    e->quit = true;
    e->alone = e->has_thread && e->busy;
    const bool alone = e->alone;
    if (alone)
        pthread_detach(e->thread);
    pthread_cond_broadcast(&e->asked);
    pthread_mutex_unlock(&e->mutex);
    if (e->has_thread && !alone)
        pthread_join(e->thread, NULL);
    if (!alone)
        engine_free(e);
    d->engine = NULL;
}
