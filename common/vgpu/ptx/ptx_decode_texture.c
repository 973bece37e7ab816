/* Decoders of texture and surface instructions (exec/texture_fetch.h). */
#include "vgpu/ptx/ptx_decoder.h"

/* Sets the kind of an instruction's texture. @return the number of its coordinates */
static int texture_geometry(const struct decoder *d, struct ir_insn *in)
{
    static const struct {
        const char *text;
        uint8_t dimensions, layered, coordinates;
    } kinds[] = {{"1d", 1, 0, 1},
                 {"2d", 2, 0, 2},
                 {"3d", 3, 0, 4},
                 {"a1d", 1, 1, 2},
                 {"a2d", 2, 1, 4},
                 {"cube", IR_TEXTURE_CUBE, 0, 4},
                 {"acube", IR_TEXTURE_CUBE, 1, 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ir_suffixes_have(&d->suffixes, kinds[i].text)) {
            in->compare = kinds[i].dimensions;
            in->boolean = kinds[i].layered;
            return kinds[i].coordinates;
        }
    return 0;
}

/* a: the texture or surface object; extra: the coordinates' slots, the layer first */
static void texture_place(struct decoder *d, struct ir_insn *in, const struct ptx_operand *o,
                          enum ptx_type type)
{
    int n = texture_geometry(d, in);
    struct slot s;
    in->site = ++d->module->site_count;
    if (o->kind != PTX_ADDRESS || !o->name || !slot_exists(d, o->name, &s) ||
        slot_bytes(s.type) != 256) {
        decode_problem(d, "a texture object in a 64-bit register is expected");
        return;
    }
    in->a = s.offset;
    if (o->elements < n || o->elements > 4) {
        decode_problem(d, "%d coordinates are expected", n);
        return;
    }
    for (int i = 0; i < 4; i++) {
        /* the first coordinate of a layered texture is an integer, the layer */
        enum ptx_type one = i == 0 && in->boolean ? PTX_TYPE_s32 : type;
        decode_extra(d, in,
                     i < o->elements ? source(d, &d->in->operands[o->first + i], 4, one) : 0);
    }
}

/* The gradients of the coordinates: two lists, of which the first elements count. */
static void texture_gradients(struct decoder *d, struct ir_insn *in)
{
    const int n = in->compare == IR_TEXTURE_CUBE ? 3 : in->compare;
    for (int i = 2; i < 4; i++) {
        const struct ptx_operand *list = operand(d, i);
        if (list->kind != PTX_VECTOR || list->elements < n) {
            decode_problem(d, "a gradient of %d numbers is expected", n);
            return;
        }
        for (int k = 0; k < n; k++)
            decode_extra(d, in, source(d, element(d, list, k), 4, PTX_TYPE_f32));
    }
}

/* compare: dimensions, or IR_TEXTURE_CUBE; boolean: layered; type, type2: of texels and
 * coordinates; sub: 0, or 1 + c for a gather of component c; b: the level of a mipmap, or 0;
 * extra: 4 coordinates, then vector destinations, then the gradients if there are any */
void decode_TEX(struct decoder *d, struct ir_insn *in)
{
    const bool level = ir_suffixes_have(&d->suffixes, "level");
    const bool gradients = ir_suffixes_have(&d->suffixes, "grad");
    static const char *const components[] = {"r", "g", "b", "a"};
    in->vector = (uint8_t)d->suffixes.vector;
    in->sub = 0;
    for (int i = 0; in->op == IR_TLD4 && i < 4; i++)
        if (ir_suffixes_have(&d->suffixes, components[i]))
            in->sub = (uint8_t)(i + 1);
    texture_place(d, in, operand(d, 1), (enum ptx_type)in->type2);
    if (list_check(d, operand(d, 0), in->vector))
        list_destinations(d, in, operand(d, 0), 4);
    if (level)
        in->b = source(d, operand(d, 2), 4, PTX_TYPE_f32);
    if (gradients)
        texture_gradients(d, in);
    if (d->in->count > 2 + level + 2 * gradients)
        decode_problem(d, "offsets of texels and comparisons of depths are not supported");
}

/* bytes, vector: of an access; sub: 0 trap, 1 clamp, 2 zero; extra: 4 coordinates, then the values'
 * slots */
void decode_SURFACE(struct decoder *d, struct ir_insn *in)
{
    const bool is_store = in->op == IR_SUST;
    const struct ptx_operand *list = operand(d, is_store ? 1 : 0);
    in->bytes = (uint8_t)ptx_type_bytes(d->suffixes.types[0]);
    in->vector = (uint8_t)d->suffixes.vector;
    in->sub = ir_suffixes_have(&d->suffixes, "clamp")  ? 1
              : ir_suffixes_have(&d->suffixes, "zero") ? 2
                                                       : 0;
    texture_place(d, in, operand(d, is_store ? 0 : 1), PTX_TYPE_s32);
    if (!list_check(d, list, in->bytes * in->vector > 16 ? -1 : in->vector))
        return;
    if (is_store)
        list_sources(d, in, list, in->bytes, (enum ptx_type)in->type);
    else
        list_destinations(d, in, list, in->bytes);
}
