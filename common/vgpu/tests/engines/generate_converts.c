/* Conversions and moves of generated programs, which rows of opcodes.def do not describe fully. */
#include "vgpu/tests/engines/generator.h"

#include <string.h>

/* Types that convert into each other, and the kind of their registers. */
struct number_type {
    const char *name, *kinds;
    int bytes;
    bool is_float;
};

static const struct number_type types[] = {
    {"u8", "hrq", 1, false},  {"s8", "hrq", 1, false}, {"u16", "hrq", 2, false},
    {"s16", "hrq", 2, false}, {"u32", "rq", 4, false}, {"s32", "rq", 4, false},
    {"u64", "q", 8, false},   {"s64", "q", 8, false},  {"f16", "h", 2, true},
    {"bf16", "h", 2, true},   {"f32", "f", 4, true},   {"f64", "d", 8, true},
};
enum { TYPES = sizeof types / sizeof *types };

static char pick_kind(struct gen *g, const struct number_type *type)
{
    return chance(g, 70) ? type->kinds[0] : type->kinds[pick(g, (int)strlen(type->kinds))];
}

static const char *rounding(struct gen *g, const struct number_type *to,
                            const struct number_type *from)
{
    if (from->is_float && (!to->is_float || (to == from && chance(g, 80))))
        return pick_word(g, ".rni|.rzi|.rmi|.rpi");
    if (to->is_float && (!from->is_float || to->bytes < from->bytes))
        return pick_word(g, ".rn|.rz|.rm|.rp");
    return "";
}

static void convert_number(struct gen *g)
{
    const struct number_type *to = &types[pick(g, TYPES)], *from = &types[pick(g, TYPES)];
    const char *rounded = rounding(g, to, from);
    const bool ftz = (to->bytes == 4 && to->is_float) || (from->bytes == 4 && from->is_float);
    const char *d = to_register(g, pick_kind(g, to)), *a = from_register(g, pick_kind(g, from));
    emit(g, "%scvt%s%s%s.%s.%s %s, %s;", guard(g), rounded, ftz && chance(g, 20) ? ".ftz" : "",
         chance(g, 20) ? ".sat" : "", to->name, from->name, d, a);
}

static void set_number(struct gen *g)
{
    static const struct {
        const char *name;
        char kind;
    } from[] = {{"u32", 'r'}, {"s32", 'r'}, {"f32", 'f'}, {"s64", 'q'}, {"f64", 'd'}, {"u16", 'h'}};
    const int i = pick(g, 6);
    const bool combines = chance(g, 30);
    emit(g, "%sset.%s%s.%s.%s %s, %s, %s%s%s;", guard(g), pick_word(g, "eq|ne|lt|gt"),
         combines ? ".and" : "", pick_word(g, "u32|s32|f32"), from[i].name, to_register(g, 'r'),
         from_register(g, from[i].kind), from_value(g, from[i].kind), combines ? ", " : "",
         combines ? from_register(g, 'p') : "");
}

/* A sum, difference or product with more bits than a register. */
static void carry_on(struct gen *g)
{
    static const char *const chains[][3] = {{"add.cc.u32", "addc.cc.u32", "addc.u32"},
                                            {"sub.cc.u32", "subc.cc.s32", "subc.u32"},
                                            {"add.cc.u64", "addc.cc.u64", "addc.u64"}};
    const int i = pick(g, 4);
    const char kind = i == 2 ? 'q' : 'r';
    for (int k = 0; k < 3 && i < 3; k++)
        emit(g, "%s%s %s, %s, %s;", guard(g), chains[i][k], to_register(g, kind),
             from_value(g, kind), from_value(g, kind));
    if (i < 3)
        return;
    emit(g, "mad.lo.cc.u32 %s, %%r1, %%r2, %%r3;", to_register(g, 'r'));
    emit(g, "madc.hi.u32 %s, %%r1, %%r2, %s;", to_register(g, 'r'), from_value(g, 'r'));
}

void gen_convert(struct gen *g)
{
    if (chance(g, 10))
        carry_on(g);
    else if (chance(g, 12))
        set_number(g);
    else if (chance(g, 6))
        emit(g, "%scvt.pack.sat.%s.s32.b32 %s, %s, %s, %s;", guard(g), pick_word(g, "u8|s8"),
             to_register(g, 'r'), from_value(g, 'r'), from_value(g, 'r'), from_value(g, 'r'));
    else if (chance(g, 4))
        emit(g, "%scvt.pack.sat.%s.s32 %s, %s, %s;", guard(g), pick_word(g, "u16|s16"),
             to_register(g, 'r'), from_value(g, 'r'), from_value(g, 'r'));
    else
        convert_number(g);
}

static void move_special(struct gen *g)
{
    static const char words[] =
        "%tid.x|%tid.y|%tid.z|%ntid.x|%ntid.y|%ntid.z|%ctaid.x|%ctaid.y|%ctaid.z|%nctaid.x|"
        "%nctaid.y|%nctaid.z|%laneid|%warpid|%nwarpid|%nsmid|%lanemask_eq|%lanemask_le|"
        "%lanemask_lt|%lanemask_ge|%lanemask_gt|%dynamic_smem_size|%total_smem_size|"
        "%cluster_ctaid.x|%cluster_nctaid.x|WARP_SZ";
    emit(g, "%smov.u32 %s, %s;", guard(g), to_register(g, 'r'), pick_word(g, words));
}

void gen_move(struct gen *g)
{
    switch (pick(g, 9)) {
    case 0:
        emit(g, "%smov.b64 {%s, %s}, %s;", guard(g), to_register(g, 'r'), to_register(g, 'r'),
             from_register(g, 'q'));
        break;
    case 1:
        emit(g, "%smov.b64 %s, {%s, %s};", guard(g), to_register(g, 'q'), from_register(g, 'r'),
             from_register(g, 'r'));
        break;
    case 2:
        emit(g, "%smov.b32 {%s, %s}, %s;", guard(g), to_register(g, 'h'), to_register(g, 'h'),
             from_register(g, 'r'));
        break;
    case 3:
        emit(g, "%smov.b32 %s, {%s, %s};", guard(g), to_register(g, 'r'), from_register(g, 'h'),
             from_register(g, 'h'));
        break;
    case 4:
        emit(g, "mov.b128 %%z0, {%s, %s};", from_register(g, 'q'), from_register(g, 'q'));
        emit(g, "%smov.b128 {%s, %s}, %%z0;", guard(g), to_register(g, 'q'), to_register(g, 'q'));
        break;
    case 5:
        emit(g, "%sisspacep.%s %s, %%g%d;", guard(g), pick_word(g, "global|shared|local|const"),
             to_register(g, 'p'), pick(g, 8));
        break;
    case 6:
        emit(g, "%scvta.%s%s.u64 %s, %s;", guard(g), chance(g, 50) ? "to." : "",
             pick_word(g, "global|shared|local"), to_register(g, 'q'), from_register(g, 'q'));
        break;
    case 7: /* value unused: a clock depends on the worker's earlier work */
        emit(g, "mov.u64 %%kq0, %s;", pick_word(g, "%clock64|%globaltimer"));
        emit(g, "mov.u32 %%k0, %s;", pick_word(g, "%clock|%clock_hi|%globaltimer_lo"));
        break;
    default:
        move_special(g);
    }
}
