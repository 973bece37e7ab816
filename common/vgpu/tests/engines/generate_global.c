/* Loads and stores of generated programs: read-only global memory, a thread's and a warp's own
 * memory, local and constant memory, variables. */
#include "vgpu/tests/engines/generator.h"

#include <string.h>

/* ---- an access -------------------------------------------------------------------------------- */

struct gen_access gen_access_pick(struct gen *g)
{
    static const struct gen_access all[] = {
        {"f32", 'f', 4, 1}, {"f32", 'f', 4, 1}, {"f32", 'f', 4, 1}, {"b32", 'r', 4, 1},
        {"u32", 'r', 4, 1}, {"s32", 'r', 4, 1}, {"f64", 'd', 8, 1}, {"b64", 'q', 8, 1},
        {"u64", 'q', 8, 1}, {"s32", 'q', 4, 1}, {"u32", 'q', 4, 1}, {"u8", 'r', 1, 1},
        {"s8", 'r', 1, 1},  {"s8", 'h', 1, 1},  {"u8", 'h', 1, 1},  {"b16", 'h', 2, 1},
        {"u16", 'r', 2, 1}, {"s16", 'r', 2, 1}, {"s16", 'q', 2, 1}, {"f32", 'f', 4, 2},
        {"f32", 'f', 4, 4}, {"b32", 'r', 4, 2}, {"u32", 'r', 4, 4}, {"f64", 'd', 8, 2},
        {"b64", 'q', 8, 2}, {"b16", 'h', 2, 2}, {"b16", 'h', 2, 4}, {"u8", 'h', 1, 4},
        {"s8", 'r', 1, 2},
    };
    return all[pick(g, sizeof all / sizeof *all)];
}

/* The registers of an access: one register, or a list of distinct ones. */
static const char *access_registers(struct gen *g, struct gen_access a, bool is_load, char to[96])
{
    if (a.vectors == 1)
        return is_load ? to_register(g, a.kind) : from_register(g, a.kind);
    const char letter = a.kind;
    const int count = letter == 'r'   ? GEN_R
                      : letter == 'q' ? GEN_Q
                      : letter == 'f' ? GEN_F
                      : letter == 'd' ? GEN_D
                                      : GEN_H,
              first = pick(g, count);
    to[0] = '\0';
    for (int i = 0; i < a.vectors; i++)
        sprintf(to + strlen(to), "%s%%%c%d", i ? ", " : "{", letter, (first + i) % count);
    return strcat(to, "}");
}

static const char *vector_suffix(struct gen_access a)
{
    return a.vectors == 1 ? "" : a.vectors == 2 ? ".v2" : ".v4";
}

void gen_access_load(struct gen *g, const char *space, struct gen_access a, const char *address,
                     const char *guarded)
{
    char list[96];
    emit(g, "%sld%s%s.%s %s, [%s];", guarded, space, vector_suffix(a), a.type,
         access_registers(g, a, true, list), address);
}

void gen_access_store(struct gen *g, const char *space, struct gen_access a, const char *address,
                      const char *guarded)
{
    char list[96];
    emit(g, "%sst%s%s.%s [%s], %s;", guarded, space, vector_suffix(a), a.type, address,
         access_registers(g, a, false, list));
}

/* ---- read-only global memory ---------------------------------------------------------------- */

/* Sets %a0 to an element of @p bytes bytes in %g0 or %g1, which have GEN_DATA_BYTES. */
static void data_address(struct gen *g, int bytes)
{
    const int base = chance(g, 75) ? GEN_DATA : GEN_INDEX;
    const char *index = below(g, 2048);
    switch (pick(g, 4)) {
    case 0:
        emit(g, "mul.wide.u32 %%a1, %s, %d;", index, bytes);
        emit(g, "add.s64 %%a0, %%g%d, %%a1;", base);
        break;
    case 1:
        emit(g, "mad.wide.u32 %%a0, %s, %d, %%g%d;", index, bytes * (1 + pick(g, 2)), base);
        break;
    case 2:
        emit(g, "cvt.u64.u32 %%a1, %s;", index);
        emit(g, "shl.b64 %%a1, %%a1, %d;", bytes == 16 ? 4 : bytes == 8 ? 3 : bytes == 4 ? 2 : 5);
        emit(g, "add.s64 %%a0, %%a1, %%g%d;", base);
        break;
    default:
        emit(g, "shl.b32 %%x0, %s, %d;", index, 4 + pick(g, 2));
        emit(g, "cvt.s64.s32 %%a1, %%x0;");
        emit(g, "add.s64 %%a0, %%g%d, %%a1;", base);
    }
}

static const char *load_space(struct gen *g)
{
    static const char *const words[] = {
        ".global",    ".global", ".global",          ".global",    ".global.nc",
        ".global.cg", "",        ".volatile.global", ".global.ca", ".relaxed.gpu.global"};
    return words[pick(g, 10)];
}

/* Loads through a loop's pointer, whose step keeps it aligned. */
static void load_in_loop(struct gen *g)
{
    struct gen_access a = gen_access_pick(g);
    const int loop = pick(g, g->loops);
    while (g->step[loop] % (a.bytes * a.vectors))
        a = gen_access_pick(g);
    gen_access_load(g, ".global", a, name(g, "%%l%d+%d", loop, a.bytes * a.vectors * pick(g, 8)),
                    guard(g));
}

void gen_load(struct gen *g)
{
    if (g->loops && chance(g, 40)) {
        load_in_loop(g);
        return;
    }
    const struct gen_access a = gen_access_pick(g);
    const int bytes = a.bytes * a.vectors;
    emit_open(g);
    data_address(g, bytes);
    const int more = bytes * pick(g, 16);
    gen_access_load(g, load_space(g), a,
                    chance(g, 50)   ? "%a0"
                    : chance(g, 60) ? name(g, "%%a0+%d", more)
                                    : name(g, "%%g0+%d", more),
                    guard(g));
    emit_close(g);
}

/* ---- a thread's and a warp's own -------------------------------------------------------------- */

void gen_slot(struct gen *g)
{
    const struct gen_access a = gen_access_pick(g);
    const int bytes = a.bytes * a.vectors, at = bytes * pick(g, GEN_SLOT_BYTES / bytes);
    const char *address = name(g, "%%g2+%d", at), *space = chance(g, 85) ? ".global" : "";
    if (chance(g, 70))
        gen_access_store(g, space, a, address, guard(g));
    else
        gen_access_load(g, chance(g, 80) ? space : ".global.cg", a, address, guard(g));
}

void gen_column(struct gen *g)
{
    struct gen_access a = gen_access_pick(g);
    while (a.bytes * a.vectors > 8)
        a = gen_access_pick(g);
    emit_open(g);
    emit(g, "mad.lo.u32 %%x0, %%t6, %d, %%t3;", pick(g, GEN_COLUMNS));
    emit(g, "mad.wide.u32 %%a0, %%x0, 8, %%g6;");
    if (chance(g, 70))
        gen_access_store(g, ".global", a, "%a0", guard(g));
    else
        gen_access_load(g, ".global", a, "%a0", guard(g));
    if (chance(g, 30)) { /* adds to the element, like a sum in memory */
        emit(g, "ld.global.f32 %%f0, [%%a0];");
        emit(g, "%sadd.f32 %%f0, %%f0, %%f1;", guard(g));
        emit(g, "st.global.f32 [%%a0], %%f0;");
    }
    emit_close(g);
}

/* Lanes may write the same element: the last lane's value is kept. */
void gen_warp_memory(struct gen *g)
{
    struct gen_access a = gen_access_pick(g);
    const int bytes = a.bytes * a.vectors;
    emit_open(g);
    const char *index = below(g, 16);
    emit(g, "mad.wide.u32 %%a0, %s, %d, %%g7;", index, bytes);
    if (chance(g, 60))
        gen_access_store(g, ".global", a, "%a0", guard(g));
    else
        gen_access_load(g, ".global", a, "%a0", guard(g));
    emit_close(g);
}

/* ---- other spaces ----------------------------------------------------------------------------- */

void gen_local(struct gen *g)
{
    struct gen_access a = gen_access_pick(g);
    const int bytes = a.bytes * a.vectors, n = GEN_LOCAL_BYTES / bytes;
    char address[32];
    const char *space = ".local";
    emit_open(g);
    if (chance(g, 40)) {
        snprintf(address, sizeof address, "lm+%d", bytes * pick(g, n));
    } else {
        const char *index = below(g, n > 8 ? 8 : n);
        emit(g, "mul.wide.u32 %%a1, %s, %d;", index, bytes);
        emit(g, "mov.u64 %%a0, lm;");
        emit(g, "add.s64 %%a0, %%a0, %%a1;");
        snprintf(address, sizeof address, "%%a0");
        if (chance(g, 30)) {
            emit(g, "cvta.local.u64 %%a0, %%a0;");
            space = "";
        }
    }
    if (chance(g, 50))
        gen_access_store(g, space, a, address, guard(g));
    else
        gen_access_load(g, space, a, address, guard(g));
    emit_close(g);
}

void gen_constant(struct gen *g)
{
    const struct gen_access a = gen_access_pick(g);
    const int bytes = a.bytes * a.vectors;
    if (chance(g, 40)) {
        gen_access_load(g, ".const", a, name(g, "cst+%d", bytes * pick(g, 256 / bytes)), guard(g));
        return;
    }
    emit_open(g);
    const char *index = below(g, 16);
    emit(g, "mul.wide.u32 %%a1, %s, %d;", index, bytes);
    emit(g, "mov.u64 %%a0, cst;");
    emit(g, "add.s64 %%a0, %%a0, %%a1;");
    gen_access_load(g, ".const", a, "%a0", guard(g));
    emit_close(g);
}

void gen_variable(struct gen *g)
{
    const struct gen_access a = gen_access_pick(g);
    const int bytes = a.bytes * a.vectors;
    if (chance(g, 70))
        gen_access_load(g, ".global", a, name(g, "var+%d", bytes * pick(g, 256 / bytes)), guard(g));
    else
        emit(g, "%sred.global.%s.u32 [sum+%d], %s;", guard(g), "add", 4 * pick(g, 16),
             from_value(g, 'r'));
}
