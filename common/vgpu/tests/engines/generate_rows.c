/* Arithmetic and comparisons, generated from the rows of opcodes.def, so that a new row is covered
 * automatically. */
#include "vgpu/tests/engines/generator.h"
#include "vgpu/ptx/ptx_match.h"

#include <string.h>

/* Rows that are not lane-wise, but whose columns fully describe their operands, which are all
 * registers. */
static const int shaped[] = {
    IR_ADDC,     IR_MADC,     IR_TESTP_F32, IR_TESTP_F64, IR_MOV_PRED,    IR_SELP_32,  IR_SELP_64,
    IR_SLCT_32,  IR_SLCT_64,  IR_SETP_S32,  IR_SETP_U32,  IR_SETP_S16,    IR_SETP_S64, IR_SETP_U64,
    IR_SETP_F32, IR_SETP_F64, IR_SETP_F16,  IR_SETP_BF16, IR_SETP_F16X2,  IR_AND_PRED, IR_OR_PRED,
    IR_XOR_PRED, IR_NOT_PRED, IR_CVT_PAIR,  IR_CVT_FP8,   IR_CVT_F16_FP8,
};

/* The rows that occur most in programs. */
static const int common[] = {
    IR_ADD_32,       IR_ADD_32,    IR_ADD_64,       IR_SUB_32,      IR_MUL_LO_32, IR_MUL_WIDE_U32,
    IR_MUL_WIDE_S32, IR_MAD_LO_32, IR_MAD_WIDE_S32, IR_AND_32,      IR_OR_32,     IR_XOR_32,
    IR_SHL_32,       IR_SHR_U32,   IR_SHR_S32,      IR_SHL_64,      IR_MIN_S32,   IR_MAX_U32,
    IR_ADD_F32,      IR_SUB_F32,   IR_MUL_F32,      IR_FMA_F32,     IR_FMA_F32,   IR_DIV_F32,
    IR_MAX_F32,      IR_ADD_F64,   IR_FMA_F64,      IR_MUL_F64,     IR_SELP_32,   IR_SELP_64,
    IR_SETP_S32,     IR_SETP_U32,  IR_SETP_F32,     IR_MOV_32,      IR_MOV_64,    IR_LOP3,
    IR_FMA_F16X2,    IR_ADD_F16,   IR_CVT_U64_U32,  IR_CVT_S64_S32, IR_AND_PRED,  IR_CVT_F32_S32,
};

/* ---- suffixes --------------------------------------------------------------------------------- */

static const char *group_words(const char *group)
{
    if (strcmp(group, "%rnd") == 0)
        return "rn|rz|rm|rp";
    if (strcmp(group, "%cmp") == 0)
        return "eq|ne|lt|le|gt|ge";
    return "and|or|xor"; /* %bool */
}

static bool is_type(const char *word)
{
    return ptx_type_find(word, strlen(word)) != PTX_TYPE_none;
}

/* An opcode under construction. */
struct opcode {
    char text[96], types[64]; /* suffixes; type suffixes, which come last */
    enum ptx_type first, second;
    int type_count;
    bool has_boolean;
};

static void add_suffix(struct opcode *to, const char *word)
{
    if (!is_type(word)) {
        strcat(strcat(to->text, "."), word);
        return;
    }
    strcat(strcat(to->types, "."), word);
    const enum ptx_type type = ptx_type_find(word, strlen(word));
    *(to->type_count++ ? &to->second : &to->first) = type;
}

static const char *next_word(const char **list, char to[64])
{
    const size_t n = strcspn(*list, " ");
    snprintf(to, 64, "%.*s", (int)n, *list);
    *list += n + strspn(*list + n, " ");
    return to;
}

static const char *compare_words(const struct opcode *so_far)
{
    return ptx_type_is_float(so_far->first)    ? "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
           : ptx_type_is_signed(so_far->first) ? "eq|ne|lt|le|gt|ge"
                                               : "eq|ne|lt|le|gt|ge|lo|ls|hi|hs";
}

static void add_required(struct gen *g, const struct ir_row *row, struct opcode *to)
{
    char word[64];
    for (const char *w = row->required; *w;) {
        next_word(&w, word);
        add_suffix(to, pick_word(g, strcmp(word, "%cmp") == 0 ? compare_words(to)
                                    : *word == '%'            ? group_words(word)
                                                              : word));
    }
}

static void add_optional(struct gen *g, const struct ir_row *row, struct opcode *to)
{
    char word[64];
    const bool prmt = row - ir_rows == IR_PRMT_MODE;
    const int wanted = prmt ? pick(g, 6) : -1;
    const bool is_half = to->first == PTX_TYPE_f16x2 || to->first == PTX_TYPE_bf16x2;
    int i = 0;
    for (const char *w = row->optional; *w; i++) {
        next_word(&w, word);
        if (prmt ? i != wanted : !chance(g, strcmp(word, "%rnd") == 0 ? 75 : 35))
            continue;
        if (strcmp(word, "%bool") == 0)
            to->has_boolean = true;
        /* setp of halves has only one rounding */
        const bool one_rounding = is_half && strcmp(word, "%rnd") == 0;
        add_suffix(to, one_rounding ? "rn" : *word == '%' ? pick_word(g, group_words(word)) : word);
    }
}

/* ---- operands --------------------------------------------------------------------------------- */

static char kind_of_type(enum ptx_type type)
{
    if (type == PTX_TYPE_pred)
        return 'p';
    if (type == PTX_TYPE_f32)
        return 'f';
    if (type == PTX_TYPE_f64)
        return 'd';
    const size_t bytes = ptx_type_bytes(type);
    return bytes == 8 ? 'q' : bytes == 2 ? 'h' : 'r';
}

/* The kind of register for a column. If an operation computes 16-bit values in 32 bits, only the
 * suffix shows that the register has 16 bits. */
static char column_kind(const struct ir_row *row, const struct opcode *o, const struct ir_column *c)
{
    if (strcmp(c->type, "h16") == 0)
        return 'h';
    const enum ptx_type type = !c->type[0] ? o->first
                               : strcmp(c->type, "2") == 0
                                   ? o->second
                                   : ptx_type_find(c->type, strlen(c->type));
    const char kind = kind_of_type(type);
    const bool is_shift = kind == 'r' && c->field == 'b' && strstr(row->operands, "h16");
    if (kind == 'r' && !is_shift && row->is_lane && o->type_count == 1 &&
        ptx_type_bytes(o->first) == 2 && !strstr(row->operands, "h16"))
        return 'h';
    return kind;
}

static void add_operand(struct gen *g, const struct opcode *o, const struct ir_column *c, char kind,
                        char *to)
{
    if (c->field == 'd') {
        strcat(to, to_register(g, kind));
        /* a comparison of pairs has two results */
        const bool pair = o->first == PTX_TYPE_f16x2 || o->first == PTX_TYPE_bf16x2;
        if (c->has_second && (pair || chance(g, 30)))
            strcat(strcat(to, "|"), to_register(g, 'p'));
        return;
    }
    const bool is_condition = kind == 'p' && c->field == 'c';
    if (is_condition && o->has_boolean && chance(g, 30))
        strcat(to, "!");
    strcat(to, is_condition ? from_register(g, kind) : from_value(g, kind));
}

void gen_row(struct gen *g, int number)
{
    const struct ir_row *row = &ir_rows[number];
    struct opcode o = {.text = ""};
    char operands[160] = "";
    struct ir_column c;
    const char *columns = row->operands;
    add_required(g, row, &o);
    add_optional(g, row, &o);
    const char *base = pick_word(g, row->base);
    while (ir_column_next(&columns, &c)) {
        if (c.is_optional && !(c.field == 'c' && o.has_boolean))
            continue;
        strcat(operands, *operands ? ", " : " ");
        add_operand(g, &o, &c, column_kind(row, &o, &c), operands);
    }
    emit(g, "%s%s%s%s%s;", guard(g), base, o.text, o.types, operands);
}

/* The operands of video instructions depend on their suffixes: cases/video.ptx tests them. */
static bool is_video(int row)
{
    return row >= IR_VIDEO_SUM && row <= IR_VIDEO_SETS;
}

/* Any row that this file can generate. */
static int any_row(struct gen *g)
{
    const int shapes = sizeof shaped / sizeof *shaped;
    int row = pick(g, IR_OPS + shapes);
    if (row >= IR_OPS)
        return shaped[row - IR_OPS];
    while (!ir_rows[row].is_lane || is_video(row))
        row = (row + 1) % IR_OPS;
    return row;
}

void gen_arithmetic(struct gen *g)
{
    for (int i = 1 + pick(g, 4); i > 0; i--)
        gen_row(g, chance(g, 50) ? common[pick(g, sizeof common / sizeof *common)] : any_row(g));
}

/* Changes a value that is uniform in the block. */
void gen_uniform(struct gen *g)
{
    const int to = pick(g, GEN_U), a = pick(g, GEN_U), b = pick(g, GEN_U);
    if (!gen_is_uniform(g))
        gen_arithmetic(g);
    else if (chance(g, 30))
        emit(g, "mad.lo.u32 %%u%d, %%u%d, %d, %%u%d;", to, a, 1 + pick(g, 100), b);
    else
        emit(g, "%s %%u%d, %%u%d, %d;", pick_word(g, "add.s32|xor.b32|shr.u32|sub.s32|mul.lo.u32"),
             to, a, pick(g, 20));
}
