/* Words that are copied byte by byte, for instance by memcpy() of a length unknown to the compiler.
 * In the origin of a loaded byte, `high` is the element of its word: instructions on bytes or on
 * 32-bit numbers ignore it. `lost` is the word's loss (byte 0), or a NaN that contains the byte's
 * number (others), so that these bytes are not numbers for instructions on 16 bits. If a thread
 * stores all four bytes of one element to a word, the word gets this element with the last byte. */
#include "vgpu/exec/proof.h"

#include <stdlib.h>

enum { NOT_A_NUMBER = 0x7fff0000 };

struct proof_bytes {
    uint64_t address;
    struct origin origin;
    uint32_t next; /* the byte expected next */
};

void proof_load_byte(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    struct origin o[VG_LANES] = {{0}};
    proof_addresses(w, in, at);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        const uint32_t byte = at[i] & 3;
        const struct proof_place from = proof_place(w, in, i, at[i] - byte);
        if (!from.origin || !from.origin->low || from.origin->high)
            continue;
        const struct origin all = byte ? *from.origin : proof_fetch(w, in, from, -1);
        o[i] = all;
        o[i].low = 0;
        o[i].high = all.low;
        o[i].lost = byte ? NOT_A_NUMBER | byte : all.lost;
    }
    proof_put(w, in->d, lanes, o, 1, 0);
}

/* @return the new origin of the word to which a byte is stored */
static struct origin add_byte(struct proof_bytes *to, uint64_t address, struct origin byte)
{
    const uint32_t number = address & 3;
    if (!byte.high || byte.low)
        *to = (struct proof_bytes){0};
    else if (!number)
        *to = (struct proof_bytes){address, byte, 1};
    else if (to->next == number && to->address == address - number &&
             to->origin.high == byte.high && byte.lost == (NOT_A_NUMBER | number))
        to->next++;
    else
        to->next = 0;
    if (to->next != 4)
        return (struct origin){0};
    to->origin.low = to->origin.high;
    to->origin.high = 0;
    return to->origin;
}

void proof_store_byte(const struct ir_insn *in, struct vg_warp *w, uint32_t lanes)
{
    uint64_t at[VG_LANES];
    const bool holds = proof_holds(w, in->b);
    if (holds && !w->proof.bytes)
        w->proof.bytes = calloc(VG_LANES, sizeof *w->proof.bytes);
    proof_addresses(w, in, at);
    for (uint32_t left = lanes; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        struct origin o = {0};
        if (w->proof.bytes)
            o = add_byte(&w->proof.bytes[i], at[i], holds ? proof_slot(w, in->b)[i] : o);
        proof_keep(w, in, proof_place(w, in, i, at[i] & ~UINT64_C(3)), -1, o);
    }
}
