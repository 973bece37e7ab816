/* Faults in generated programs: accesses that end a kernel, and reads of unwritten memory whose
 * values are unused. */
#include "vgpu/tests/engines/generator.h"

/* Sets %a0 to an address that is past the end of memory in some lanes. No thread reads memory that
 * other blocks write, because the order of blocks is not fixed. */
static void past_the_end(struct gen *g)
{
    const int bytes = g->has.own_edge ? 16 : 4;
    const char *index = g->has.own_edge ? "%t3" : below(g, 2048);
    emit(g, "mad.wide.s32 %%a0, %s, %d, %%g4;", index, chance(g, 80) ? bytes : -bytes);
}

/* A loop that accesses memory past the end in one of its rounds. */
static void loop_past_the_end(struct gen *g)
{
    const int label = g->labels++;
    emit_kept(g, "mov.u32 %%x0, 0;");
    emit(g, "mad.wide.s32 %%a0, %%t%d, 4, %%g4;", pick(g, 4));
    emit(g, "K%d:", label);
    emit(g, "ld.global.f32 %%f0, [%%a0];");
    emit(g, "fma.rn.f32 %%f1, %%f0, %%f1, %%f2;");
    emit(g, "add.s64 %%a0, %%a0, %d;", 4 << pick(g, 3));
    emit_kept(g, "add.u32 %%x0, %%x0, 1;");
    emit_kept(g, "setp.lt.u32 %%px0, %%x0, %d;", 20 + pick(g, 400));
    emit_kept(g, "@%%px0 bra K%d;", label);
}

static void global_fault(struct gen *g, const char *guarded)
{
    const struct gen_access a = gen_access_pick(g);
    switch (pick(g, 7)) {
    case 0:
        gen_access_load(g, "", a, name(g, "%%g0+%d", 1 + pick(g, 7)), guarded);
        break;
    case 1:
        gen_access_load(g, ".global", a, name(g, "%%g5+%d", 16 * pick(g, 8)), guarded);
        break;
    case 2:
        emit(g, "mov.u64 %%a0, %d;", 16 * pick(g, 8));
        gen_access_store(g, "", a, "%a0", guarded);
        break;
    default:
        past_the_end(g);
        if (g->has.own_edge && chance(g, 40))
            gen_access_store(g, ".global", a, "%a0", guarded);
        else if (g->has.own_edge && chance(g, 50))
            emit(g, "%satom.global.add.u32 %%k0, [%%a0], 1;", guarded);
        else
            gen_access_load(g, ".global", a, "%a0", guarded);
    }
}

static void other_fault(struct gen *g, const char *guarded)
{
    const struct gen_access a = gen_access_pick(g);
    switch (pick(g, 6)) {
    case 0:
        emit(g, "mov.u32 %%x1, raw;");
        emit(g, "mad.lo.u32 %%x1, %%t0, %d, %%x1;", 64 << pick(g, 6));
        gen_access_load(g, ".shared", a, "%x1", guarded);
        break;
    case 1:
        emit(g, "mov.u32 %%x1, own;");
        emit(g, "mad.lo.u32 %%x1, %%t0, %d, %%x1;", 1 + pick(g, 15));
        gen_access_store(g, ".shared", a, "%x1", guarded);
        break;
    case 2:
        emit(g, "mov.u64 %%a0, lm;");
        emit(g, "mad.wide.u32 %%a0, %%t0, %d, %%a0;", 1 << pick(g, 12));
        gen_access_load(g, ".local", a, "%a0", guarded);
        break;
    case 3:
        emit(g, "mov.u64 %%a0, cst;");
        emit(g, "mad.wide.u32 %%a0, %%t0, 64, %%a0;");
        gen_access_load(g, ".const", a, "%a0", guarded);
        break;
    case 4:
        emit(g, "%strap;", guarded);
        break;
    default:
        emit(g, "%sbar.sync 0;", guarded);
    }
}

void gen_fault(struct gen *g)
{
    if (!g->has.faulty || g->in_function) {
        gen_arithmetic(g);
        return;
    }
    emit_open(g);
    const char *p = condition(g);
    const char *guarded = name(g, chance(g, 50) ? "@%s " : "@!%s ", p);
    if (!g->has.own_edge && chance(g, 25))
        loop_past_the_end(g);
    else if (chance(g, 65))
        global_fault(g, guarded);
    else
        other_fault(g, guarded);
    emit_close(g);
}

void gen_uninitialised(struct gen *g)
{
    if (!g->has.uninitialised || g->in_function) {
        gen_arithmetic(g);
        return;
    }
    emit_open(g);
    const char *guarded = guard(g);
    switch (pick(g, 3)) {
    case 0: {
        const char *index = below(g, 2048);
        emit(g, "mad.wide.u32 %%a0, %s, 8, %%g8;", index);
        emit(g, "%sld.global.%s [%%a0];", guarded,
             pick_word(g, "u8 %k0,|u16 %k0,|u32 %k0,|b64 %kq0,"));
        break;
    }
    case 1:
        emit(g, "mad.wide.u32 %%a0, %%t3, 4, %%g8;");
        emit(g, "%sld.global.f32 %%k0, [%%a0+%d];", guarded, 4 * pick(g, 2000));
        break;
    default: {
        const char *index = below(g, 16);
        emit(g, "mov.u32 %%x1, raw;");
        emit(g, "mad.lo.u32 %%x1, %s, 4, %%x1;", index);
        emit(g, "%sld.shared.%s [%%x1];", guarded, pick_word(g, "u8 %k0,|u16 %k0,|u32 %k0,"));
    }
    }
    emit_close(g);
}
