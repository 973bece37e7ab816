/* Operations of generated programs that the lanes of a warp execute together. */
#include "vgpu/tests/engines/generator.h"

/* Whether all lanes of the warp reach this statement together. */
static bool is_whole(const struct gen *g)
{
    return gen_is_uniform(g) && g->has.full_warps && !g->has.exits;
}

/* Reads a participating lane: any lane of a whole warp, or the first active lane. */
static void shuffle(struct gen *g)
{
    const char *d = to_register(g, 'r'), *second = chance(g, 40) ? "|%p1" : "";
    if (is_whole(g)) {
        const char *mode = pick_word(g, "up|down|bfly|idx");
        const int width = 31 << pick(g, 6) & 31;
        const int clamp = mode[0] == 'u' ? width << 8 : width << 8 | 31;
        emit(g, "shfl.sync.%s.b32 %s%s, %s, %s, %d, %s;", mode, d, second, from_value(g, 'r'),
             from_value(g, 'r'), clamp, chance(g, 70) ? "-1" : "0xffffffff");
        return;
    }
    emit(g, "activemask.b32 %%x0;");
    emit(g, "brev.b32 %%x1, %%x0;");
    emit(g, "clz.b32 %%x1, %%x1;");
    emit(g, "sub.s32 %%x1, 31, %%x1;");
    emit(g, "xor.b32 %%x1, %%x1, 31;");
    emit(g, "shfl.sync.idx.b32 %s%s, %s, %%x1, 31, %%x0;", d, second, from_register(g, 'r'));
    if (chance(g, 10)) /* any lane, active or not */
        emit(g, "shfl.sync.%s.b32 %%k2, %s, %d, 31, %%x0;", pick_word(g, "down|bfly"),
             from_register(g, 'r'), 1 + pick(g, 16));
}

/* Sets %x0 to the mask of an operation. */
static void mask(struct gen *g)
{
    if (is_whole(g) && chance(g, 70))
        emit(g, "mov.u32 %%x0, -1;");
    else
        emit(g, "activemask.b32 %%x0;");
}

static void vote(struct gen *g)
{
    const char *not = chance(g, 30) ? "!" : "", *p = from_register(g, 'p');
    if (chance(g, 50))
        emit(g, "vote.sync.ballot.b32 %s, %s%s, %%x0;", to_register(g, 'r'), not, p);
    else
        emit(g, "vote.sync.%s.pred %s, %s%s, %%x0;", pick_word(g, "all|any|uni"),
             to_register(g, 'p'), not, p);
}

static void match(struct gen *g)
{
    const bool wide = chance(g, 30);
    if (chance(g, 60))
        emit(g, "match.any.sync.b%d %s, %s, %%x0;", wide ? 64 : 32, to_register(g, 'r'),
             from_register(g, wide ? 'q' : 'r'));
    else
        emit(g, "match.all.sync.b%d %s|%s, %s, %%x0;", wide ? 64 : 32, to_register(g, 'r'),
             to_register(g, 'p'), from_register(g, wide ? 'q' : 'r'));
}

static void reduce(struct gen *g)
{
    if (chance(g, 40))
        emit(g, "redux.sync.%s.b32 %s, %s, %%x0;", pick_word(g, "and|or|xor"), to_register(g, 'r'),
             from_register(g, 'r'));
    else
        emit(g, "redux.sync.%s.%s %s, %s, %%x0;", pick_word(g, "add|min|max"),
             pick_word(g, "u32|s32"), to_register(g, 'r'), from_register(g, 'r'));
}

void gen_warp(struct gen *g)
{
    emit_open(g);
    const int which = pick(g, 8);
    if (which < 3)
        shuffle(g);
    else if (which == 3)
        emit(g, "%sactivemask.b32 %s;", guard(g), to_register(g, 'r'));
    if (which > 3)
        mask(g);
    if (which == 4)
        vote(g);
    else if (which == 5)
        match(g);
    else if (which == 6)
        reduce(g);
    else if (which == 7 && chance(g, 30))
        emit(g, "elect.sync %s|%s, %%x0;", to_register(g, 'r'), to_register(g, 'p'));
    else if (which == 7)
        emit(g, "bar.warp.sync %%x0;");
    emit_close(g);
}

/* ---- matrices --------------------------------------------------------------------------------- */

static void multiply(struct gen *g)
{
    switch (pick(g, 5)) {
    case 0:
        emit(g, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%f0, %%f1, %%f2, %%f3}, "
                "{%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, {%%f4, %%f5, %%f6, %%f7};");
        break;
    case 1:
        emit(g, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%%f0, %%f1, %%f2, %%f3}, "
                "{%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, {%%f4, %%f5, %%f6, %%f7};");
        break;
    case 2:
        emit(g, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%%f0, %%f1, %%f2, %%f3}, "
                "{%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, {%%f4, %%f5, %%f6, %%f7};");
        break;
    case 3:
        emit(g, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%%r0, %%r1, %%r2, %%r3}, "
                "{%%r4, %%r5, %%r6, %%r7}, {%%r8, %%r9}, {%%r10, %%r11, %%r12, %%r13};");
        break;
    default:
        emit(g, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%%d0, %%d1}, {%%d2}, {%%d3}, "
                "{%%d4, %%d5};");
    }
}

/* Matrices in shared memory: a row of 16 bytes per lane. */
static void move_matrix(struct gen *g)
{
    static const char *const registers[] = {"{%r0}", "{%r1, %r2}", "{%r3, %r4, %r5, %r6}"};
    const int i = pick(g, 3);
    const char *trans = chance(g, 50) ? ".trans" : "";
    emit(g, "bar.sync 0;");
    emit(g, "mov.u32 %%x1, sh;");
    emit(g, "mad.lo.u32 %%x1, %%t0, 16, %%x1;");
    if (chance(g, 50))
        emit(g, "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%x1];", 1 << i, trans,
             registers[i]);
    else
        emit(g, "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%x1], %s;", 1 << i, trans,
             registers[i]);
    emit(g, "bar.sync 0;");
}

static void fragments(struct gen *g)
{
    emit(g, "add.s64 %%a0, %%g0, %d;", 256 * pick(g, 64));
    emit(g, "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%%r0, %%r1, %%r2, %%r3, %%r4, "
            "%%r5, %%r6, %%r7}, [%%a0], 16;");
    emit(g, "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%%r8, %%r9, %%r10, %%r11, %%r12, "
            "%%r13, %%r14, %%r15}, [%%a0], 16;");
    emit(g,
         "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%%f0, %%f1, %%f2, %%f3, %%f4, %%f5, "
         "%%f6, %%f7}, {%%r0, %%r1, %%r2, %%r3, %%r4, %%r5, %%r6, %%r7}, {%%r8, %%r9, %%r10, "
         "%%r11, %%r12, %%r13, %%r14, %%r15}, {%%f0, %%f1, %%f2, %%f3, %%f4, %%f5, %%f6, %%f7};");
    emit(g, "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%%g7], {%%f0, %%f1, %%f2, %%f3, "
            "%%f4, %%f5, %%f6, %%f7}, 16;");
}

void gen_matrix(struct gen *g)
{
    if (!is_whole(g)) {
        gen_arithmetic(g);
        return;
    }
    emit_open(g);
    const int which = pick(g, 8);
    if (which < 4)
        multiply(g);
    else if (which < 6)
        move_matrix(g);
    else if (which < 7)
        fragments(g);
    else
        emit(g, "movmatrix.sync.aligned.m8n8.trans.b16 %s, %s;", to_register(g, 'r'),
             from_register(g, 'r'));
    emit_close(g);
}
