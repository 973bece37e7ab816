/* Decoder of video instructions: operations on bytes and halves of registers. */
#include "vgpu/ptx/ptx_decoder.h"

#include <stdlib.h>
#include <string.h>

/* @return the index of the suffix that the opcode has, plus 1; 0: none */
static uint32_t suffix_of(const struct decoder *d, const char *const *texts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_suffixes_have(&d->suffixes, texts[i]))
            return i + 1;
    return 0;
}

/* Splits "%r1.h0" into register and part. */
static struct ptx_operand part_of(struct decoder *d, const struct ptx_operand *o, uint32_t *part)
{
    static const char *const parts[] = {"b0", "b1", "b2", "b3", "h0", "h1"};
    struct ptx_operand to = *o;
    const char *dot = o->kind == PTX_NAME && o->name ? strrchr(o->name, '.') : NULL;
    *part = VIDEO_WHOLE;
    for (uint32_t i = 0; dot && i < VIDEO_WHOLE; i++)
        if (strcmp(dot + 1, parts[i]) == 0) {
            const size_t n = (size_t)(dot - o->name);
            char *name = ptx_arena_alloc(&d->ast->arena, n + 1);
            memcpy(name, o->name, n);
            name[n] = '\0';
            to.name = name;
            *part = i;
        }
    return to;
}

static uint32_t operation_of(const char *opcode)
{
    static const char *const names[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax",
                                        "vshl", "vshr", "vmad",     "vset"};
    const size_t n = strcspn(opcode, ".24");
    uint32_t i = 0;
    while (strlen(names[i]) != n || strncmp(opcode, names[i], n) != 0)
        i++;
    return i;
}

/* c: the third operand, or 0; e: a constant of enum ir_video */
void decode_VIDEO(struct decoder *d, struct ir_insn *in)
{
    static const char *const seconds[] = {"add", "min", "max"}, *const scales[] = {"shr7", "shr15"};
    static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const uint32_t compare = suffix_of(d, compares, 6), second = suffix_of(d, seconds, 3);
    const bool is_many = strchr("24", d->in->opcode[strcspn(d->in->opcode, ".") - 1]) != NULL;
    const int first = compare ? 0 : 1; /* the type of a; a comparison's result has none */
    uint32_t parts[3];
    struct ptx_operand o[3];
    for (int i = 0; i < 3; i++)
        o[i] = part_of(d, operand(d, i), &parts[i]);
    const enum ptx_type *types = d->suffixes.types;
    uint32_t how = operation_of(d->in->opcode) | second << VIDEO_SECOND_SHIFT |
                   parts[1] << VIDEO_A_SHIFT | parts[2] << VIDEO_B_SHIFT |
                   parts[0] << VIDEO_D_SHIFT | suffix_of(d, scales, 2) << VIDEO_SCALE_SHIFT |
                   (compare ? compare - 1 : 0) << VIDEO_COMPARE_SHIFT;
    how |= !compare && types[0] == PTX_TYPE_s32 ? VIDEO_D_SIGNED : 0;
    how |= types[first] == PTX_TYPE_s32 ? VIDEO_A_SIGNED : 0;
    how |= types[first + 1] == PTX_TYPE_s32 ? VIDEO_B_SIGNED : 0;
    how |= ir_suffixes_have(&d->suffixes, "sat") ? VIDEO_SATURATES : 0;
    how |= ir_suffixes_have(&d->suffixes, "wrap") ? VIDEO_WRAP : 0;
    how |= ir_suffixes_have(&d->suffixes, "po") ? VIDEO_PLUS_ONE : 0;
    how |= is_many && strchr(d->in->opcode, '4') &&
                   strcspn(d->in->opcode, "4") < strcspn(d->in->opcode, ".")
               ? VIDEO_BYTES
               : 0;
    in->d = destination(d, o[0].name, 4);
    in->a = source(d, &o[1], 4, PTX_TYPE_u32);
    in->b = source(d, &o[2], 4, PTX_TYPE_u32);
    const bool merges = parts[0] != VIDEO_WHOLE;
    if (second || merges || (how & VIDEO_OPERATION) == VIDEO_OP_MAD)
        in->c = source(d, operand(d, 3), 4, PTX_TYPE_u32);
    else
        in->c = constant(d, 0, false);
    in->e = constant(d, how, false);
    if ((second && merges) ||
        (is_many && (merges || parts[1] != VIDEO_WHOLE || parts[2] != VIDEO_WHOLE)))
        decode_problem(d, "this combination of parts of registers is not supported");
}
