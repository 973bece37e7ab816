/* The decoder's walk over a module:
 *
 *  1. shared variables get their places: those of the module first, then those of device functions,
 *     then each kernel's own (what a kernel does not use behind its last one costs it nothing);
 *  2. parameters and locals get their places in the local memory of a call;
 *  3. guarded instructions that can block or jump become a branch around an unguarded one;
 *  4. basic blocks and meeting points are found, instructions decoded one by one;
 *  5. branch targets, which were blocks, become instructions. */
#include "vgpu/ptx/ptx_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t align_up(size_t n, size_t alignment)
{
    return alignment ? (n + alignment - 1) / alignment * alignment : n;
}

void decode_problem(struct decoder *d, const char *text, ...)
{
    struct problems *p = d->problems;
    if (p->count < MAX_PROBLEMS && p->used < sizeof p->text - 1) {
        char what[160];
        va_list args;
        va_start(args, text);
        vsnprintf(what, sizeof what, text, args);
        va_end(args);
        const struct ir_location *at = d->location >= 0 ? &d->module->locations[d->location] : NULL;
        int n = snprintf(p->text + p->used, sizeof p->text - p->used, "%sPTX line %d",
                         p->used ? "; " : "", d->in ? d->in->line : d->function->line);
        p->used += (size_t)n;
        if (at && p->used < sizeof p->text) {
            const char *slash = strrchr(at->file, '/');
            n = snprintf(p->text + p->used, sizeof p->text - p->used, " (%.60s:%d)",
                         slash ? slash + 1 : at->file, at->line);
            p->used += (size_t)n;
        }
        if (p->used < sizeof p->text) {
            n = snprintf(p->text + p->used, sizeof p->text - p->used, ": %.60s%s%.100s",
                         d->in ? d->in->opcode : "", d->in ? ": " : "", what);
            p->used += (size_t)n;
        }
        if (p->used >= sizeof p->text)
            p->used = sizeof p->text - 1;
    }
    p->count++;
}

struct ir_insn decode_start(const struct decoder *d, enum ir_op op)
{
    struct ir_insn in = {0};
    in.op = (uint16_t)op;
    in.imm = 0;
    in.block = d->block;
    in.location = d->location;
    in.ptx_line = d->in ? d->in->line : 0;
    return in;
}

struct ir_insn *decode_append(struct decoder *d, const struct ir_insn *in)
{
    struct ir_function *f = d->to;
    f->insns = ptx_grow(f->insns, f->insn_count, &f->insn_room, sizeof *f->insns);
    struct ir_insn *to = &f->insns[f->insn_count];
    *to = *in;
    to->index = (uint32_t)f->insn_count++;
    return to;
}

struct ir_insn *decode_emit(struct decoder *d, enum ir_op op)
{
    struct ir_insn in = decode_start(d, op);
    return decode_append(d, &in);
}

void decode_extra(struct decoder *d, struct ir_insn *in, uint32_t word)
{
    struct ir_function *f = d->to;
    if (!in->extras)
        in->extra = (uint32_t)f->extra_count;
    f->extra = ptx_grow(f->extra, f->extra_count, &f->extra_room, sizeof *f->extra);
    f->extra[f->extra_count++] = word;
    in->extras++;
}

/* ---- 1. shared memory ------------------------------------------------------------------------ */

static void place_shared(struct ptx_variable *v, size_t *end)
{
    if (v->space != PTX_SPACE_SHARED || (v->is_extern && v->unsized))
        return;
    *end = align_up(*end, v->alignment);
    v->address = *end;
    *end += v->bytes;
}

/* The end of the shared variables that a function names itself, and the functions it calls. */
static size_t shared_end_of(struct decoder *d, size_t f, bool *calls)
{
    const struct ptx_function *from = &d->ast->functions[f];
    size_t end = 0;
    for (size_t i = 0; i < from->instruction_count; i++) {
        const struct ptx_instruction *in = &from->instructions[i];
        int n = in->count;
        for (int k = 0; k < n; k++) {
            const struct ptx_operand *o = &in->operands[k];
            if (o->elements && o->first + o->elements > n)
                n = o->first + o->elements;
            if (!o->name || o->name[0] == '%')
                continue;
            for (size_t v = 0; v < d->ast->variable_count; v++) {
                const struct ptx_variable *var = &d->ast->variables[v];
                if (var->space == PTX_SPACE_SHARED && strcmp(var->name, o->name) == 0 &&
                    var->address + var->bytes > end)
                    end = var->address + var->bytes;
            }
            if (strncmp(in->opcode, "call", 4) == 0 || strncmp(in->opcode, "mov", 3) == 0) {
                int callee = function_find(d, o->name);
                if (callee >= 0)
                    calls[callee] = true;
            }
        }
        if (strncmp(in->opcode, "call", 4) == 0 && in->count && n > 0)
            for (int k = 0; k < in->count; k++)
                if (in->operands[k].kind == PTX_NAME && in->operands[k].name[0] == '%')
                    for (size_t g = 0; g < d->ast->function_count; g++)
                        calls[g] |= !d->ast->functions[g].is_entry; /* indirect: any of them */
    }
    return end;
}

static void place_all_shared(struct decoder *d)
{
    struct ptx_ast *ast = d->ast;
    size_t n = ast->function_count, end = 0;
    bool *calls = calloc(n * n + 1, sizeof *calls);
    size_t *ends = calloc(n + 1, sizeof *ends);
    if (!calls || !ends)
        abort();
    for (size_t i = 0; i < ast->variable_count; i++)
        place_shared(&ast->variables[i], &end);
    for (size_t f = 0; f < n; f++)
        if (!ast->functions[f].is_entry)
            for (size_t i = 0; i < ast->functions[f].variable_count; i++) {
                struct ptx_variable *v = &ast->functions[f].variables[i];
                place_shared(v, &end);
                if (v->space == PTX_SPACE_SHARED)
                    ends[f] = end;
            }
    for (size_t f = 0; f < n; f++) {
        d->function = &ast->functions[f];
        size_t own = shared_end_of(d, f, calls + f * n);
        ends[f] = ends[f] > own ? ends[f] : own;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t f = 0; f < n; f++)
            for (size_t g = 0; g < n; g++)
                if (calls[f * n + g] && ends[g] > ends[f]) {
                    ends[f] = ends[g];
                    changed = true;
                }
    }
    for (size_t f = 0; f < n; f++)
        if (ast->functions[f].is_entry) {
            for (size_t i = 0; i < ast->functions[f].variable_count; i++)
                place_shared(&ast->functions[f].variables[i], &ends[f]);
            d->module->functions[f].shared_bytes = ends[f];
            d->module->functions[f].shared_alignment = 16;
        }
    free(calls);
    free(ends);
}

/* ---- 2. parameters and locals ---------------------------------------------------------------- */

static struct ir_parameter *place_parameters(struct ptx_variable *v, size_t n, size_t *end)
{
    struct ir_parameter *to = calloc(n + 1, sizeof *to);
    if (!to)
        abort();
    for (size_t i = 0; i < n; i++) {
        *end = align_up(*end, v[i].alignment);
        v[i].address = *end;
        to[i] = (struct ir_parameter){*end, v[i].bytes};
        *end += v[i].bytes;
    }
    return to;
}

static void place_locals(struct ptx_function *f, struct ir_function *to)
{
    size_t end = 0;
    to->params = place_parameters(f->params, f->param_count, &end);
    to->param_count = f->param_count;
    if (f->is_entry) {
        to->param_bytes = end;
        end = 0;
    }
    to->returns = place_parameters(f->returns, f->return_count, &end);
    to->return_count = f->return_count;
    for (size_t i = 0; i < f->variable_count; i++) {
        struct ptx_variable *v = &f->variables[i];
        if (v->space != PTX_SPACE_LOCAL && v->space != PTX_SPACE_PARAM)
            continue;
        end = align_up(end, v->alignment);
        v->address = end;
        end += v->bytes;
    }
    to->local_bytes = align_up(end, 16);
}

/* ---- 3. guards ------------------------------------------------------------------------------- */

static bool takes_no_guard(const char *opcode)
{
    static const char *const bases[] = {
        "call",  "brx",   "bar",       "barrier",   "shfl",     "vote",
        "match", "redux", "elect",     "nanosleep", "alloca",   "stackrestore",
        "mma",   "wmma",  "movmatrix", "ldmatrix",  "stmatrix", "activemask"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        size_t n = strlen(bases[i]);
        if (strncmp(opcode, bases[i], n) == 0 && (opcode[n] == '.' || opcode[n] == '\0'))
            return true;
    }
    return false;
}

static void expand_guards(struct decoder *d)
{
    struct ptx_function *f = d->function;
    size_t extra = 0;
    for (size_t i = 0; i < f->instruction_count; i++)
        extra += f->instructions[i].guard && takes_no_guard(f->instructions[i].opcode);
    if (!extra)
        return;
    struct ptx_instruction *to = calloc(f->instruction_count + extra, sizeof *to);
    size_t *moved = malloc((f->instruction_count + 1) * sizeof *moved), n = 0;
    if (!to || !moved)
        abort();
    size_t labels = f->label_count;
    for (size_t i = 0; i < f->instruction_count; i++) {
        struct ptx_instruction in = f->instructions[i];
        moved[i] = n;
        if (in.guard && takes_no_guard(in.opcode)) {
            char name[32];
            int length = snprintf(name, sizeof name, "$vg_skip%zu", i);
            struct ptx_instruction skip = in;
            skip.opcode = "bra";
            skip.guard_negated = !in.guard_negated;
            skip.count = 1;
            skip.operands = ptx_arena_alloc(&d->ast->arena, sizeof *skip.operands);
            skip.operands->name = ptx_arena_text(&d->ast->arena, name, (size_t)length);
            to[n++] = skip;
            in.guard = NULL;
            f->labels = ptx_grow(f->labels, f->label_count, &f->label_room, sizeof *f->labels);
            f->labels[f->label_count++] = (struct ptx_label){skip.operands->name, 0, n + 1};
        }
        to[n++] = in;
    }
    moved[f->instruction_count] = n;
    for (size_t i = 0; i < labels; i++)
        f->labels[i].instruction = moved[f->labels[i].instruction];
    free(moved);
    free(f->instructions);
    f->instructions = to;
    f->instruction_count = n;
    f->instruction_room = n;
}

/* ---- 4. instructions ------------------------------------------------------------------------- */

/* Code of headers counts for the line that it was inlined at: that is the user's own. */
static bool is_system_file(const char *path)
{
    return strstr(path, "/include/") || strstr(path, "/targets/") || strstr(path, "/cuda/");
}

static const char *file_path(const struct decoder *d, int number)
{
    for (size_t i = 0; i < d->ast->file_count; i++)
        if (d->ast->files[i].number == number)
            return d->ast->files[i].path;
    return NULL;
}

static int32_t find_location(struct decoder *d, const struct ptx_location *from)
{
    const char *path = file_path(d, from->file);
    int line = from->line;
    for (int call = from->caller, i = 0; path && call && is_system_file(path) && i < 64; i++) {
        const struct ptx_inlined_call *at = &d->ast->calls[call - 1];
        if (!file_path(d, at->file))
            break;
        path = file_path(d, at->file);
        line = at->line;
        call = at->caller;
    }
    if (!path || !line)
        return -1;
    struct ir_module *m = d->module;
    for (size_t i = m->location_count; i-- > 0;) {
        if (m->locations[i].line == line && m->locations[i].file == path)
            return (int32_t)i;
        if (m->location_count - i > 64)
            break;
    }
    m->locations =
        ptx_grow(m->locations, m->location_count, &m->location_room, sizeof *m->locations);
    m->locations[m->location_count] = (struct ir_location){path, line};
    return (int32_t)m->location_count++;
}

static void decode_instruction(struct decoder *d, const struct ptx_instruction *in)
{
    char base[24];
    d->in = in;
    d->location = find_location(d, &in->location);
    if (!ir_suffixes_read(in->opcode, base, &d->suffixes)) {
        decode_problem(d, "not supported by the virtual GPU");
        return;
    }
    int op = ir_row_find(base, &d->suffixes, 0);
    while (op >= 0 && !shape_accepts(d, &ir_rows[op]))
        op = ir_row_find(base, &d->suffixes, op + 1);
    if (op < 0) {
        decode_problem(d, "not supported by the virtual GPU");
        return;
    }
    d->row = &ir_rows[op];
    shape_decode(d, (enum ir_op)op);
}

static void decode_body(struct decoder *d)
{
    struct ptx_function *f = d->function;
    ptx_cfg_build(&d->cfg, f);
    size_t blocks = d->cfg.block_count;
    d->block_label = calloc(blocks + 1, sizeof *d->block_label);
    d->slots = calloc(f->register_count + 1, sizeof *d->slots);
    if (!d->block_label || !d->slots)
        abort();
    d->to->frame_bytes = SINK_BYTES;
    for (size_t b = 0; b < blocks; b++) {
        d->block = (uint32_t)b;
        d->in = &f->instructions[d->cfg.blocks[b].first];
        d->location = find_location(d, &d->in->location);
        d->block_label[b] =
            decode_emit(d, d->cfg.blocks[b].is_meeting ? IR_ENTER_JOIN : IR_ENTER)->index;
        for (size_t i = d->cfg.blocks[b].first; i < d->cfg.blocks[b].end; i++)
            decode_instruction(d, &f->instructions[i]);
    }
    /* A body that runs off its end returns. */
    d->block = (uint32_t)blocks;
    d->block_label[blocks] = decode_emit(d, IR_ENTER)->index;
    decode_emit(d, IR_RET);
    d->to->block_count = (uint32_t)blocks + 1;
    d->to->block_first = d->block_label;
    d->to->frame_bytes = (uint32_t)align_up(d->to->frame_bytes, 64);
}

/* ---- 5. targets ------------------------------------------------------------------------------ */

/* A kernel's block that only returns is no place to meet: threads that get there end at once, so
 * that nobody's barrier waits for them. */
static bool only_returns(const struct decoder *d, const struct ptx_block *b)
{
    const char *op = d->function->instructions[b->first].opcode;
    return d->function->is_entry && !d->function->instructions[b->first].guard &&
           (strncmp(op, "ret", 3) == 0 || strcmp(op, "exit") == 0);
}

static void patch_targets(struct decoder *d)
{
    for (size_t i = 0; i < d->to->insn_count; i++) {
        struct ir_insn *in = &d->to->insns[i];
        if (in->op != IR_BRA && in->op != IR_BRX)
            continue;
        int meets = d->cfg.blocks[in->block].meets;
        if (meets != PTX_CFG_EXIT && only_returns(d, &d->cfg.blocks[meets]))
            meets = PTX_CFG_EXIT;
        in->imm = meets == PTX_CFG_EXIT ? -1 : (int64_t)d->block_label[meets];
        if (in->op == IR_BRA)
            in->target = d->block_label[in->target];
        for (uint32_t k = 0; in->op == IR_BRX && k < in->extras; k++)
            d->to->extra[in->extra + k] = d->block_label[d->to->extra[in->extra + k]];
    }
}

static void decode_function(struct decoder *d, size_t index)
{
    d->function = &d->ast->functions[index];
    d->to = &d->module->functions[index];
    d->in = NULL;
    d->location = -1;
    d->predicate_room = 0;
    expand_guards(d);
    memset(&d->cfg, 0, sizeof d->cfg);
    int problems = d->problems->count;
    decode_body(d);
    if (d->problems->count == problems)
        patch_targets(d);
    for (size_t i = 0; i < d->function->register_count; i++)
        free(d->slots[i]);
    free(d->slots);
    ptx_cfg_free(&d->cfg);
}

static enum ir_builtin find_builtin(const char *name)
{
    static const char *const names[] = {"", "vprintf", "__assertfail", "malloc", "free"};
    for (int i = 1; i < 5; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum ir_builtin)i;
    return IR_NOT_BUILTIN;
}

static void start_function(const struct ptx_function *from, struct ir_function *to)
{
    to->name = from->name;
    to->is_entry = from->is_entry;
    to->has_body = from->has_body;
    to->builtin = from->has_body ? IR_NOT_BUILTIN : find_builtin(from->name);
    const uint32_t *limit = from->required_threads[0] ? from->required_threads : from->max_threads;
    to->max_threads = limit[0] * limit[1] * limit[2];
    to->cluster_blocks = from->cluster[0] * from->cluster[1] * from->cluster[2];
}

enum { REGISTERS_OF_MULTIPROCESSOR = 65536, REGISTERS_MOST = 255 };

/* A rough figure for when no cubin says: values alive are far fewer than virtual registers. As from
 * ptxas, it is never more than the launch bounds leave for a thread. */
static int estimate_registers(const struct ir_function *f, const struct ptx_function *from)
{
    uint64_t n = 16 + f->frame_bytes / 128 / 6, most = REGISTERS_MOST;
    if (f->max_threads) {
        uint64_t threads = (f->max_threads + 31ull) / 32 * 32;
        uint64_t share = REGISTERS_OF_MULTIPROCESSOR / threads;
        if (from->min_blocks > 0)
            share /= (uint64_t)from->min_blocks;
        share = share / 8 * 8;
        most = share < most && share ? share : most;
    }
    if (from->max_registers > 0 && (uint64_t)from->max_registers < most)
        most = (uint64_t)from->max_registers;
    return (int)(n < most ? n : most);
}

enum st_code ptx_decode(struct ir_module *module, struct ptx_ast *ast, struct st_error *err)
{
    memset(module, 0, sizeof *module);
    struct problems problems = {0};
    struct decoder d = {.ast = ast, .module = module, .problems = &problems, .location = -1};
    module->function_count = ast->function_count;
    module->functions = calloc(ast->function_count + 1, sizeof *module->functions);
    if (!module->functions)
        return st_fail(err, ST_NO_MEMORY, "no memory for a module");
    for (size_t i = 0; i < ast->function_count; i++) {
        start_function(&ast->functions[i], &module->functions[i]);
        place_locals(&ast->functions[i], &module->functions[i]);
    }
    place_all_shared(&d);
    for (size_t i = 0; i < ast->function_count; i++) {
        struct ir_function *f = &module->functions[i];
        if (!f->has_body)
            continue;
        decode_function(&d, i);
        f->first_insn = module->insn_count;
        f->registers = estimate_registers(f, &ast->functions[i]);
        module->insn_count += (uint32_t)f->insn_count;
    }
    if (!problems.count)
        return ST_OK;
    ir_module_free(module);
    st_fail(err, ST_BAD_FORMAT, "%d PTX instruction%s cannot be executed by the virtual GPU",
            problems.count, problems.count == 1 ? "" : "s");
    st_detail(err, ST_WHERE, "%s", problems.text);
    st_detail(err, ST_HINT, "docs/supported-ptx.md lists what is supported");
    return ST_BAD_FORMAT;
}

void ir_module_free(struct ir_module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        struct ir_function *f = &module->functions[i];
        free(f->insns);
        free(f->extra);
        free(f->constants);
        free(f->params);
        free(f->returns);
        free(f->block_first);
    }
    free(module->functions);
    free(module->locations);
    memset(module, 0, sizeof *module);
}
