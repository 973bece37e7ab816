/* The rows of opcodes.def, and the search for the row of an opcode. */
#include "vgpu/ptx/ptx_decoder.h"

#include <string.h>

#define HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS)                                                     \
    .id = #ID, .base = BASE, .required = REQ, .optional = OPT, .class = IR_CLASS_##CLASS,          \
    .slots = SLOTS
#define LANE(COLUMNS, TEXT)                                                                        \
    .operands = COLUMNS, .decode = decode_PLAIN, .operation = TEXT, .is_lane = true
#define LANE1(ID, BASE, REQ, OPT, CLASS, SLOTS, D, A, EXPR)                                        \
    {HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS), LANE("d:" #D " a:" #A, #EXPR)},
#define LANE2(ID, BASE, REQ, OPT, CLASS, SLOTS, D, A, B, EXPR)                                     \
    {HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS), LANE("d:" #D " a:" #A " b:" #B, #EXPR)},
#define LANE3(ID, BASE, REQ, OPT, CLASS, SLOTS, D, A, B, C, EXPR)                                  \
    {HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS), LANE("d:" #D " a:" #A " b:" #B " c:" #C, #EXPR)},
#define LANE4(ID, BASE, REQ, OPT, CLASS, SLOTS, D, A, B, C, E, EXPR)                               \
    {HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS),                                                       \
     LANE("d:" #D " a:" #A " b:" #B " c:" #C " e:" #E, #EXPR)},
#define VIDEO(ID, BASE, REQ, OPT, CLASS, SLOTS, D, A, B, C, E, EXPR)                               \
    {HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS), .operands = "d:u32 a:u32 b:u32 c:u32? e:u32?",        \
     .decode = decode_VIDEO, .operation = #EXPR, .is_lane = true},
#define CAST(ID, REQ, OPT, CLASS, SLOTS, D, A, EXPR)                                               \
    {HEAD(ID, "cvt", REQ, OPT, CLASS, SLOTS), LANE("d:" #D " a:" #A, #EXPR), .is_exact = true},
#define SHAPE(ID, BASE, REQ, OPT, CLASS, SLOTS, COLUMNS, DECODER, TEXT)                            \
    HEAD(ID, BASE, REQ, OPT, CLASS, SLOTS), .operands = COLUMNS, .decode = decode_##DECODER,       \
                                            .operation = TEXT
#define SHAPED(...)   {SHAPE(__VA_ARGS__)},
#define WARP(...)     {SHAPE(__VA_ARGS__), .whole_warp = true},
#define TOGETHER(...) {SHAPE(__VA_ARGS__), .whole_warp = true, .is_together = true},
#define INTERNAL(ID, CLASS, SLOTS, TEXT)                                                           \
    {HEAD(ID, "(internal)", "", "", CLASS, SLOTS), .operation = TEXT},
#define decode_IGNORED NULL
const struct ir_row ir_rows[IR_OPS] = {
#include "vgpu/ptx/opcodes.def"
};

static bool row_fits(const struct ir_row *row, const char *base, const struct ir_suffixes *s)
{
    if (!row->operands || !ir_words_have(row->base, strlen(row->base), base))
        return false;
    bool used[SUFFIXES_MOST] = {false};
    int last_type = -1; /* type suffixes are in order: d's before a's */
    for (const char *w = row->required; *w;) {
        size_t n = strcspn(w, " ");
        int i = 0;
        while (i < s->count && (used[i] || !ir_words_have(w, n, s->text[i])))
            i++;
        if (i == s->count)
            return false;
        used[i] = true;
        if (ptx_type_find(s->text[i], strlen(s->text[i])) != PTX_TYPE_none) {
            if (i < last_type)
                return false;
            last_type = i;
        }
        w += n + strspn(w + n, " ");
    }
    for (int i = 0; i < s->count; i++) {
        bool known = used[i];
        for (const char *w = row->optional; *w && !known;) {
            size_t n = strcspn(w, " ");
            known = ir_words_have(w, n, s->text[i]);
            w += n + strspn(w + n, " ");
        }
        if (!known)
            return false;
    }
    return true;
}

int ir_row_find(const char *base, const struct ir_suffixes *suffixes, int from)
{
    for (int i = from; i < IR_OPS; i++)
        if (row_fits(&ir_rows[i], base, suffixes))
            return i;
    return -1;
}
