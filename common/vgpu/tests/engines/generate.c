/* The frame of a generated program: its features, buffers, launches and functions, and the first
 * and last values of their registers. */
#include "vgpu/tests/engines/generate.h"

#include "vgpu/tests/engines/generator.h"

#include <stdlib.h>
#include <string.h>

/* ---- launches --------------------------------------------------------------------------------- */

static struct vg_dim pick_block(struct gen *g)
{
    static const struct vg_dim odd[] = {
        {1, 1, 1},   {7, 1, 1},  {31, 1, 1}, {33, 1, 1},  {48, 1, 1},  {16, 16, 1}, {5, 3, 2},
        {100, 1, 1}, {17, 3, 1}, {40, 2, 2}, {1, 33, 1},  {63, 1, 1},  {32, 3, 1},  {13, 11, 1},
        {32, 1, 1},  {64, 1, 1}, {96, 1, 1}, {128, 1, 1}, {256, 1, 1}, {32, 2, 1},  {300, 1, 1},
    };
    static const struct vg_dim full[] = {{32, 1, 1}, {64, 1, 1},  {128, 1, 1}, {16, 16, 1},
                                         {32, 2, 1}, {8, 8, 1},   {16, 2, 4},  {96, 1, 1},
                                         {64, 4, 1}, {256, 1, 1}, {8, 4, 1}};
    static const struct vg_dim flat[] = {{16, 16, 1}, {32, 8, 1}, {8, 8, 1},  {32, 1, 1},
                                         {5, 3, 1},   {33, 1, 1}, {31, 9, 1}, {16, 4, 1}};
    return g->has.flat         ? flat[pick(g, 8)]
           : g->has.full_warps ? full[pick(g, 11)]
                               : odd[pick(g, 21)];
}

static struct vg_dim pick_grid(struct gen *g, uint32_t most)
{
    static const struct vg_dim grids[] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {5, 1, 1},
                                          {2, 2, 1}, {1, 3, 2}, {9, 1, 1}, {1, 1, 4}};
    static const struct vg_dim pairs[] = {{2, 1, 1}, {4, 1, 1}, {2, 2, 1}, {6, 1, 2}};
    const struct vg_dim d = g->has.clusters ? pairs[pick(g, 4)] : grids[pick(g, 8)];
    if (g->has.clusters)
        return d.x * d.y * d.z <= most ? d : pairs[0];
    return d.x * d.y * d.z <= most ? d : grids[0];
}

static void write_launches(struct gen *g)
{
    for (int i = 1 + pick(g, 4); i > 0; i--) {
        struct vg_dim b = pick_block(g);
        while (g->has.clusters && 2 * b.x * b.y * b.z > GEN_THREADS)
            b = pick_block(g);
        const struct vg_dim grid = pick_grid(g, GEN_THREADS / (b.x * b.y * b.z));
        emit(g, "//@ launch k %u %u %u %u %u %u %d", grid.x, grid.y, grid.z, b.x, b.y, b.z,
             g->has.dynamic  ? GEN_SHARED_BYTES
             : chance(g, 10) ? 64
                             : 0);
    }
}

static void write_case(struct gen *g, uint64_t seed)
{
    const struct {
        long bytes;
        const char *kind;
    } buffers[] = {
        [GEN_DATA] = {GEN_DATA_BYTES, "data"},
        [GEN_INDEX] = {GEN_DATA_BYTES, "index"},
        [GEN_SLOT] = {GEN_THREADS * GEN_SLOT_STEP, "data"},
        [GEN_SUMS] = {12 * 256, "zero"},
        [GEN_EDGE] = {4 * (100 + pick(g, 1500)), "data"},
        [GEN_FREED] = {1024, "freed"},
        [GEN_COLUMN] = {GEN_THREADS * GEN_COLUMNS * 8, "data"},
        [GEN_WARP] = {GEN_THREADS * GEN_WARP_BYTES, "data"},
        [GEN_HOLES] = {1 << 15, "holes"},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        emit_kept(g, "//@ buffer %ld %llu %s", buffers[i].bytes,
                  (unsigned long long)(seed * 16 + i), buffers[i].kind);
    emit_kept(g, "//@ scalar %d", pick(g, 1000));
    emit_kept(g, "//@ scalar %u", (unsigned)rng_u64(&g->rng));
    emit_kept(g, "//@ variable sum");
    if (chance(g, 10))
        emit(g, "//@ order %d", 1 + pick(g, 1000));
    write_launches(g);
}

static void choose_features(struct gen *g)
{
    g->has = (struct gen_features){.unstructured = chance(g, 40),
                                   .ordered = chance(g, 10),
                                   .racy = chance(g, 15),
                                   .hot = chance(g, 12),
                                   .faulty = chance(g, 20),
                                   .own_edge = chance(g, 50),
                                   .uninitialised = chance(g, 15),
                                   .calls = chance(g, 25),
                                   .exits = chance(g, 25),
                                   .prints = chance(g, 15),
                                   .dynamic = chance(g, 30)};
    const int shapes = pick(g, 10);
    g->has.flat = shapes < 2;
    g->has.full_warps = shapes >= 2 && shapes < 6;
    g->has.clusters = chance(g, 12);
}

/* ---- modules ---------------------------------------------------------------------------------- */

static void write_variables(struct gen *g)
{
    emit_kept(g, ".version 8.3");
    emit_kept(g, ".target sm_90");
    emit_kept(g, ".address_size 64");
    emit_kept(g, ".file 1 \"case.cu\"");
    emit_kept(g, ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);");
    emit_kept(
        g, g->has.dynamic ? ".extern .shared .align 16 .b8 sh[];" : ".shared .align 16 .b8 sh[%d];",
        GEN_SHARED_BYTES);
    emit_kept(g, ".shared .align 16 .b8 own[%d];", GEN_SHARED_BYTES);
    emit_kept(g, ".shared .align 16 .b8 raw[64];");
    emit_kept(g, ".shared .align 8 .b64 mb;");
    emit_kept(g, ".global .align 16 .b32 sum[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
                 "15, 16};");
    emit_kept(g,
              ".global .align 1 .b8 text[12] = {37, 100, 32, 37, 117, 32, 37, 103, 10, 0, 0, 0};");
    for (int v = 0; v < 2; v++) {
        fprintf(g->out, "%s[64] = {",
                v ? ".const .align 16 .b32 cst" : ".global .align 16 .b32 var");
        for (int i = 0; i < 64; i++)
            fprintf(g->out, "%s%u", i ? ", " : "", (unsigned)rng_u64(&g->rng));
        emit_kept(g, "};");
    }
}

static void write_registers(struct gen *g)
{
    static const struct {
        const char *type, *name;
        int count;
    } all[] = {{"b32", "r", GEN_R},     {"b64", "q", GEN_Q},     {"f32", "f", GEN_F},
               {"f64", "d", GEN_D},     {"b16", "h", GEN_H},     {"pred", "p", GEN_P},
               {"b32", "u", GEN_U},     {"pred", "pu", 1},       {"b32", "t", 8},
               {"b32", "c", GEN_LOOPS}, {"b32", "n", GEN_LOOPS}, {"b64", "l", GEN_LOOPS},
               {"b64", "g", 9},         {"b32", "x", 4},         {"b64", "a", 4},
               {"pred", "px", 2},       {"b32", "k", 3},         {"b64", "kq", 2},
               {"b128", "z", 3}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        emit_kept(g, ".reg .%s %%%s<%d>;", all[i].type, all[i].name, all[i].count);
    emit_kept(g, ".reg .b32 %%fuel;");
    emit_kept(g, ".reg .b32 %%depth;");
    emit_kept(g, ".local .align 16 .b8 lm[%d];", GEN_LOCAL_BYTES);
    emit_kept(g, ".local .align 16 .b8 pm[16];");
}

static void write_place(struct gen *g)
{
    static const char *const lines[] = {
        "mov.u32 %t1, %tid.x;",           "mov.u32 %t2, %tid.y;",
        "mov.u32 %x0, %tid.z;",           "mov.u32 %x1, %ntid.x;",
        "mov.u32 %x2, %ntid.y;",          "mov.u32 %x3, %ntid.z;",
        "mad.lo.u32 %t0, %x0, %x2, %t2;", "mad.lo.u32 %t0, %t0, %x1, %t1;",
        "mul.lo.u32 %t4, %x1, %x2;",      "mul.lo.u32 %t4, %t4, %x3;",
        "mov.u32 %x0, %ctaid.z;",         "mov.u32 %x1, %nctaid.y;",
        "mov.u32 %x2, %ctaid.y;",         "mad.lo.u32 %t7, %x0, %x1, %x2;",
        "mov.u32 %x2, %nctaid.x;",        "mov.u32 %x0, %ctaid.x;",
        "mad.lo.u32 %t7, %t7, %x2, %x0;", "mul.lo.u32 %t6, %x1, %x2;",
        "mov.u32 %x0, %nctaid.z;",        "mul.lo.u32 %t6, %t6, %x0;",
        "mul.lo.u32 %t6, %t6, %t4;",      "mad.lo.u32 %t3, %t7, %t4, %t0;",
        "mov.u32 %t5, %laneid;",          "mov.u32 %fuel, 40;",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        emit_kept(g, "%s", lines[i]);
}

/* Computes the addresses of the thread's and the warp's own memory. */
static void write_addresses(struct gen *g)
{
    for (int i = 0; i < 9; i++)
        emit_kept(g, "ld.param.u64 %%g%d, [p%d];", i, i);
    emit_kept(g, "mad.wide.u32 %%g2, %%t3, %d, %%g2;", GEN_SLOT_STEP);
    emit_kept(g, "add.u32 %%x0, %%t4, 31;");
    emit_kept(g, "shr.u32 %%x0, %%x0, 5;");
    emit_kept(g, "shr.u32 %%x1, %%t0, 5;");
    emit_kept(g, "mad.lo.u32 %%x0, %%t7, %%x0, %%x1;");
    emit_kept(g, "mad.wide.u32 %%g7, %%x0, %d, %%g7;", GEN_WARP_BYTES);
}

/* Whether statements use a register. Each such register gets a value before the first statement:
 * the same in all threads, ordered by threads, or from memory. */
static bool names(const char *body, const char *prefix, int number)
{
    char text[16];
    const size_t n = (size_t)snprintf(text, sizeof text, "%%%s%d", prefix, number);
    for (const char *p = body; (p = strstr(p, text)); p += n)
        if (p[n] < '0' || p[n] > '9')
            return true;
    return false;
}

static void write_words(struct gen *g, const char *body)
{
    for (int i = 0; i < GEN_R; i++)
        if (!names(body, "r", i) && i >= GEN_P)
            continue;
        else if (i % 4 == 0)
            emit_kept(g, "mov.u32 %%r%d, %u;", i, (unsigned)rng_u64(&g->rng) >> pick(g, 32));
        else if (i % 4 == 1)
            emit_kept(g, "mad.lo.s32 %%r%d, %%t%d, %d, %d;", i, pick(g, 4), pick(g, 9) - 2,
                      pick(g, 100));
        else
            emit_kept(g, "ld.global.b32 %%r%d, [%%a0+%d];", i, 4 * pick(g, 999));
    for (int i = 0; i < GEN_P; i++)
        if (names(body, "p", i))
            emit_kept(g, "setp.gt.s32 %%p%d, %%r%d, %d;", i, pick(g, GEN_P), pick(g, 60));
    if (names(body, "pu", 0))
        emit_kept(g, "setp.eq.u32 %%pu0, %%t6, 33;");
    if (strstr(body, "addc") || strstr(body, "subc") || strstr(body, "madc"))
        emit_kept(g, "add.cc.u32 %%x0, %%x0, 0;");
}

static void write_others(struct gen *g, const char *body)
{
    static const struct {
        const char *prefix, *type;
        int count, bytes;
    } all[] = {{"f", "f32", GEN_F, 4},
               {"q", "b64", GEN_Q, 8},
               {"d", "f64", GEN_D, 8},
               {"h", "b16", GEN_H, 2}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < all[k].count; i++)
            if (names(body, all[k].prefix, i) || (*all[k].prefix == 'q' && i < 4))
                emit_kept(g, "ld.global.%s %%%s%d, [%%a0+%d];", all[k].type, all[k].prefix, i,
                          all[k].bytes * pick(g, 999));
    for (int i = 0; i < 3; i++)
        if (names(body, "z", i))
            emit_kept(g, "mov.b128 %%z%d, {%%q%d, %%q%d};", i, i, i + 1);
}

static void write_values(struct gen *g, const char *body)
{
    for (int i = 0; i < GEN_LOOPS; i++) {
        if (names(body, "c", i))
            emit_kept(g, "mov.u32 %%c%d, %d;", i, pick(g, 8));
        if (names(body, "n", i))
            emit_kept(g, "mov.u32 %%n%d, %d;", i, 2 + pick(g, 4));
        if (names(body, "l", i))
            emit_kept(g, "mov.u64 %%l%d, %%g0;", i);
        if (names(body, "x", i))
            emit_kept(g, "mov.u32 %%x%d, 0;", i);
        if (names(body, "a", i))
            emit_kept(g, "mov.u64 %%a%d, %%g0;", i);
    }
    emit_kept(g, "and.b32 %%x0, %%t3, 1023;");
    emit_kept(g, "mad.wide.u32 %%a0, %%x0, 16, %%g0;");
    write_words(g, body);
    write_others(g, body);
    for (int i = 0; strstr(body, "lm") && i < GEN_LOCAL_BYTES; i += 8)
        emit_kept(g, "st.local.b64 [lm+%d], %%q%d;", i, i / 8 % 4);
    for (int i = 0; strstr(body, "pm") && i < 16; i += 8)
        emit_kept(g, "st.local.b64 [pm+%d], %%q0;", i);
}

/* Writes the statements first, because they determine what the rest must define. */
static char *write_body(struct gen *g)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = g->out;
    g->out = open_memstream(&text, &bytes);
    if (!g->out)
        abort();
    do
        statements(g, g->in_function ? 8 : g->budget);
    while (!g->in_function && g->budget > 0);
    gen_land(g, true);
    if (fclose(g->out))
        abort();
    g->out = out;
    return text;
}

static void write_uniform(struct gen *g, const char *body, bool known)
{
    for (int i = 0; i < GEN_U; i++)
        if (!names(body, "u", i))
            continue;
        else if (i == 0 && known)
            emit_kept(g, "ld.param.u32 %%u0, [s0];");
        else if (i == 1)
            emit_kept(g, "add.u32 %%u1, %%t7, %d;", pick(g, 9));
        else
            emit_kept(g, "mov.u32 %%u%d, %u;", i, (unsigned)rng_u64(&g->rng) >> pick(g, 32));
}

static void write_function(struct gen *g, int number)
{
    g->in_function = true;
    g->is_uniform = false;
    g->budget = 2 + pick(g, 8);
    char *body = write_body(g);
    emit_kept(g,
              ".func (.param .b32 fr) fn%d (.param .b32 fa, .param .b32 fb, .param .b64 p0, "
              ".param .b64 p1, .param .b64 p2, .param .b64 p3, .param .b64 p4, .param .b64 p5)",
              number);
    emit_kept(g, "{");
    write_registers(g);
    write_place(g);
    static const int passed[] = {GEN_DATA, GEN_INDEX, GEN_SLOT, GEN_SUMS, GEN_COLUMN, GEN_WARP};
    for (int i = 0; i < 6; i++)
        emit_kept(g, "ld.param.u64 %%g%d, [p%d];", passed[i], i);
    write_values(g, body);
    write_uniform(g, body, false);
    emit_kept(g, "ld.param.b32 %%r0, [fa];");
    emit_kept(g, "ld.param.b32 %%depth, [fb];");
    emit_kept(g, "st.param.b32 [fr], %%r0;");
    fputs(body, g->out);
    free(body);
    emit(g, "st.param.b32 [fr], %%r%d;", pick(g, GEN_P));
    emit_kept(g, "ret;");
    emit_kept(g, "}");
}

/* Stores the registers' final values. */
static void write_last(struct gen *g, const char *body)
{
    static const struct {
        const char *prefix, *type;
        int count, bytes;
    } all[] = {{"r", "b32", GEN_R, 4},
               {"q", "b64", GEN_Q, 8},
               {"d", "f64", GEN_D, 8},
               {"f", "f32", GEN_F, 4},
               {"h", "b16", GEN_H, 2}};
    int at = GEN_SLOT_BYTES;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int i = 0; i < all[k].count; i++, at += all[k].bytes)
            if (names(body, all[k].prefix, i))
                emit(g, "st.global.%s [%%g2+%d], %%%s%d;", all[k].type, at, all[k].prefix, i);
    emit(g, "mov.u32 %%x0, 0;");
    for (int i = 0; i < GEN_P; i++)
        if (names(body, "p", i))
            emit(g, "@%%p%d or.b32 %%x0, %%x0, %d;", i, 1 << i);
    emit(g, "st.global.b8 [%%g2+%d], %%x0;", at);
}

/* Ends the unit of native code, so that the following code is not translated again for each entry
 * before it. */
static void write_end_of_unit(struct gen *g)
{
    if (chance(g, 75))
        emit(g, "activemask.b32 %%k0;");
}

static void write_kernel(struct gen *g)
{
    g->in_function = false;
    g->is_uniform = true;
    g->budget = g->has.hot || chance(g, 70) ? 2 + pick(g, 9) : 8 + pick(g, 30);
    char *body = write_body(g);
    emit_kept(g,
              ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, "
              ".param .u64 p4, .param .u64 p5, .param .u64 p6, .param .u64 p7, .param .u64 p8, "
              ".param .u32 s0, .param .u32 s1)%s",
              g->has.clusters ? " .reqnctapercluster 2" : "");
    emit_kept(g, "{");
    write_registers(g);
    write_place(g);
    write_addresses(g);
    if (g->functions || strstr(body, ", sh;") || strstr(body, "own"))
        gen_shared_start(g);
    write_values(g, body);
    write_uniform(g, body, true);
    write_end_of_unit(g);
    fputs(body, g->out);
    write_end_of_unit(g);
    write_last(g, body);
    free(body);
    emit_kept(g, "ret;");
    emit_kept(g, "}");
}

char *generate(uint64_t seed)
{
    char *text = NULL;
    size_t bytes;
    struct gen *g = calloc(1, sizeof *g);
    if (!g || !(g->out = open_memstream(&text, &bytes)))
        abort();
    g->rng = rng_make(seed, 13);
    g->trips = 1;
    choose_features(g);
    write_case(g, seed);
    write_variables(g);
    for (int i = 0; g->has.calls && i < GEN_FUNCTIONS; i++) {
        g->functions = i + 1;
        write_function(g, i);
    }
    write_kernel(g);
    if (fclose(g->out))
        abort();
    free(g);
    return text;
}
