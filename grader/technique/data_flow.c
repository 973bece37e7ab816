#include "grader/technique/data_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void flow_buffers_start(struct flow_buffers *buffers)
{
    memset(buffers, 0, sizeof *buffers);
    buffers->n = FLOW_IS_Y + 1;
    buffers->buffer[FLOW_IS_X].data = FLOW_X;
    buffers->buffer[FLOW_IS_K].data = FLOW_K;
    buffers->buffer[FLOW_IS_Y].data = FLOW_Y;
}

int flow_buffer_number(struct flow_buffers *buffers, const char *name, size_t length)
{
    for (int i = 0; i < buffers->n; i++)
        if (strlen(buffers->buffer[i].name) == length &&
            strncmp(buffers->buffer[i].name, name, length) == 0)
            return i;
    if (buffers->n == FLOW_MAX_BUFFERS)
        return FLOW_MAX_BUFFERS - 1;
    struct flow_buffer *b = &buffers->buffer[buffers->n];
    *b = (struct flow_buffer){0};
    snprintf(b->name, sizeof b->name, "%.*s", (int)length, name);
    return buffers->n++;
}

void flow_launch_open(struct flow_launch *l, const struct kernel_code *code,
                      struct flow_buffers *buffers, const char *pointers)
{
    *l = (struct flow_launch){.code = code};
    l->reg = calloc((size_t)code->registers + 1, sizeof *l->reg);
    if (!l->reg)
        abort();
    for (int b = 0; b < code->bases; b++) {
        const struct kc_base *base = &code->base[b];
        l->buffer[b] = base->kind == KC_CONST || base->kind == KC_GLOBAL
                           ? flow_buffer_number(buffers, base->name, strlen(base->name))
                           : -1;
    }
    for (const char *at = pointers; *at;) {
        char *end;
        size_t offset = strtoul(at, &end, 10);
        const char *place = *end == '=' ? end + 1 : end;
        size_t word = strcspn(place, " "), name = strcspn(place, "+ ");
        for (int b = 0; b < code->bases; b++)
            if (code->base[b].kind == KC_PARAM && code->base[b].offset == offset)
                l->buffer[b] = flow_buffer_number(buffers, place, name);
        at = place + word;
        at += strspn(at, " ");
    }
}

void flow_launch_close(struct flow_launch *l)
{
    free(l->reg);
    l->reg = NULL;
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* Whether an instruction of a state space can reach a base. */
static bool reaches(enum ptx_space space, enum kc_base_kind kind)
{
    switch (space) {
    case PTX_SPACE_GENERIC:
        return true;
    case PTX_SPACE_GLOBAL:
        return kind == KC_PARAM || kind == KC_GLOBAL;
    case PTX_SPACE_SHARED:
        return kind == KC_SHARED;
    case PTX_SPACE_CONST:
        return kind == KC_CONST;
    case PTX_SPACE_LOCAL:
        return kind == KC_LOCAL;
    default:
        return kind == KC_PARAM;
    }
}

uint64_t flow_bases(const struct flow_launch *l, const struct kc_insn *in,
                    const struct kc_address *address)
{
    enum ptx_space space = address == &in->from ? PTX_SPACE_GLOBAL : (enum ptx_space)in->space;
    uint64_t all = 0, may = 0;
    if (address->base >= 0)
        may = UINT64_C(1) << address->base;
    else if (address->reg >= 0)
        may = l->reg[address->reg].bases;
    for (int b = 0; b < l->code->bases; b++)
        if (reaches(space, l->code->base[b].kind))
            all |= UINT64_C(1) << b;
    may &= all;
    /* Shared memory that is reached by a number: it may be any of it. */
    return !may && space == PTX_SPACE_SHARED ? all : may;
}

struct flow_value flow_sources(const struct flow_launch *l, const struct kc_insn *in, int first,
                               int end)
{
    struct flow_value v = {0};
    for (int i = first; i < end && i < in->sources; i++) {
        if (in->source[i] >= 0) {
            v.bases |= l->reg[in->source[i]].bases;
            v.data |= l->reg[in->source[i]].data;
        }
        if (in->source_base[i] >= 0)
            v.bases |= UINT64_C(1) << in->source_base[i];
    }
    return v;
}

/* ---- forward -------------------------------------------------------------------------------- */

static bool put(struct flow_value *to, struct flow_value v)
{
    bool changed = (v.bases & ~to->bases) || (v.data & ~to->data);
    to->bases |= v.bases;
    to->data |= v.data;
    return changed;
}

/* What lies behind an address. */
static struct flow_value loaded(const struct flow_launch *l, const struct flow_buffers *buffers,
                                const struct kc_insn *in, const struct kc_address *address)
{
    struct flow_value v = {0};
    uint64_t bases = flow_bases(l, in, address);
    for (int b = 0; b < l->code->bases; b++) {
        if (!(bases >> b & 1))
            continue;
        const enum kc_base_kind kind = l->code->base[b].kind;
        if (kind == KC_PARAM && in->space == PTX_SPACE_PARAM) {
            v.bases |= UINT64_C(1) << b; /* the pointer itself */
        } else if (kind == KC_SHARED || kind == KC_LOCAL) {
            v.bases |= l->memory[b].bases;
            v.data |= l->memory[b].data;
            if (kind == KC_SHARED && l->memory[b].data)
                v.data |= FLOW_SHARED;
        } else if (l->buffer[b] >= 0 && buffers->buffer[l->buffer[b]].data) {
            v.data |= buffers->buffer[l->buffer[b]].data;
            v.data |= kind == KC_CONST ? FLOW_CONST : l->buffer[b] > FLOW_IS_Y ? FLOW_BUFFER : 0;
        }
    }
    return v;
}

uint8_t flow_copied(const struct flow_launch *l, const struct flow_buffers *buffers,
                    const struct kc_insn *in)
{
    return loaded(l, buffers, in, &in->from).data;
}

static bool store(struct flow_launch *l, struct flow_buffers *buffers, const struct kc_insn *in,
                  struct flow_value v)
{
    bool changed = false;
    uint64_t bases = flow_bases(l, in, &in->address);
    for (int b = 0; b < l->code->bases; b++) {
        if (!(bases >> b & 1))
            continue;
        if (l->code->base[b].kind == KC_SHARED || l->code->base[b].kind == KC_LOCAL) {
            changed |= put(&l->memory[b], v);
        } else if (l->buffer[b] >= 0) {
            struct flow_buffer *to = &buffers->buffer[l->buffer[b]];
            changed |= (v.data & ~to->data) != 0;
            to->data |= v.data;
        }
    }
    return changed;
}

/* Two factors, one of x and one of k. */
static bool multiplies(const struct flow_launch *l, const struct kc_insn *in)
{
    if (in->kind != KC_MULTIPLY || in->sources < 2)
        return false;
    uint8_t a = flow_sources(l, in, 0, 1).data, b = flow_sources(l, in, 1, 2).data;
    return ((a & FLOW_X) && (b & FLOW_K)) || ((a & FLOW_K) && (b & FLOW_X));
}

static bool forward(struct flow_launch *l, struct flow_buffers *buffers)
{
    bool changed = false;
    for (size_t i = 0; i < l->code->insn_count; i++) {
        const struct kc_insn *in = &l->code->insns[i];
        struct flow_value v = flow_sources(l, in, 0, in->sources);
        if (in->kind == KC_LOAD)
            v = loaded(l, buffers, in, &in->address);
        else if (in->kind == KC_MULTIPLY && multiplies(l, in))
            v.data |= FLOW_PRODUCT;
        else if (in->kind == KC_STORE || in->kind == KC_ATOMIC)
            changed |= store(l, buffers, in, v);
        else if (in->kind == KC_COPY)
            changed |= store(l, buffers, in, loaded(l, buffers, in, &in->from));
        for (int d = 0; d < in->dests; d++)
            changed |= put(&l->reg[in->dest[d]], v);
    }
    return changed;
}

/* ---- backward ------------------------------------------------------------------------------- */

static bool need(uint8_t *to, uint8_t ways)
{
    bool changed = (ways & ~*to) != 0;
    *to |= ways;
    return changed;
}

/* How what is stored at an address reaches y. */
static uint8_t ways_of(const struct flow_launch *l, const struct flow_buffers *buffers,
                       const struct kc_insn *in)
{
    uint8_t ways = 0;
    uint64_t bases = flow_bases(l, in, &in->address);
    for (int b = 0; b < l->code->bases; b++) {
        if (!(bases >> b & 1))
            continue;
        if (l->code->base[b].kind == KC_SHARED || l->code->base[b].kind == KC_LOCAL)
            ways |= l->memory[b].ways;
        else if (l->buffer[b] == FLOW_IS_Y)
            ways |= in->kind == KC_ATOMIC ? FLOW_BY_ATOMIC : FLOW_BY_STORE;
        else if (l->buffer[b] >= 0)
            ways |= buffers->buffer[l->buffer[b]].ways;
    }
    return ways;
}

/* What lies behind an address is needed. */
static bool need_memory(struct flow_launch *l, struct flow_buffers *buffers,
                        const struct kc_insn *in, const struct kc_address *address, uint8_t ways)
{
    bool changed = false;
    uint64_t bases = flow_bases(l, in, address);
    for (int b = 0; b < l->code->bases; b++) {
        if (!(bases >> b & 1))
            continue;
        if (l->code->base[b].kind == KC_SHARED || l->code->base[b].kind == KC_LOCAL)
            changed |= need(&l->memory[b].ways, ways);
        else if (l->buffer[b] >= 0 && l->buffer[b] != FLOW_IS_Y)
            changed |= need(&buffers->buffer[l->buffer[b]].ways, ways);
    }
    return changed;
}

static bool backward(struct flow_launch *l, struct flow_buffers *buffers)
{
    bool changed = false;
    for (size_t i = l->code->insn_count; i-- > 0;) {
        const struct kc_insn *in = &l->code->insns[i];
        uint8_t ways = 0;
        for (int d = 0; d < in->dests; d++)
            ways |= l->reg[in->dest[d]].ways;
        if (in->kind == KC_STORE || in->kind == KC_ATOMIC)
            ways = ways_of(l, buffers, in);
        if (in->kind == KC_LOAD && ways)
            changed |= need_memory(l, buffers, in, &in->address, ways);
        if (in->kind == KC_COPY)
            changed |= need_memory(l, buffers, in, &in->from, ways_of(l, buffers, in));
        for (int s = 0; s < in->sources && ways; s++)
            if (in->source[s] >= 0)
                changed |= need(&l->reg[in->source[s]].ways, ways);
    }
    return changed;
}

static bool copy_all(struct flow_buffers *buffers, bool is_forward)
{
    bool changed = false;
    for (int i = 0; i < buffers->copies; i++) {
        struct flow_buffer *to = &buffers->buffer[buffers->copy[i].to];
        struct flow_buffer *from = &buffers->buffer[buffers->copy[i].from];
        if (is_forward) {
            changed |= (from->data & ~to->data) != 0;
            to->data |= from->data;
        } else {
            uint8_t ways = buffers->copy[i].to == FLOW_IS_Y ? FLOW_BY_STORE : to->ways;
            changed |= need(&from->ways, ways);
        }
    }
    return changed;
}

void flow_solve(struct flow_launch *launches, size_t n, struct flow_buffers *buffers)
{
    for (bool changed = true; changed;) {
        changed = copy_all(buffers, true);
        for (size_t i = 0; i < n; i++)
            changed |= forward(&launches[i], buffers);
    }
    for (bool changed = true; changed;) {
        changed = copy_all(buffers, false);
        for (size_t i = 0; i < n; i++)
            changed |= backward(&launches[i], buffers);
    }
}
