/* Atomics of generated programs: on common sums (operations commute, and their results are unused),
 * or on memory of the thread, the warp or (in a fixed order) the block. */
#include "vgpu/tests/engines/generator.h"

struct operation {
    const char *text; /* the operation and its type */
    char kind;
    int bytes;
};

/* Sets %a0 to an element of the sums that only one kind of operation changes. */
static void sum(struct gen *g)
{
    static const struct operation all[] = {
        {"add.u32", 'r', 4}, {"add.u64", 'q', 8}, {"min.s32", 'r', 4}, {"max.s32", 'r', 4},
        {"min.u32", 'r', 4}, {"max.u64", 'q', 8}, {"and.b32", 'r', 4}, {"or.b32", 'r', 4},
        {"xor.b64", 'q', 8}, {"inc.u32", 'r', 4}, {"dec.u32", 'r', 4}, {"max.s64", 'q', 8},
    };
    const int i = pick(g, 12);
    const char *index = below(g, 32);
    emit(g, "mad.wide.u32 %%a0, %s, 8, %%g3;", index);
    const char *value = i == 9 || i == 10 ? "1000" : from_value(g, all[i].kind);
    const char *at = name(g, "[%%a0+%d]", 256 * i), *space = chance(g, 80) ? ".global" : "";
    if (chance(g, 60))
        emit(g, "%sred%s.%s %s, %s;", guard(g), space, all[i].text, at, value);
    else
        emit(g, "%satom%s.%s %%k%s, %s, %s;", guard(g), space, all[i].text,
             all[i].bytes == 8 ? "q1" : "1", at, value);
}

static const struct operation exact[] = {
    {"add.u32", 'r', 4},        {"add.f32", 'f', 4},          {"add.f64", 'd', 8},
    {"exch.b32", 'r', 4},       {"exch.b64", 'q', 8},         {"min.s64", 'q', 8},
    {"max.u32", 'r', 4},        {"and.b64", 'q', 8},          {"inc.u32", 'r', 4},
    {"dec.u32", 'r', 4},        {"add.noftz.f16x2", 'r', 4},  {"add.noftz.f16", 'h', 2},
    {"add.noftz.bf16", 'h', 2}, {"add.noftz.bf16x2", 'r', 4}, {"xor.b32", 'r', 4},
};

/* An atomic operation with a result, at an address where the order of operations is fixed. */
static void exact_atomic(struct gen *g, const char *space, const char *address)
{
    if (chance(g, 25)) {
        const bool wide = chance(g, 40);
        emit(g, "%satom%s.cas.b%d %s, [%s], %s, %s;", guard(g), space, wide ? 64 : 32,
             to_register(g, wide ? 'q' : 'r'), address, from_value(g, wide ? 'q' : 'r'),
             from_value(g, wide ? 'q' : 'r'));
        return;
    }
    const struct operation *o = &exact[pick(g, sizeof exact / sizeof *exact)];
    emit(g, "%satom%s.%s %s, [%s], %s;", guard(g), space, o->text, to_register(g, o->kind), address,
         from_value(g, o->kind));
}

static void wide_atomic(struct gen *g)
{
    if (chance(g, 50)) {
        emit(g, "mov.b128 %%z1, {%s, %s};", from_register(g, 'q'), from_register(g, 'q'));
        emit(g, "mov.b128 %%z2, {%s, %s};", from_register(g, 'q'), from_register(g, 'q'));
        emit(g, "%satom.global.%s;", guard(g),
             chance(g, 50) ? "exch.b128 %z0, [%g2], %z1" : "cas.b128 %z0, [%g2+16], %z1, %z2");
        emit(g, "mov.b128 {%%q0, %%q1}, %%z0;");
    } else {
        emit(g, "%satom.global.add.v2.f32 {%%f0, %%f1}, [%%g2+%d], {%s, %s};", guard(g),
             8 * pick(g, 8), name(g, "%%f%d", pick(g, GEN_F)), name(g, "%%f%d", pick(g, GEN_F)));
    }
}

void gen_atomic(struct gen *g)
{
    emit_open(g);
    switch (pick(g, 6)) {
    case 0:
        exact_atomic(g, ".global", name(g, "%%g2+%d", 8 * pick(g, GEN_SLOT_BYTES / 8)));
        break;
    case 1: { /* one lane after another */
        const char *index = below(g, 16);
        emit(g, "mad.wide.u32 %%a0, %s, 8, %%g7;", index);
        exact_atomic(g, chance(g, 70) ? ".global" : "", "%a0");
        break;
    }
    case 2:
        wide_atomic(g);
        break;
    default:
        sum(g);
    }
    emit_close(g);
}

void gen_shared_atomic(struct gen *g)
{
    emit_open(g);
    if (g->has.ordered) {
        const char *index = below(g, 16);
        emit(g, "mov.u32 %%x1, own+%d;", GEN_COUNTERS_AT);
        emit(g, "mad.lo.u32 %%x1, %s, 8, %%x1;", index);
    } else {
        emit(g, "mov.u32 %%x1, own;");
        emit(g, "mad.lo.u32 %%x1, %%t0, 16, %%x1;");
    }
    exact_atomic(g, ".shared", "%x1");
    emit_close(g);
}
