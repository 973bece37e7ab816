/* Registers, numbers and conditions of generated programs, and the lines that contain them. */
#include "vgpu/tests/engines/generator.h"

#include <stdarg.h>
#include <string.h>

static void emit_line(struct gen *g, const char *end, const char *format, va_list args)
{
    vfprintf(g->out, format, args);
    fputs(end, g->out);
    g->lines++;
}

void emit(struct gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_line(g, "\n", format, args);
    va_end(args);
}

void emit_kept(struct gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_line(g, " " KEEP_MARK "\n", format, args);
    va_end(args);
}

void emit_open(struct gen *g)
{
    emit(g, OPEN_MARK);
}

void emit_close(struct gen *g)
{
    emit(g, CLOSE_MARK);
}

int pick(struct gen *g, int n)
{
    return rng_range(&g->rng, 0, n - 1);
}

bool chance(struct gen *g, int percent)
{
    return pick(g, 100) < percent;
}

const char *name(struct gen *g, const char *format, ...)
{
    char *to = g->names[g->next_name++ % 32];
    va_list args;
    va_start(args, format);
    vsnprintf(to, sizeof g->names[0], format, args);
    va_end(args);
    return to;
}

const char *pick_word(struct gen *g, const char *words)
{
    int count = 1;
    for (const char *p = words; *p; p++)
        count += *p == '|';
    for (int skip = pick(g, count); skip > 0; skip--)
        words += strcspn(words, "|") + 1;
    return name(g, "%.*s", (int)strcspn(words, "|"), words);
}

/* ---- registers and numbers -------------------------------------------------------------------- */

const char *to_register(struct gen *g, char kind)
{
    switch (kind) {
    case 'h':
        return name(g, "%%h%d", pick(g, GEN_H));
    case 'q':
        return name(g, "%%q%d", pick(g, GEN_Q));
    case 'f':
        return name(g, chance(g, 90) ? "%%f%d" : "%%r%d", pick(g, GEN_F));
    case 'd':
        return name(g, chance(g, 90) ? "%%d%d" : "%%q%d", pick(g, GEN_D));
    case 'p':
        return name(g, "%%p%d", pick(g, GEN_P));
    default:
        return chance(g, 95) ? name(g, "%%r%d", pick(g, GEN_R)) : name(g, "%%f%d", pick(g, GEN_F));
    }
}

const char *from_register(struct gen *g, char kind)
{
    if (kind == 'r' && chance(g, 30)) {
        const int which = pick(g, 10);
        return which < 5   ? name(g, "%%t%d", pick(g, 8))
               : which < 8 ? name(g, "%%u%d", pick(g, GEN_U))
                           : name(g, "%%c%d", pick(g, GEN_LOOPS));
    }
    if (kind == 'p' && chance(g, 20))
        return "%pu0";
    return to_register(g, kind);
}

static const char *number_float(struct gen *g)
{
    static const char *const floats[] = {"0f3F800000", "0fBF800000", "0f40490FDB", "0f00000000",
                                         "0f80000000", "0f3F000000", "0f7F800000", "0f7FC00000",
                                         "0f00400000", "0f4F000000", "0f42C80000", "0f3DCCCCCD"};
    return floats[pick(g, 12)];
}

static const char *number_double(struct gen *g)
{
    static const char *const doubles[] = {
        "0d3FF0000000000000", "0dBFF0000000000000", "0d400921FB54442D18", "0d0000000000000000",
        "0d8000000000000000", "0d7FF0000000000000", "0d7FF8000000000000", "0d3FB999999999999A"};
    return doubles[pick(g, 8)];
}

static const char *number(struct gen *g, char kind)
{
    if (kind == 'f')
        return number_float(g);
    if (kind == 'd')
        return number_double(g);
    if (kind == 'p')
        return chance(g, 50) ? "1" : "0";
    if (kind == 'h')
        return name(g, "%d", pick(g, 3) ? pick(g, 40) : pick(g, 65536));
    switch (pick(g, 4)) {
    case 0:
        return name(g, "%d", pick(g, 70));
    case 1:
        return name(g, "%d", -pick(g, 70));
    case 2:
        return name(g, "%u", 1u << pick(g, 32));
    default:
        return name(g, "%u", (unsigned)rng_u64(&g->rng));
    }
}

const char *from_value(struct gen *g, char kind)
{
    return kind != 'p' && chance(g, 25) ? number(g, kind) : from_register(g, kind);
}

/* ---- conditions ------------------------------------------------------------------------------- */

/* A condition that splits a warp by lanes, so that all kinds of masks occur. */
static void condition_by_lane(struct gen *g, const char *to)
{
    const char *from = name(g, "%%t%d", pick(g, 4));
    switch (pick(g, 3)) {
    case 0:
        emit(g, "setp.%s.u32 %s, %s, %d;", pick_word(g, "lt|gt|eq|ne|le|ge"), to, from,
             pick(g, 40));
        return;
    case 1:
        emit(g, "and.b32 %%x0, %s, %d;", from, 1 << pick(g, 5));
        break;
    default:
        emit(g, "and.b32 %%x0, %s, %d;", from, 1 + pick(g, 31));
    }
    emit(g, "setp.%s.s32 %s, %%x0, %d;", pick_word(g, "eq|ne|lt|ge"), to, pick(g, 3));
}

static void condition_by_value(struct gen *g, const char *to)
{
    switch (pick(g, 5)) {
    case 0:
        emit(g, "setp.%s.f32 %s, %s, %s;", pick_word(g, "lt|gtu|eq|neu|le|nan|num"), to,
             from_register(g, 'f'), from_value(g, 'f'));
        break;
    case 1:
        emit(g, "setp.%s.s64 %s, %s, %s;", pick_word(g, "lt|gt|eq|ne"), to, from_register(g, 'q'),
             from_value(g, 'q'));
        break;
    case 2:
        emit(g, "setp.%s.%s.s32 %s|%%px1, %s, %s, %s%s;", pick_word(g, "lt|gt|eq|ne"),
             pick_word(g, "and|or|xor"), to, from_register(g, 'r'), from_value(g, 'r'),
             chance(g, 30) ? "!" : "", from_register(g, 'p'));
        break;
    case 3:
        emit(g, "and.b32 %%x0, %s, %d;", from_register(g, 'r'), 1 << pick(g, 8));
        emit(g, "setp.ne.b32 %s, %%x0, 0;", to);
        break;
    default:
        emit(g, "setp.%s.%s %s, %s, %s;", pick_word(g, "lt|gt|eq|ne|le|ge"),
             pick_word(g, "s32|u32"), to, from_register(g, 'r'), from_value(g, 'r'));
    }
}

const char *condition(struct gen *g)
{
    const char *to = to_register(g, 'p');
    const int way = pick(g, 10);
    if (way < 4)
        condition_by_lane(g, to);
    else if (way < 9)
        condition_by_value(g, to);
    return to;
}

const char *uniform_condition(struct gen *g)
{
    emit(g, "and.b32 %%x0, %%u%d, %d;", pick(g, GEN_U), 1 + pick(g, 7));
    emit(g, "setp.%s.s32 %%pu0, %%x0, %d;", pick_word(g, "eq|ne|lt|gt"), pick(g, 3));
    return "%pu0";
}

const char *guard(struct gen *g)
{
    if (!chance(g, 18))
        return "";
    return name(g, chance(g, 50) ? "@%s " : "@!%s ", from_register(g, 'p'));
}

/* ---- indices ---------------------------------------------------------------------------------- */

const char *below(struct gen *g, int n)
{
    const char *to = name(g, "%%x%d", 1 + pick(g, 2));
    switch (pick(g, 8)) {
    case 0: /* affine */
        emit(g, "mad.lo.s32 %s, %%t%d, %d, %d;", to, pick(g, 4), 1 + pick(g, 4), pick(g, 64));
        break;
    case 1: /* rows of a tile */
        emit(g, "mad.lo.s32 %s, %%t2, %d, %%t1;", to, 1 << pick(g, 7));
        break;
    case 2: /* backwards */
        emit(g, "sub.s32 %s, %d, %%t%d;", to, n - 1, pick(g, 4));
        break;
    case 3: /* the same in all threads */
        emit(g, "add.s32 %s, %%u%d, %d;", to, pick(g, GEN_U), pick(g, 99));
        break;
    case 4: /* a loop's counter */
        emit(g, "mad.lo.u32 %s, %%c%d, %d, %%t%d;", to, pick(g, GEN_LOOPS), 1 + pick(g, 33),
             pick(g, 4));
        break;
    case 5: /* wraps around */
        emit(g, "mad.lo.u32 %s, %%t%d, 2654435761, %%c0;", to, pick(g, 4));
        break;
    case 6: /* loaded from memory */
        emit(g, "and.b32 %s, %%t%d, 4095;", to, pick(g, 4));
        emit(g, "mul.wide.u32 %%a3, %s, 4;", to);
        emit(g, "add.s64 %%a3, %%g1, %%a3;");
        emit(g, "ld.global.u32 %s, [%%a3];", to);
        break;
    default:
        emit(g, "add.s32 %s, %s, %s;", to, from_register(g, 'r'), from_value(g, 'r'));
    }
    emit(g, "and.b32 %s, %s, %d;", to, to, n - 1);
    return to;
}
