/* Words that are copied byte by byte, for instance by memcpy() of a length unknown to the compiler.
 * In the origin of a loaded byte, `high` is the element of its word: instructions on bytes or on
 * 32-bit numbers ignore it. `lost` is the word's loss (byte 0), or a NaN that contains the byte's
 * number (others), so that these bytes are not numbers for instructions on 16 bits. If a thread
 * stores all four bytes of one element to a word, in any order, the word gets this element with the
 * last byte. */
#include "vgpu/exec/proof.h"

#include <stdlib.h>

enum { NOT_A_NUMBER = 0x7fff0000 };

struct proof_bytes {
    uint64_t address;    /* of the word */
    uint32_t element;    /* of the stored bytes */
    uint32_t seen;       /* the set of these bytes */
    struct origin first; /* of byte 0 */
};

static void load_byte(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                      const uint64_t at[VG_LANES], uint32_t offset, uint32_t slot)
{
    struct origin o[VG_LANES] = {{0}};
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint64_t address = at[i] + offset;
        const uint32_t byte = address & 3;
        const struct proof_place from = proof_place(w, in, i, address - byte);
        if (!from.origin || !from.origin->low || from.origin->high)
            continue;
        const struct origin all = byte ? *from.origin : proof_fetch(w, in, from, -1);
        o[i] = all;
        o[i].low = 0;
        o[i].high = all.low;
        o[i].lost = byte ? NOT_A_NUMBER | byte : all.lost;
    }
    proof_put(w, slot, lanes, o, 1, 0);
}

void proof_load_bytes(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    proof_addresses(w, in, at);
    for (int k = 0; k < in->vector; k++)
        load_byte(in, w, lanes, at, (uint32_t)k, proof_element_slot(w, in, k, in->d));
}

static bool is_byte(struct origin o, uint32_t number)
{
    const bool is_first = o.lost <= NOT_A_NUMBER || o.lost > (NOT_A_NUMBER | 3);
    return o.high && !o.low && (number ? o.lost == (NOT_A_NUMBER | number) : is_first);
}

/* @return the new origin of the word to which a byte is stored */
static struct origin add_byte(struct proof_bytes *to, uint64_t address, struct origin byte)
{
    const uint32_t number = address & 3;
    if (to->address != address - number || to->element != byte.high)
        *to = (struct proof_bytes){.address = address - number, .element = byte.high};
    to->seen = is_byte(byte, number) ? to->seen | 1U << number : 0;
    if (!number)
        to->first = byte;
    if (to->seen != 15)
        return (struct origin){0};
    to->seen = 0;
    struct origin all = to->first;
    all.low = all.high;
    all.high = 0;
    return all;
}

static void store_byte(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes,
                       const uint64_t at[VG_LANES], uint32_t offset, uint32_t slot)
{
    const bool holds = proof_holds(w, slot);
    if (holds && !w->proof.bytes)
        w->proof.bytes = calloc(VG_LANES, sizeof *w->proof.bytes);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint64_t address = at[i] + offset;
        struct origin o = {0};
        if (w->proof.bytes)
            o = add_byte(&w->proof.bytes[i], address, holds ? proof_slot(w, slot)[i] : o);
        proof_keep(w, in, proof_place(w, in, i, address & ~UINT64_C(3)), -1, o);
    }
}

void proof_store_bytes(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    proof_addresses(w, in, at);
    for (int k = 0; k < in->vector; k++)
        store_byte(in, w, lanes, at, (uint32_t)k, proof_element_slot(w, in, k, in->b));
}
