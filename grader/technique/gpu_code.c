#include "grader/technique/gpu_code.h"

#include "base/files.h"
#include "vgpu/fatbin/fatbin.h"
#include "vgpu/ptx/ptx_decode.h"

#include <stdlib.h>

enum { LIBRARY_BYTES_MAX = 256 << 20 };

/* ptx_decode() wants variables to have addresses; which is of no matter here. */
static void place_variables(struct ptx_ast *ast)
{
    uint64_t at = 4096;
    for (size_t i = 0; i < ast->variable_count; i++, at += 4096)
        if (ast->variables[i].space == PTX_SPACE_GLOBAL ||
            ast->variables[i].space == PTX_SPACE_CONST)
            ast->variables[i].address = at;
}

static enum st_code read_ptx(struct gr_code *code, const char *file, size_t bytes, int sm,
                             struct st_error *err)
{
    const void *image;
    size_t image_bytes;
    struct fatbin_module module;
    enum st_code status = fatbin_find(file, bytes, &image, &image_bytes, err);
    if (!status)
        status = fatbin_module_read(&module, image, image_bytes, sm, err);
    if (status)
        return status;
    code->ptx = module.ptx;
    module.ptx = NULL;
    size_t ptx_bytes = module.ptx_bytes;
    sha256_hex(code->ptx, ptx_bytes, code->ptx_hash);
    fatbin_module_free(&module);
    status = ptx_parse(&code->ast, code->ptx, ptx_bytes, err);
    if (status)
        return status;
    place_variables(&code->ast);
    status = ptx_decode(&code->ir, &code->ast, err);
    code->kernels = calloc(code->ast.function_count + 1, sizeof *code->kernels);
    if (!status && !code->kernels)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the GPU code in memory");
    return status;
}

enum st_code gr_code_read(struct gr_code **code, const char *library, int sm, struct st_error *err)
{
    char *file;
    size_t bytes;
    *code = NULL;
    enum st_code status = file_read(library, LIBRARY_BYTES_MAX, &file, &bytes, err);
    if (status)
        return status;
    struct gr_code *c = calloc(1, sizeof *c);
    status = c ? read_ptx(c, file, bytes, sm, err)
               : st_fail(err, ST_NO_MEMORY, "cannot hold the GPU code in memory");
    free(file);
    if (status)
        gr_code_free(c);
    else
        *code = c;
    return status;
}

void gr_code_free(struct gr_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; code->kernels && i < code->ast.function_count; i++)
        kernel_code_free(&code->kernels[i]);
    free(code->kernels);
    ir_module_free(&code->ir);
    ptx_ast_free(&code->ast);
    free(code->ptx);
    free(code);
}
