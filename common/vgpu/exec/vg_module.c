/* Loads a module: parses it, allocates variables, decodes, numbers instructions and basic blocks,
 * sets handlers, writes initial values. */
#include "vgpu/exec/vg_module.h"

#include "vgpu/exec/block_races.h"
#include "vgpu/exec/error_texts.h"
#include "vgpu/exec/flows.h"
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/handlers.h"
#include "vgpu/exec/read_only_intervals.h"
#include "vgpu/exec/spinning.h"
#include "vgpu/exec/tally.h"
#include "vgpu/exec/translator.h"
#include "vgpu/exec/unset_idle.h"
#include "vgpu/exec/unset_values.h"
#include "vgpu/exec/vg_device.h"
#include "vgpu/probe/names.h"
#include "vgpu/ptx/ptx_decode.h"

#include <stdlib.h>
#include <string.h>

static bool is_variable(const struct ptx_variable *v)
{
    return (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) && !v->is_extern;
}

/* Calls body for each variable in global memory, including those inside functions. */
static enum st_code each_variable(struct ptx_ast *ast,
                                  enum st_code (*body)(void *, struct ptx_variable *),
                                  void *context)
{
    enum st_code code = ST_OK;
    for (size_t i = 0; i < ast->variable_count && code == ST_OK; i++)
        if (is_variable(&ast->variables[i]))
            code = body(context, &ast->variables[i]);
    for (size_t f = 0; f < ast->function_count; f++)
        for (size_t i = 0; i < ast->functions[f].variable_count && code == ST_OK; i++)
            if (is_variable(&ast->functions[f].variables[i]))
                code = body(context, &ast->functions[f].variables[i]);
    return code;
}

enum { CONSTANT_BYTES = 65536 }; /* of all constant variables of a program together */

struct loading {
    struct vg_module *module;
    size_t constant_bytes;
    struct st_error *err;
};

static enum st_code place(void *context, struct ptx_variable *v)
{
    struct loading *l = context;
    struct vg_memory *m = &l->module->device->memory;
    size_t bytes = v->bytes ? v->bytes : 1;
    if (v->space == PTX_SPACE_CONST && (l->constant_bytes += v->bytes) > CONSTANT_BYTES) {
        st_fail(l->err, ST_TOO_LARGE, "the __constant__ variables do not fit into constant memory");
        st_detail(l->err, ST_WHERE, "%s", v->name);
        st_detail(l->err, ST_EXPECTED, "at most %d bytes in total", CONSTANT_BYTES);
        return st_detail(l->err, ST_GOT, "%zu bytes or more", l->constant_bytes);
    }
    enum st_code code = vg_memory_take(m, bytes, v->name, &v->address, l->err);
    if (code == ST_OK) {
        memset(vg_memory_host(m, v->address), 0, bytes);
        vg_memory_below(m, v->address)->initialised = true;
    }
    return code;
}

static enum st_code unplace(void *context, struct ptx_variable *v)
{
    struct vg_module *module = context;
    struct vg_memory *m = &module->device->memory;
    struct vg_allocation *a = v->address ? vg_memory_below(m, v->address) : NULL;
    if (a && a->live && a->address == v->address) {
        a->live = false;
        m->used_bytes -= a->bytes;
    }
    return ST_OK;
}

/* Finds the value of a name in an initialiser: first in the initialiser's own unit, then in the
 * others. */
static bool symbol_value(const struct vg_module *module, int unit, const char *name,
                         uint64_t *value)
{
    const struct ptx_ast *ast = &module->ast;
    bool found = false;
    for (size_t i = 0; i < ast->variable_count; i++) {
        const struct ptx_variable *v = &ast->variables[i];
        if (strcmp(v->name, name) != 0 || v->is_extern || (v->is_local && v->unit != unit))
            continue;
        if (!found || v->is_local)
            *value = v->address;
        found = true;
    }
    for (size_t i = 0; i < ast->function_count; i++) {
        const struct ptx_function *f = &ast->functions[i];
        if (strcmp(f->name, name) != 0 || !f->has_body || (f->is_local && f->unit != unit))
            continue;
        if (!found || f->is_local)
            *value = PTX_FUNCTION_BASE + 16 * i;
        found = true;
    }
    return found;
}

static enum st_code initialise(void *context, struct ptx_variable *v)
{
    struct loading *l = context;
    size_t element = ptx_type_bytes(v->type);
    char *to = vg_memory_host(&l->module->device->memory, v->address);
    for (size_t i = 0; i < v->inits && (i + 1) * element <= v->bytes; i++) {
        const struct ptx_init *init = &v->init[i];
        uint64_t bits = init->bits;
        if (init->symbol) {
            if (!symbol_value(l->module, v->unit, init->symbol, &bits))
                bits = 0; /* a function of another module, e.g. of a deleted virtual method */
            else
                bits += (uint64_t)init->offset;
        } else if (init->is_float && !init->is_single && v->type == PTX_TYPE_f32) {
            double wide;
            memcpy(&wide, &bits, sizeof wide);
            float narrow = (float)wide;
            bits = 0;
            memcpy(&bits, &narrow, sizeof narrow);
        }
        memcpy(to + i * element, &bits, element < 8 ? element : 8);
    }
    return ST_OK;
}

/* @return whether a load extends one element of 4 bytes to a register of 8. */
static bool is_widened(const struct ir_insn *in)
{
    return in->op == IR_LD && in->bytes == 4 && in->vector == 1 &&
           ptx_type_bytes((enum ptx_type)in->type2) == 8;
}

/* @return whether a load or store is of elements of 4 or 8 bytes, and its registers are as wide or
 * widened. */
static bool is_plain(const struct ir_insn *in)
{
    if (in->mode & (in->op == IR_LD ? MODE_ACQUIRE : MODE_STRONG) && in->space == PTX_SPACE_SHARED)
        return false;
    if ((in->op != IR_LD && in->op != IR_ST) || vg_is_whole(in))
        return false;
    size_t bytes = ptx_type_bytes((enum ptx_type)in->type2);
    return (in->bytes == 4 || in->bytes == 8) &&
           (bytes == in->bytes || is_widened(in) || in->type2 == PTX_TYPE_none);
}

/* @return whether an access is to local memory, which also contains the parameters of functions. */
static bool is_local(const struct ir_insn *in)
{
    return (in->op == IR_LD || in->op == IR_ST) &&
           (in->space == PTX_SPACE_LOCAL || in->space == PTX_SPACE_PARAM);
}

/* @return the handler of an instruction: plain loads and stores have a fast one for each space. */
static enum ir_op handler_of(const struct ir_insn *in)
{
    const bool load = in->op == IR_LD;
    if (is_local(in))
        return load ? IR_LD_LOCAL : IR_ST_LOCAL;
    if (!is_plain(in))
        return (enum ir_op)in->op;
    switch (in->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        if (in->wide_address && !in->fixed_address)
            return !load                                            ? IR_ST_GLOBAL
                   : in->bytes * in->vector == 4 && !is_widened(in) ? IR_LD_GLOBAL_4
                                                                    : IR_LD_GLOBAL;
        return load && in->fixed_address ? IR_LD_FIXED : (enum ir_op)in->op;
    case PTX_SPACE_SHARED:
        return !load ? IR_ST_SHARED
               : in->bytes * in->vector == 4 && !is_widened(in) && !in->wide_address &&
                       !in->fixed_address && !(in->mode & (MODE_STRONG | MODE_VOLATILE))
                   ? IR_LD_SHARED_4
                   : IR_LD_SHARED;
    case PTX_SPACE_GENERIC:
        return in->fixed_address || !in->wide_address ? (enum ir_op)in->op
               : load                                 ? IR_LD_GENERIC
                                                      : IR_ST_GENERIC;
    default:
        return (enum ir_op)in->op;
    }
}

/* @return the number, plus 1, of the basic block whose ENTER is instruction @p i; 0: not an
 * ENTER. */
static uint32_t block_entered(const struct vg_module *m, const struct ir_function *f, size_t i)
{
    return f->insns[i].op == IR_ENTER ? m->block_count + f->insns[i].block + 1 : 0;
}

static void number_function(struct vg_module *m, size_t index, uint32_t *insn)
{
    struct ir_function *f = &m->ir.functions[index];
    const struct vg_device *d = m->device;
    uint32_t *definitions = f->is_entry && !vg_blocks_may_agree(f) ? vg_definitions(f) : NULL;
    struct vg_racing_store racing;
    for (size_t i = 0; i < f->insn_count; i++) {
        struct ir_insn *in = &f->insns[i];
        in->number = *insn;
        m->insns[*insn] = in;
        m->block_of[*insn] = m->block_count + in->block;
        (*insn)++;
        if (in->op == IR_ENTER || in->op == IR_ENTER_JOIN)
            in->target = m->block_count + in->block;
        if (in->op == IR_BRA || in->op == IR_BRX || in->op == IR_CALL)
            in->site = ++m->ir.site_count;
        if (in->op == IR_BRA) {
            in->d = block_entered(m, f, in->target);
            in->e = i + 1 < f->insn_count ? block_entered(m, f, i + 1) : 0;
        }
        m->has_reserved_shared |= in->op == IR_SREG && (in->sub == SREG_RESERVED_SMEM ||
                                                        in->sub == SREG_RESERVED_SMEM_END);
        enum ir_op handler = handler_of(in);
        bool variable = handler == IR_ST && in->space == PTX_SPACE_GLOBAL && in->fixed_address;
        if ((handler == IR_ST_GLOBAL || variable) && definitions &&
            vg_store_may_race(f, i, definitions, &racing)) {
            handler = IR_ST_RACING;
            m->racing = ptx_grow(m->racing, m->racing_count, &m->racing_room, sizeof *m->racing);
            in->target = (uint32_t)m->racing_count;
            m->racing[m->racing_count++] = racing;
        }
        in->run = d->handlers->run[handler];
        in->once = in->inner = d->handlers->once[handler];
        if (in->guard && in->op != IR_BRA && in->op != IR_RET && in->op != IR_EXIT &&
            in->op != IR_TRAP) {
            in->run = d->handlers->run[IR_GUARDED];
            in->once = d->handlers->once[IR_GUARDED];
        }
    }
    free(definitions);
    if (f->is_entry)
        vg_read_only_barriers(f);
    m->block_count += f->block_count;
}

static enum st_code number(struct vg_module *m, struct st_error *err)
{
    const struct vg_device *d = m->device;
    uint32_t insn = 0;
    m->insns = calloc(m->ir.insn_count + 1, sizeof *m->insns);
    m->block_of = calloc(m->ir.insn_count + 1, sizeof *m->block_of);
    m->live_slots = calloc(m->ir.insn_count + 1, sizeof *m->live_slots);
    m->unset_uses = calloc(m->ir.insn_count + 1, sizeof *m->unset_uses);
    m->unset_conditions = calloc(m->ir.insn_count + 1, sizeof *m->unset_conditions);
    m->flows = calloc(m->ir.function_count + 1, sizeof *m->flows);
    m->kernels = calloc(m->ir.function_count + 1, sizeof *m->kernels);
    if (!m->insns || !m->block_of || !m->live_slots || !m->unset_uses || !m->unset_conditions ||
        !m->flows || !m->kernels)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a module");
    for (size_t i = 0; i < m->ir.function_count; i++) {
        struct ir_function *f = &m->ir.functions[i];
        m->has_malloc |= f->builtin == IR_MALLOC || f->builtin == IR_RUNTIME_DEVICE_MALLOC;
        m->has_launches |= f->builtin == IR_RUNTIME_LAUNCH || f->builtin == IR_RUNTIME_LAUNCH_PLAIN;
        if (f->has_body)
            number_function(m, i, &insn);
        if (!f->is_entry || (!f->has_body && !f->refusal))
            continue;
        struct vg_kernel *k = &m->kernels[m->kernel_count++];
        k->module = m;
        k->function = f;
        const size_t most = d->profile.shared_per_block_bytes;
        k->dynamic_shared_most = most > f->shared_bytes ? most - f->shared_bytes : 0;
        name_demangle(f->name, k->name, sizeof k->name);
    }
    return vg_entries_make(m) ? ST_OK : st_fail(err, ST_NO_MEMORY, "out of memory for a module");
}

/* @return whether a module is the library that programs compiled with -rdc=true contain for
 * launches from kernels. The library needs a driver's internals, so device_runtime.c replaces
 * it. */
static bool is_launch_library(const struct ptx_ast *ast)
{
    for (size_t i = 0; i < ast->function_count; i++)
        if (!ast->functions[i].has_body && strncmp(ast->functions[i].name, "cnpGet", 6) == 0)
            return true;
    return false;
}

static enum st_code parse_images(struct vg_module *m, const struct vg_image *images, size_t n,
                                 struct st_error *err)
{
    enum st_code code = ST_OK;
    bool any = false;
    for (size_t i = 0; i < n && code == ST_OK; i++) {
        struct ptx_ast one;
        code = ptx_parse(&one, images[i].ptx, images[i].ptx_bytes, err);
        if (code != ST_OK)
            break;
        if (n > 1 && is_launch_library(&one))
            ptx_ast_free(&one);
        else if (any)
            ptx_ast_join(&m->ast, &one);
        else
            m->ast = one, any = true;
    }
    if (code == ST_OK && !any)
        code = st_fail(err, ST_BAD_FORMAT, "no module with kernels");
    return code;
}

static void take_cubin_facts(struct vg_module *m, const struct vg_image *image)
{
    for (size_t i = 0; i < m->kernel_count; i++)
        for (size_t k = 0; k < image->infos; k++)
            if (strcmp(image->info[k].name, m->kernels[i].function->name) == 0 &&
                image->info[k].registers > 0)
                m->kernels[i].cubin = image->info[k];
}

enum st_code vg_module_link(struct vg_device *device, struct vg_module **module,
                            const struct vg_image *images, size_t n, struct st_error *err)
{
    *module = NULL;
    struct vg_module *m = calloc(1, sizeof *m);
    if (!m)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a module");
    m->device = device;
    struct loading loading = {.module = m, .err = err};
    enum st_code code = parse_images(m, images, n, err);
    if (code == ST_OK && (m->ast.version_major > 9 || m->ast.version_major < 5)) {
        st_fail(err, ST_BAD_FORMAT, "PTX of version %d.%d is not supported", m->ast.version_major,
                m->ast.version_minor);
        code = st_detail(err, ST_EXPECTED, "version 5.0 to 9.x, as nvcc 13 writes it");
        code = ST_BAD_FORMAT;
    }
    if (code == ST_OK)
        code = each_variable(&m->ast, place, &loading);
    if (code == ST_OK)
        code = ptx_decode(&m->ir, &m->ast, err);
    if (code == ST_OK)
        code = each_variable(&m->ast, initialise, &loading);
    if (code == ST_OK)
        code = number(m, err);
    if (code == ST_OK)
        code = error_texts_place(m, err);
    if (code != ST_OK) {
        each_variable(&m->ast, unplace, m);
        vg_module_unload(device, m);
        return code;
    }
    for (size_t i = 0; i < n; i++)
        take_cubin_facts(m, &images[i]);
    m->next = device->modules;
    device->modules = m;
    *module = m;
    return ST_OK;
}

enum st_code vg_module_load(struct vg_device *device, struct vg_module **module, const char *ptx,
                            size_t ptx_bytes, const struct vg_kernel_info *info, size_t infos,
                            struct st_error *err)
{
    struct vg_image image = {ptx, ptx_bytes, info, infos};
    return vg_module_link(device, module, &image, 1, err);
}

static void free_code(struct vg_module *m)
{
    flows_free(m);
    free(m->insns);
    free(m->block_of);
    unset_uses_free(m);
    unset_conditions_free(m);
    free(m->racing);
    free(m->block_cost);
    free(m->callable);
    free(m->stack_known);
    spinning_free(m);
    ir_module_free(&m->ir);
    ptx_ast_free(&m->ast);
    free(m);
}

void vg_module_unload(struct vg_device *device, struct vg_module *m)
{
    if (!m)
        return;
    for (struct vg_module **at = &device->modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            each_variable(&m->ast, unplace, m);
            unplace(m, &(struct ptx_variable){.address = m->error_texts});
            break;
        }
    vg_counters_retire(device, m);
    for (size_t i = 0; i < m->kernel_count; i++) {
        vg_tally_free(m->kernels[i].tally);
        free(m->kernels[i].unset);
        free(m->kernels[i].unset_reads);
    }
    free(m->kernels);
    vg_entries_free(m, free_code);
}

struct vg_kernel *vg_module_kernel(struct vg_module *m, const char *name)
{
    for (size_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].function->name, name) == 0)
            return &m->kernels[i];
    return NULL;
}

const char *vg_module_kernel_name(const struct vg_module *m, uint64_t i, size_t *count)
{
    *count = m->kernel_count;
    return i < m->kernel_count ? m->kernels[i].function->name : NULL;
}

bool vg_module_variable(struct vg_module *m, const char *name, uint64_t *address, size_t *bytes)
{
    for (size_t i = 0; i < m->ast.variable_count; i++) {
        const struct ptx_variable *v = &m->ast.variables[i];
        if (!is_variable(v) || strcmp(v->name, name) != 0)
            continue;
        *address = v->address;
        *bytes = v->bytes;
        return true;
    }
    return false;
}

const char *vg_kernel_symbol(const struct vg_kernel *k)
{
    return k->function->name;
}

size_t vg_kernel_parameter_bytes(const struct vg_kernel *k)
{
    return k->function->param_bytes;
}

bool vg_kernel_parameter(const struct vg_kernel *k, int i, size_t *offset, size_t *bytes)
{
    if (i < 0 || (size_t)i >= k->function->param_count)
        return false;
    *offset = k->function->params[i].offset;
    *bytes = k->function->params[i].bytes;
    return true;
}

size_t vg_kernel_dynamic_shared_most(const struct vg_kernel *k)
{
    return k->dynamic_shared_most;
}

void vg_kernel_dynamic_shared_allow(struct vg_kernel *k, size_t bytes)
{
    k->dynamic_shared_most = bytes;
}

void vg_kernel_info_set(struct vg_kernel *k, const struct vg_kernel_info *info)
{
    k->cubin = *info;
}

/* @return whether a proof cannot trace x and k through this instruction: it would reject a right
 * output. */
static bool is_not_followed(const struct ir_insn *in)
{
    return in->op == IR_WGMMA || in->op == IR_MMA_SP || in->op == IR_ST_ASYNC ||
           in->op == IR_RED_ASYNC || in->op == IR_BULK_SEND || in->op == IR_BULK_REDUCE_SEND ||
           bulk_is_load(in) || bulk_is_store(in);
}

const char *vg_kernel_refusal(const struct vg_kernel *k)
{
    const struct ir_module *m = &k->module->ir;
    if (k->function->refusal || !k->module->device->proof)
        return k->function->refusal;
    for (size_t f = 0; f < m->function_count; f++)
        for (size_t i = 0; i < m->functions[f].insn_count; i++)
            if ((&m->functions[f] == k->function || !m->functions[f].is_entry) &&
                is_not_followed(&m->functions[f].insns[i]))
                return "bulk copies, wgmma and sparse mma cannot be graded yet: the proof cannot trace x and k through them to y";
    return NULL;
}

/* Machine code runs on later GPUs of its generation; for others the driver compiles the PTX. */
static int binary_sm(const struct vg_kernel *k)
{
    const struct vg_profile *p = &k->module->device->profile;
    const int device = p->compute_major * 10 + p->compute_minor, sm = k->cubin.sm;
    return sm / 10 == p->compute_major && sm <= device ? sm : device;
}

void vg_kernel_attributes_get(const struct vg_kernel *k, struct vg_kernel_attributes *to)
{
    const struct ir_function *f = k->function;
    const struct vg_profile *p = &k->module->device->profile;
    const int known = k->cubin.registers;
    *to = (struct vg_kernel_attributes){.registers = vg_kernel_registers(k),
                                        .registers_are_estimated = !known,
                                        .static_shared_bytes = f->shared_bytes,
                                        .local_bytes = vg_kernel_local_bytes(k),
                                        .cluster = {f->cluster[0], f->cluster[1], f->cluster[2]},
                                        .max_cluster = (int)f->max_cluster,
                                        .explicit_cluster = f->explicit_cluster,
                                        .blocks_are_clusters = f->blocks_are_clusters,
                                        .ptx_sm = k->module->ast.target,
                                        .binary_sm = binary_sm(k)};
    const int by_registers =
        known ? p->registers_per_block / known / 32 * 32 : p->max_threads_per_block;
    to->max_threads_per_block = f->max_threads ? (int)f->max_threads : p->max_threads_per_block;
    if (!f->max_threads && by_registers < to->max_threads_per_block)
        to->max_threads_per_block = by_registers;
    for (size_t i = 0; i < k->module->ast.variable_count; i++)
        if (k->module->ast.variables[i].space == PTX_SPACE_CONST)
            to->constant_bytes += k->module->ast.variables[i].bytes;
}
