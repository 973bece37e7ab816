/* Shared memory and barriers of generated programs.
 *
 *     sh    words that threads exchange: each writes its own, and after a barrier reads any
 *     own   16 bytes per thread, then counters to which threads add
 *     raw   never written */
#include "vgpu/tests/engines/generator.h"

#include <string.h>

/* Initialises the shared memory. */
void gen_shared_start(struct gen *g)
{
    emit_kept(g, "mov.u32 %%x1, sh;");
    emit_kept(g, "mov.u32 %%x2, own;");
    emit_kept(g, "mul.lo.u32 %%x0, %%t0, 4;");
    emit_kept(g, "START: setp.ge.u32 %%px0, %%x0, %d;", GEN_SHARED_BYTES);
    emit_kept(g, "@%%px0 bra STARTED;");
    emit_kept(g, "mul.lo.u32 %%r0, %%x0, 40503;");
    emit_kept(g, "add.s32 %%r1, %%x1, %%x0;");
    emit_kept(g, "add.s32 %%r2, %%x2, %%x0;");
    emit_kept(g, "st.shared.u32 [%%r1], %%r0;");
    emit_kept(g, "st.shared.u32 [%%r2], %%r0;");
    emit_kept(g, "mad.lo.u32 %%x0, %%t4, 4, %%x0;");
    emit_kept(g, "bra START;");
    emit_kept(g, "STARTED: bar.sync 0;");
}

/* ---- barriers --------------------------------------------------------------------------------- */

static void bar_red(struct gen *g)
{
    switch (pick(g, 3)) {
    case 0:
        emit(g, "bar.red.popc.u32 %s, 0, %s%s;", to_register(g, 'r'), chance(g, 30) ? "!" : "",
             from_register(g, 'p'));
        break;
    default:
        emit(g, "barrier.red.%s.pred %s, 1, %s;", pick_word(g, "and|or"), to_register(g, 'p'),
             from_register(g, 'p'));
    }
}

void gen_barrier(struct gen *g)
{
    if (!gen_is_uniform(g)) {
        emit(g, "%s", pick_word(g, "membar.cta;|membar.gl;|fence.sc.cta;"));
        return;
    }
    if (chance(g, 30))
        bar_red(g);
    else if (!g->has.exits && chance(g, 10))
        emit(g, "bar.sync 2, %%t4;");
    else
        emit(g, "%s 0;", pick_word(g, "bar.sync|bar.sync|barrier.sync|barrier.cta.sync.aligned"));
}

static void barrier_between(struct gen *g)
{
    if (!(g->has.racy && chance(g, 30)))
        emit(g, "bar.sync 0;");
}

/* ---- exchange --------------------------------------------------------------------------------- */

/* Sets %x0 to an element within sh that no other thread has. */
static void own_element(struct gen *g, int bytes)
{
    const int spread = 16 / bytes;
    switch (pick(g, 4)) {
    case 0:
        emit(g, "mul.lo.u32 %%x0, %%t0, %d;", 1 + pick(g, spread));
        break;
    case 1:
        emit(g, "sub.u32 %%x0, %%t4, %%t0;");
        emit(g, "sub.u32 %%x0, %%x0, 1;");
        break;
    case 2:
        if (g->has.flat && bytes == 4) { /* transposed, with and without padding */
            emit(g, "mad.lo.u32 %%x0, %%t1, %d, %%t2;", 16 + pick(g, 2));
            break;
        } /* fall through */
    default:
        emit(g, "mov.u32 %%x0, %%t0;");
    }
}

/* Sets %x1 or %a0 to an address in shared memory, in the window or generic. @return its state
 * space. */
static const char *shared_address(struct gen *g, const char *base, const char *index, int bytes,
                                  char address[16])
{
    const int way = pick(g, 4);
    strcpy(address, way < 2 ? "%x1" : "%a0");
    if (way == 0) {
        emit(g, "mov.u32 %%x3, %s;", base);
        emit(g, "mad.lo.u32 %%x1, %s, %d, %%x3;", index, bytes);
    } else if (way == 1) {
        emit(g, "shl.b32 %%x1, %s, %d;", index, __builtin_ctz((unsigned)bytes));
        emit(g, "mov.u32 %%x3, %s;", base);
        emit(g, "add.s32 %%x1, %%x3, %%x1;");
    } else {
        emit(g, "mov.u64 %%a1, %s;", base);
        emit(g, "mad.wide.u32 %%a0, %s, %d, %%a1;", index, bytes);
    }
    if (way == 3)
        emit(g, "cvta.shared.u64 %%a0, %%a0;");
    return way == 3 ? "" : ".shared";
}

static struct gen_access plain_access(struct gen *g)
{
    static const struct gen_access all[] = {
        {"f32", 'f', 4, 1}, {"f32", 'f', 4, 1}, {"u32", 'r', 4, 1}, {"b64", 'q', 8, 1},
        {"f64", 'd', 8, 1}, {"f32", 'f', 4, 2}, {"f32", 'f', 4, 4}, {"b32", 'r', 4, 4}};
    return all[pick(g, 8)];
}

static void exchange(struct gen *g)
{
    char address[16];
    const struct gen_access a = plain_access(g);
    const int bytes = a.bytes * a.vectors;
    barrier_between(g);
    own_element(g, bytes);
    const char *space = shared_address(g, "sh", "%x0", bytes, address);
    gen_access_store(g, space, a, address, chance(g, 15) ? guard(g) : "");
    barrier_between(g);
    for (int i = 1 + pick(g, 3); i > 0; i--) {
        const struct gen_access b = chance(g, 60) ? a : gen_access_pick(g);
        const char *index = below(g, 512);
        space = shared_address(g, "sh", index, b.bytes * b.vectors, address);
        gen_access_load(g, space, b, address, guard(g));
    }
}

/* Adds to counters in shared memory, whose sums do not depend on the order. */
static void count(struct gen *g)
{
    barrier_between(g);
    const char *index = below(g, GEN_COUNTERS);
    emit(g, "mov.u32 %%x1, own+%d;", GEN_COUNTERS_AT);
    emit(g, "mad.lo.u32 %%x1, %s, 4, %%x1;", index);
    emit(g, "%sred.shared.add.u32 [%%x1], %s;", guard(g), from_value(g, 'r'));
    emit(g, "bar.sync 0;");
    emit(g, "ld.shared.u32 %s, [own+%d];", to_register(g, 'r'),
         GEN_COUNTERS_AT + 4 * pick(g, GEN_COUNTERS));
    emit(g, "bar.sync 0;");
}

static void own(struct gen *g)
{
    char address[16];
    const struct gen_access a = gen_access_pick(g);
    const char *space = shared_address(g, "own", "%t0", 16, address);
    if (chance(g, 50))
        gen_access_store(g, space, a, address, guard(g));
    else
        gen_access_load(g, space, a, address, guard(g));
}

void gen_shared(struct gen *g)
{
    emit_open(g);
    if (!gen_is_uniform(g))
        own(g);
    else if (chance(g, 80))
        exchange(g);
    else
        count(g);
    emit_close(g);
}

/* ---- asynchronous copies ---------------------------------------------------------------------- */

void gen_copy(struct gen *g)
{
    const int bytes = 4 << pick(g, 3);
    emit_open(g);
    const char *index = below(g, 1024);
    emit(g, "mad.wide.u32 %%a0, %s, 16, %%g0;", index);
    emit(g, "mov.u64 %%a1, own;");
    emit(g, "mad.wide.u32 %%a1, %%t0, 16, %%a1;");
    emit(g, "%scp.async.%s.shared.global [%%a1], [%%a0], %d%s;", guard(g),
         bytes == 16 && chance(g, 50) ? "cg" : "ca", bytes,
         chance(g, 20) ? name(g, ", %d", pick(g, bytes + 1)) : "");
    if (chance(g, 50)) {
        emit(g, "cp.async.commit_group;");
        emit(g, "cp.async.wait_group 0;");
    } else {
        emit(g, "cp.async.wait_all;");
    }
    emit(g, "ld.shared.%s [%%a1];",
         chance(g, 50) ? name(g, "u32 %s,", to_register(g, 'r'))
                       : name(g, "f64 %s,", to_register(g, 'd')));
    emit_close(g);
}
