/* The decoder's walk over a module:
 *
 *  1. variables get their addresses (ptx_place.c);
 *  2. each instruction finds its row of opcodes.def;
 *  3. guarded instructions that need the whole warp become a branch around an unguarded one;
 *  4. basic blocks and reconvergence points are found, and instructions are decoded one by one: the
 *     row's decoder stores the meaning of suffixes and operands;
 *  5. branch targets are converted from blocks to instructions. */
#include "vgpu/ptx/ptx_decoder.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- 2. rows --------------------------------------------------------------------------------- */

/* @return the meaning of an opcode, which is kept for later uses: a program has few different
 * opcodes. */
static struct opcode *read_opcode(struct decoder *d, const char *text)
{
    size_t hash = 5381;
    for (const char *p = text; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    struct opcode *to = &d->opcodes[hash % OPCODES_KEPT];
    if (!to->text || strcmp(to->text, text) != 0) {
        to->text = text;
        to->rows = 0;
        int row = ir_suffixes_read(text, to->base, &to->suffixes) ? -1 : IR_OPS;
        while (to->rows < ROWS_KEPT && (row = ir_row_find(to->base, &to->suffixes, row + 1)) >= 0)
            to->row[to->rows++] = row;
    }
    return to;
}

static int find_row(struct decoder *d, const struct ptx_instruction *in)
{
    const struct opcode *opcode = read_opcode(d, in->opcode);
    d->in = in;
    d->suffixes = opcode->suffixes;
    for (int i = 0; i < opcode->rows; i++)
        if (operands_fit(d, &ir_rows[opcode->row[i]]))
            return opcode->row[i];
    int row = opcode->rows == ROWS_KEPT ? opcode->row[ROWS_KEPT - 1] : IR_OPS;
    do
        row = ir_row_find(opcode->base, &opcode->suffixes, row + 1);
    while (row >= 0 && !operands_fit(d, &ir_rows[row]));
    return row;
}

static void find_rows(struct decoder *d)
{
    struct ptx_function *f = d->function;
    for (size_t i = 0; i < f->instruction_count; i++)
        f->instructions[i].row = find_row(d, &f->instructions[i]);
}

/* ---- 3. guards ------------------------------------------------------------------------------- */

static bool needs_branch(const struct ptx_instruction *in)
{
    return in->guard && in->row >= 0 && ir_rows[in->row].whole_warp;
}

/* @return a branch that skips an instruction. */
static struct ptx_instruction skip_over(struct decoder *d, const struct ptx_instruction *in,
                                        size_t i)
{
    char name[32];
    int length = snprintf(name, sizeof name, "$vg_skip%zu", i);
    struct ptx_instruction skip = *in;
    skip.opcode = "bra";
    skip.row = IR_BRA;
    skip.guard_negated = !in->guard_negated;
    skip.count = 1;
    skip.operands = ptx_arena_alloc(&d->ast->arena, sizeof *skip.operands);
    skip.operands->name = ptx_arena_text(&d->ast->arena, name, (size_t)length);
    return skip;
}

static void expand_guards(struct decoder *d)
{
    struct ptx_function *f = d->function;
    size_t extra = 0;
    for (size_t i = 0; i < f->instruction_count; i++)
        extra += needs_branch(&f->instructions[i]);
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
        if (needs_branch(&in)) {
            to[n++] = skip_over(d, &in, i);
            in.guard = NULL;
            *PTX_ADD(f, label) = (struct ptx_label){to[n - 1].operands->name, 0, n + 1};
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

/* Code in system headers counts for the user's line at which it was inlined. */
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

/* CUB's sorts by merging and Thrust's operations on sets read the element after the last one, which no
 * thread wrote, and ignore it. */
static bool merges(const char *path)
{
    return path && (strstr(path, "/cub/block/block_merge_sort.cuh") ||
                    strstr(path, "/thrust/system/cuda/detail/set_operations.h"));
}

static int32_t find_location(struct decoder *d, const struct ptx_location *from)
{
    const char *path = file_path(d, from->file);
    const bool reads_past = merges(path);
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
        if (m->locations[i].line == line && m->locations[i].file == path &&
            m->locations[i].reads_past == reads_past)
            return (int32_t)i;
        if (m->location_count - i > 64)
            break;
    }
    *PTX_ADD(m, location) = (struct ir_location){path, line, reads_past};
    return (int32_t)m->location_count - 1;
}

/* @return an instruction whose fields are set from its suffixes; decoders may change them. */
static struct ir_insn start_instruction(struct decoder *d, const struct ir_suffixes *s)
{
    struct ir_insn in = decode_start(d, (enum ir_op)d->in->row);
    in.mode = s->mode;
    in.type = (uint8_t)s->types[0];
    in.type2 = (uint8_t)s->types[1];
    in.bytes = (uint8_t)ptx_type_bytes(s->types[0]);
    in.space = (uint8_t)s->space;
    in.compare = (uint8_t)s->compare;
    in.boolean = (uint8_t)s->boolean;
    in.sub = (uint8_t)s->sub;
    return in;
}

static void decode_instruction(struct decoder *d, const struct ptx_instruction *in)
{
    d->in = in;
    d->location = find_location(d, &in->location);
    if (in->row < 0) {
        decode_problem(d, "not supported by the virtual GPU");
        return;
    }
    d->row = &ir_rows[in->row];
    if (!d->row->decode)
        return;
    d->suffixes = read_opcode(d, in->opcode)->suffixes;
    struct ir_insn to = start_instruction(d, &d->suffixes);
    d->row->decode(d, &to);
    if (in->guard) {
        to.guard = predicate(d, in->guard);
        to.guard_not = in->guard_negated;
    }
    decode_append(d, &to);
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
    /* A function returns at the end of its body. */
    d->block = (uint32_t)blocks;
    d->block_label[blocks] = decode_emit(d, IR_ENTER)->index;
    decode_emit(d, IR_RET);
    d->to->block_count = (uint32_t)blocks + 1;
    d->to->block_first = d->block_label;
    d->to->frame_bytes = (d->to->frame_bytes + 63) & ~63u;
}

/* ---- 5. targets ------------------------------------------------------------------------------ */

/* A kernel's block that only returns is not a reconvergence point: threads that reach it end at
 * once, so that no barrier has to wait for them. */
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
    find_rows(d);
    expand_guards(d);
    memset(&d->cfg, 0, sizeof d->cfg);
    int problems = d->problems->count;
    decode_body(d);
    if (d->problems->count == problems)
        patch_targets(d);
    if (d->problems->count == problems) {
        ptx_flow_find_unread(d->to);
        ptx_flow_share_addresses(d->to);
    }
    for (size_t i = 0; i < d->function->register_count; i++)
        free(d->slots[i]);
    free(d->slots);
    ptx_cfg_free(&d->cfg);
    if (d->problems->count > problems)
        d->to->refusal = strdup(d->problems->text);
}

/* ---- functions that cannot run, and their callers ------------------------------------------ */

static const char *refused_callee(const struct ir_module *module, const struct ir_function *f)
{
    for (size_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        if (in->op == IR_CALL && !in->wide_address && module->functions[in->target].refusal)
            return module->functions[in->target].refusal;
    }
    return NULL;
}

static void refuse_callers(struct ir_module *module)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < module->function_count; i++) {
            struct ir_function *f = &module->functions[i];
            const char *why = f->refusal ? NULL : refused_callee(module, f);
            if (why && (f->refusal = strdup(why)))
                any = true;
        }
    }
}

/* @return whether any kernel remains that can run. Removes the others. */
static bool bodies_drop_refused(struct ir_module *module)
{
    bool is_left = false;
    module->insn_count = 0;
    for (size_t i = 0; i < module->function_count; i++) {
        struct ir_function *f = &module->functions[i];
        if (f->refusal) {
            f->has_body = false;
            f->insn_count = f->block_count = 0;
        }
        f->first_insn = module->insn_count;
        module->insn_count += (uint32_t)f->insn_count;
        is_left |= f->is_entry && f->has_body;
    }
    return is_left;
}

/* @return whether device code calls a function of CUDA's runtime by this name. */
static bool is_runtime_name(const char *name, const char *function)
{
    const char *const prefix = strncmp(name, "__cudaCDP2", 10) == 0 ? "__cudaCDP2" : "cuda";
    const size_t before = strlen(prefix), n = strlen(function);
    if (strncmp(name, prefix, before) != 0 || strncmp(name + before, function, n) != 0)
        return false;
    return !name[before + n] || strcmp(name + before + n, "_ptsz") == 0;
}

static enum ir_builtin find_builtin(const char *name)
{
    static const char *const names[] = {"", "vprintf", "__assertfail", "malloc", "free"};
    static const char *const runtime[] = {
#define X(ID, function) function,
#include "vgpu/ptx/device_runtime.def"
#undef X
    };
    for (int i = 1; i < 5; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum ir_builtin)i;
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (is_runtime_name(name, runtime[i]))
            return (enum ir_builtin)(IR_FREE + 1 + (int)i);
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
    memcpy(to->cluster, from->cluster, sizeof to->cluster);
    to->max_cluster = from->max_cluster;
    to->explicit_cluster = from->explicit_cluster;
    to->blocks_are_clusters = from->blocks_are_clusters;
}

enum { REGISTERS_OF_MULTIPROCESSOR = 65536, REGISTERS_MOST = 255 };

/* A rough estimate for code without a cubin: live values are far fewer than virtual registers. As
 * in ptxas, the launch bounds limit the estimate. */
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
        return st_fail(err, ST_NO_MEMORY, "out of memory for a module");
    for (size_t i = 0; i < ast->function_count; i++) {
        start_function(&ast->functions[i], &module->functions[i]);
        place_locals(&ast->functions[i], &module->functions[i]);
    }
    place_all_shared(&d);
    for (size_t i = 0; i < ast->function_count; i++) {
        struct ir_function *f = &module->functions[i];
        if (!f->has_body)
            continue;
        struct problems own = {0};
        d.problems = &own;
        decode_function(&d, i);
        if (own.count && !problems.count)
            problems = own;
        else
            problems.count += own.count;
        f->first_insn = module->insn_count;
        f->registers = estimate_registers(f, &ast->functions[i]);
        module->insn_count += (uint32_t)f->insn_count;
    }
    if (!problems.count)
        return ST_OK;
    refuse_callers(module);
    if (bodies_drop_refused(module))
        return ST_OK;
    ir_module_free(module);
    st_fail(err, ST_BAD_FORMAT, "%d PTX instruction%s cannot be executed by the virtual GPU",
            problems.count, problems.count == 1 ? "" : "s");
    st_detail(err, ST_WHERE, "%s", problems.text);
    st_detail(err, ST_HINT, "docs/supported-ptx.md lists the supported instructions");
    return ST_BAD_FORMAT;
}

void ir_module_free(struct ir_module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        struct ir_function *f = &module->functions[i];
        free(f->insns);
        free(f->extra);
        free(f->constants);
        free(f->slots);
        free(f->params);
        free(f->returns);
        free(f->block_first);
        free(f->refusal);
    }
    free(module->functions);
    free(module->locations);
    memset(module, 0, sizeof *module);
}
