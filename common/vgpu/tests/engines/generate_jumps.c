/* Jumps of generated programs: goto (even into loops), webs of blocks, tables, calls. */
#include "vgpu/tests/engines/generator.h"

/* ---- goto ------------------------------------------------------------------------------------- */

static void land(struct gen *g, int i)
{
    emit(g, "G%d:", g->jumps[i].label);
    g->jumps[i] = g->jumps[--g->jump_count];
}

void gen_land(struct gen *g, bool all)
{
    for (int i = g->jump_count - 1; i >= 0; i--)
        if (all || g->jumps[i].wait-- <= 0)
            land(g, i);
}

void gen_land_in_loop(struct gen *g)
{
    for (int i = g->jump_count - 1; i >= 0; i--)
        if (g->is_uniform && g->jumps[i].depth >= g->uniform_loops)
            land(g, i);
}

void gen_goto(struct gen *g)
{
    if (g->jump_count == GEN_JUMPS) {
        gen_arithmetic(g);
        return;
    }
    const char *p = condition(g);
    const int label = g->labels++;
    emit(g, "@%s%s bra G%d;", chance(g, 50) ? "!" : "", p, label);
    g->jumps[g->jump_count++] =
        (struct gen_jump){.label = label, .wait = 1 + pick(g, 6), .depth = g->uniform_loops};
}

/* Blocks that may jump to each other, including loops with several entries. Backward jumps use up
 * fuel. */
void gen_web(struct gen *g)
{
    const int n = 2 + pick(g, 3), first = g->labels;
    const bool was_uniform = g->is_uniform;
    g->labels += n;
    emit_open(g);
    g->is_uniform = false;
    for (int i = 0; i < n; i++) {
        emit_kept(g, "W%d:", first + i);
        statements(g, 1 + pick(g, 2));
        const char *p = condition(g);
        emit_kept(g, "sub.s32 %%fuel, %%fuel, 1;");
        emit_kept(g, "setp.gt.and.s32 %%px0, %%fuel, 0, %s;", p);
        emit_kept(g, "@%%px0 bra W%d;", first + pick(g, n));
    }
    g->is_uniform = was_uniform;
    emit_close(g);
}

void gen_table(struct gen *g)
{
    const int n = 2 + pick(g, 3), first = g->labels;
    const bool was_uniform = g->is_uniform;
    g->labels += n + 1;
    emit_open(g);
    emit(g, "J%d: .branchtargets M%d, M%d, M%d, M%d;", first, first, first + 1, first + n - 1,
         first + pick(g, n));
    emit(g, "and.b32 %%x0, %s, 3;", from_register(g, 'r'));
    emit(g, "%sbrx.idx %%x0, J%d;", guard(g), first);
    g->is_uniform = false;
    for (int i = 0; i < n; i++) {
        emit(g, "M%d:", first + i);
        statements(g, 1 + pick(g, 2));
        if (chance(g, 80))
            emit(g, "bra M%d;", first + n);
    }
    emit(g, "M%d:", first + n);
    g->is_uniform = was_uniform;
    emit_close(g);
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* Passes a function a value, its allowed recursion depth, and its caller's addresses. */
static void call(struct gen *g, int callee, const char *depth)
{
    static const char arguments[] = "(ca, cb, c0, c1, c2, c3, c4, c5)";
    const bool indirect = chance(g, 20);
    emit(g, "{");
    emit(g, ".param .b32 ca; .param .b32 cb; .param .b32 cr;");
    emit(g, ".param .b64 c0; .param .b64 c1; .param .b64 c2;");
    emit(g, ".param .b64 c3; .param .b64 c4; .param .b64 c5;");
    emit(g, "st.param.b32 [ca], %s;", from_value(g, 'r'));
    emit(g, "st.param.b32 [cb], %s;", depth);
    static const int passed[] = {GEN_DATA, GEN_INDEX, GEN_SLOT, GEN_SUMS, GEN_COLUMN, GEN_WARP};
    for (int i = 0; i < 6; i++)
        emit(g, "st.param.b64 [c%d], %%g%d;", i, passed[i]);
    if (indirect) {
        emit(g, "mov.u64 %%a2, fn%d;", callee);
        emit(g,
             "P%d: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, "
             ".param .b64 _, .param .b64 _, .param .b64 _, .param .b64 _, .param .b64 _, "
             ".param .b64 _);",
             g->labels);
        emit(g, "call (cr), %%a2, %s, P%d;", arguments, g->labels++);
    } else {
        emit(g, "call%s (cr), fn%d, %s;", chance(g, 50) ? ".uni" : "", callee, arguments);
    }
    emit(g, "ld.param.b32 %s, [cr];", to_register(g, 'r'));
    emit(g, "}");
}

void gen_call(struct gen *g)
{
    if (!g->has.calls || !g->functions || g->trips > (g->in_function ? 4 : 100)) {
        gen_arithmetic(g);
        return;
    }
    emit_open(g);
    if (g->in_function) { /* calls itself, or a function written before */
        const int label = g->labels++;
        emit_kept(g, "setp.eq.s32 %%px0, %%depth, 0;");
        emit_kept(g, "@%%px0 bra N%d;", label);
        emit(g, "sub.s32 %%x0, %%depth, 1;");
        call(g, pick(g, g->functions), "%x0");
        emit(g, "N%d:", label);
    } else {
        call(g, pick(g, g->functions), chance(g, 70) ? "0" : "2");
    }
    emit_close(g);
}

/* ---- printing --------------------------------------------------------------------------------- */

void gen_print(struct gen *g)
{
    if (!g->has.prints || g->trips > 4) {
        gen_arithmetic(g);
        return;
    }
    const int label = g->labels++;
    emit_open(g);
    emit(g, "and.b32 %%x0, %%t3, 31;");
    emit(g, "setp.gt.u32 %%px0, %%x0, %d;", pick(g, 4));
    emit(g, "@%%px0 bra N%d;", label);
    emit(g, "st.local.u32 [pm], %s;", from_register(g, 'r'));
    emit(g, "st.local.u32 [pm+4], %%t3;");
    emit(g, "st.local.f64 [pm+8], %s;", name(g, "%%d%d", pick(g, GEN_D)));
    emit(g, "mov.u64 %%a0, text;");
    emit(g, "cvta.global.u64 %%a0, %%a0;");
    emit(g, "mov.u64 %%a1, pm;");
    emit(g, "cvta.local.u64 %%a1, %%a1;");
    emit(g, "{");
    emit(g, ".param .b64 v0; .param .b64 v1; .param .b32 vr;");
    emit(g, "st.param.b64 [v0], %%a0;");
    emit(g, "st.param.b64 [v1], %%a1;");
    emit(g, "call.uni (vr), vprintf, (v0, v1);");
    emit(g, "ld.param.b32 %s, [vr];", to_register(g, 'r'));
    emit(g, "}");
    emit(g, "N%d:", label);
    emit_close(g);
}
