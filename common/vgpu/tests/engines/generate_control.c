/* Structured control flow of generated programs, and the choice of statements. */
#include "vgpu/tests/engines/generator.h"

bool gen_is_uniform(const struct gen *g)
{
    return g->is_uniform && !g->jump_count;
}

/* ---- if --------------------------------------------------------------------------------------- */

void gen_if(struct gen *g)
{
    const bool was_uniform = g->is_uniform;
    const bool uniform = gen_is_uniform(g) && chance(g, 40);
    const bool has_else = chance(g, 45);
    const int label = g->labels++;
    emit_open(g);
    const char *p = uniform ? uniform_condition(g) : condition(g);
    emit(g, "@%s%s bra E%d;", chance(g, 50) ? "!" : "", p, label);
    g->is_uniform = was_uniform && uniform;
    statements(g, 1 + pick(g, 5));
    if (has_else) {
        emit(g, "bra%s F%d;", chance(g, 50) ? ".uni" : "", label);
        emit(g, "E%d:", label);
        statements(g, 1 + pick(g, 4));
        emit(g, "F%d:", label);
    } else {
        emit(g, "E%d:", label);
    }
    g->is_uniform = was_uniform;
    emit_close(g);
}

/* ---- loops ------------------------------------------------------------------------------------ */

/* Sets the bound of the next loop. @return the maximum number of rounds. */
static int loop_bound(struct gen *g, int i, bool uniform)
{
    int most = g->trips > 100 ? 2 : 2 + pick(g, 12);
    if (g->has.hot && !g->loops && chance(g, 50)) {
        most = 1000 + pick(g, 2500);
        g->has.hot = false;
    }
    const int way = uniform ? pick(g, 2) : 2 + pick(g, 3);
    if (most > 100 || way == 0) {
        emit_kept(g, "mov.u32 %%n%d, %d;", i, most);
        return most;
    }
    const int limit = most > 8 ? 16 : 8;
    const char *from = way == 1   ? name(g, "%%u%d", pick(g, GEN_U))
                       : way == 2 ? name(g, "%%t%d", pick(g, 4))
                                  : from_register(g, 'r');
    emit_kept(g, "and.b32 %%n%d, %s, %d;", i, from, limit - 1);
    if (way == 3)
        emit_kept(g, "add.u32 %%n%d, %%n%d, %d;", i, i, pick(g, 3));
    return limit;
}

static void loop_pointer(struct gen *g, int i, int most)
{
    static const int steps[] = {4, 4, 8, 16, 16, 64, 128, -16, -8, 48};
    int step = steps[pick(g, 10)];
    if (most > 100)
        step = step > 0 ? 4 : -8;
    g->step[i] = step;
    const char *index = below(g, 2048);
    emit_kept(g, "mad.wide.u32 %%l%d, %s, 16, %%g0;", i, index);
    emit_kept(g, "add.s64 %%l%d, %%l%d, %d;", i, i, step > 0 ? 0 : 1 << 16);
}

/* In some lanes, leaves a loop or continues with its next round. */
static void loop_jump(struct gen *g, char letter, int label)
{
    const char *p = condition(g);
    emit(g, "@%s%s bra %c%d;", chance(g, 50) ? "!" : "", p, letter, label);
}

static void loop_body(struct gen *g, int label, bool breaks)
{
    const int n = g->trips > 500 ? 2 : 1 + pick(g, 6);
    statements(g, n);
    if (breaks) {
        loop_jump(g, chance(g, 60) ? 'B' : 'C', label);
        statements(g, 1 + pick(g, 2));
    }
}

static void loop_end(struct gen *g, int i, int label)
{
    gen_land_in_loop(g);
    emit_kept(g, "C%d:", label);
    emit_kept(g, "add.s64 %%l%d, %%l%d, %d;", i, i, g->step[i]);
    emit_kept(g, "add.u32 %%c%d, %%c%d, 1;", i, i);
    emit_kept(g, "setp.lt.u32 %%px0, %%c%d, %%n%d;", i, i);
    emit_kept(g, "@%%px0 bra L%d;", label);
    emit_kept(g, "B%d:", label);
}

void gen_loop(struct gen *g)
{
    if (g->loops == GEN_LOOPS || g->trips > 400) {
        gen_arithmetic(g);
        return;
    }
    const bool was_uniform = g->is_uniform, uniform = gen_is_uniform(g) && chance(g, 60);
    const bool breaks = !uniform && chance(g, 40);
    const int i = g->loops, label = g->labels++, uniform_loops = g->uniform_loops;
    const long trips = g->trips;
    emit_open(g);
    const int most = loop_bound(g, i, uniform);
    loop_pointer(g, i, most);
    emit_kept(g, "mov.u32 %%c%d, 0;", i);
    if (chance(g, 50)) {
        emit_kept(g, "setp.ge.u32 %%px0, %%c%d, %%n%d;", i, i);
        emit_kept(g, "@%%px0 bra B%d;", label);
    }
    emit_kept(g, "L%d:", label);
    g->loops++;
    g->trips *= most;
    g->is_uniform = was_uniform && uniform;
    g->uniform_loops += g->is_uniform;
    loop_body(g, label, breaks);
    loop_end(g, i, label);
    g->uniform_loops = uniform_loops;
    g->is_uniform = was_uniform;
    g->trips = trips;
    g->loops--;
    emit_close(g);
}

/* ---- ends ------------------------------------------------------------------------------------- */

void gen_exit(struct gen *g)
{
    if (!g->in_function && !g->has.exits) {
        gen_arithmetic(g);
        return;
    }
    emit_open(g);
    const char *p = condition(g);
    if (chance(g, 60)) /* only in few lanes */
        emit(g, "and.pred %s, %s, %%p0;", p, p);
    emit(g, "@%s %s;", p, g->in_function || chance(g, 50) ? "ret" : "exit");
    emit_close(g);
}

/* ---- statements ------------------------------------------------------------------------------- */

struct choice {
    int weight;
    void (*write)(struct gen *g);
};

static const struct choice simple[] = {
    {28, gen_arithmetic}, {5, gen_uniform},  {8, gen_convert},       {3, gen_move},
    {12, gen_load},       {7, gen_slot},     {5, gen_column},        {3, gen_local},
    {2, gen_constant},    {2, gen_variable}, {3, gen_warp_memory},   {8, gen_shared},
    {3, gen_barrier},     {4, gen_atomic},   {2, gen_shared_atomic}, {1, gen_copy},
    {4, gen_warp},        {2, gen_exit},     {1, gen_matrix},
};

static const struct choice nested[] = {{6, gen_if}, {5, gen_loop}, {1, gen_table}, {2, gen_call}};

static const struct choice special[] = {{4, gen_goto}, {2, gen_web}};

static const struct choice rare[] = {
    {4, gen_fault}, {3, gen_uninitialised}, {1, gen_print}, {2, gen_rare}};

#define CHOOSE(g, list) choose(g, list, sizeof(list) / sizeof *(list))
static void choose(struct gen *g, const struct choice *list, size_t n)
{
    int sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += list[i].weight;
    int left = pick(g, sum);
    while (left >= list->weight)
        left -= list++->weight;
    list->write(g);
}

static void statement(struct gen *g)
{
    if (chance(g, 25))
        emit(g, ".loc 1 %d 1", g->lines);
    if (g->budget > 3 && g->depth < 5 && chance(g, 22))
        CHOOSE(g, nested);
    else if (g->has.unstructured && chance(g, 12))
        CHOOSE(g, special);
    else if (chance(g, g->has.faulty || g->has.uninitialised || g->has.prints ? 15 : 4))
        CHOOSE(g, rare);
    else
        CHOOSE(g, simple);
}

void statements(struct gen *g, int n)
{
    g->depth++;
    for (int i = 0; i < n && g->budget > 0; i++) {
        g->budget--;
        gen_land(g, false);
        statement(g);
    }
    g->depth--;
}
