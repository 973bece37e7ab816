/* Tests of the PTX reader: tokens, syntax errors, rejected modules, and where lanes meet. */
#include "vgpu/ptx/ptx_cfg.h"
#include "vgpu/ptx/ptx_decode.h"
#include "vgpu/ptx/ptx_lex.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

static struct ptx_ast ast;
static struct ir_module module;
static struct st_error err;

static enum st_code decode(const char *text)
{
    enum st_code code = ptx_parse(&ast, text, strlen(text), &err);
    if (code != ST_OK)
        return code;
    code = ptx_decode(&module, &ast, &err);
    if (code != ST_OK)
        ptx_ast_free(&ast);
    return code;
}

/* The function of a module without mistakes; to be dropped. */
static const struct ir_function *decoded(const char *text)
{
    cr_assert_eq(decode(text), ST_OK, "%s: %s", err.what, err.where);
    return &module.functions[0];
}

static void drop(void)
{
    ir_module_free(&module);
    ptx_ast_free(&ast);
}

Test(ptx_lex, a_mnemonic_with_suffixes_is_one_token)
{
    struct ptx_lexer l;
    const char *text = "ld.shared::cta.v4.f32 {%f1}, [%rd2+16]; // note\n0f3F800000";
    ptx_lex_start(&l, text, strlen(text));
    struct ptx_token t = ptx_lex_next(&l);
    cr_assert(ptx_token_is(&t, "ld.shared::cta.v4.f32"));
    while ((t = ptx_lex_next(&l)).kind != PTX_FLOAT)
        cr_assert(t.kind != PTX_END && t.kind != PTX_BAD);
    cr_assert(t.is_single);
    cr_assert_eq(t.bits, 0x3f800000);
    cr_assert_eq(t.line, 2);
    cr_assert_eq(ptx_lex_next(&l).kind, PTX_END);
}

Test(ptx_lex, an_unfinished_text_ends_without_reading_on)
{
    const char *texts[] = {"\"abc", "/* abc", "0x", "%", ".", "\"a\\", "/*", "1e", ":"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = strlen(texts[i]);
        char *exact = malloc(n); /* exact size, so that a sanitizer notices a read past the end */
        memcpy(exact, texts[i], n);
        struct ptx_lexer l;
        ptx_lex_start(&l, exact, n);
        for (int k = 0; k < 10 && ptx_lex_next(&l).kind != PTX_END; k++)
            continue;
        cr_assert_eq(ptx_lex_next(&l).kind, PTX_END);
        free(exact);
    }
}

Test(ptx_parse, an_error_says_line_expected_and_got)
{
    const char *text = HEAD ".visible .entry k(.param .u64 p)\n{\n add.u32 %r1, %r2;\n ]\n}\n";
    cr_assert_eq(ptx_parse(&ast, text, strlen(text), &err), ST_BAD_FORMAT);
    cr_assert_str_eq(err.where, "PTX line 7");
    cr_assert_str_eq(err.got, "']'");
    cr_assert_eq(ptx_parse(&ast, "hello", 5, &err), ST_BAD_FORMAT);
    cr_assert_str_eq(err.expected, ".version");
}

Test(ptx_parse, every_prefix_of_a_module_is_refused_or_read_without_a_crash)
{
    const char *text =
        HEAD ".global .align 4 .f32 a[2] = {0f3F800000, 1.5};\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\n"
             ".loc 1 2 3, function_name $L, inlined_at 1 4 5\n"
             "{ .reg .b32 t; mov.b32 t, %tid.x; }\n"
             "@!%p1 bra $L;\n$L: ret;\n}\n.file 1 \"a.cu\"\n";
    for (size_t n = 0; n <= strlen(text); n++) {
        char *exact = malloc(n ? n : 1);
        memcpy(exact, text, n);
        if (ptx_parse(&ast, exact, n, &err) == ST_OK) {
            if (ptx_decode(&module, &ast, &err) == ST_OK)
                ir_module_free(&module);
            ptx_ast_free(&ast);
        }
        free(exact);
    }
}

Test(ptx_decode, all_that_is_unsupported_is_named_at_once_with_source_lines)
{
    const char *text =
        HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.loc 1 12 1\n"
             "tex.2dms.v4.f32.s32 %r1, %r2;\n.loc 1 14 1\ntcgen05.wait::ld.sync.aligned;\n"
             "add.u32 %r1, %r2, %r9;\nret;\n}\n.file 1 \"/x/lab.cu\"\n";
    cr_assert_eq(decode(text), ST_BAD_FORMAT);
    cr_assert(strstr(err.what, "3 PTX instructions"), "%s", err.what);
    cr_assert(strstr(err.where, "(lab.cu:12): tex.2dms"), "%s", err.where);
    cr_assert(strstr(err.where, "(lab.cu:14): tcgen05"), "%s", err.where);
    cr_assert(strstr(err.where, "no register"), "%s", err.where);
}

Test(ptx_decode, a_label_that_a_scope_defines_twice_is_a_problem)
{
    cr_assert_eq(
        decode(HEAD ".visible .entry k()\n{\n{\nbra L;\nL: ret;\n}\n{\nbra L;\nL: ret;\n}\n}\n"),
        ST_OK);
    drop();
    cr_assert_eq(decode(HEAD ".visible .entry k()\n{\nbra L;\nL: bar.sync 0;\nL: ret;\n}\n"),
                 ST_BAD_FORMAT);
    cr_assert(strstr(err.where, "the label 'L' is defined twice"), "%s", err.where);
    cr_assert_eq(decode(HEAD ".visible .entry k()\n{\nbra L;\nL: bar.sync 0;\n"
                             "{\nbra L;\nL: bar.sync 0;\n}\nL: ret;\n}\n"),
                 ST_BAD_FORMAT);
    cr_assert(strstr(err.where, "the label 'L' is defined twice"), "%s", err.where);
}

Test(ptx_decode, code_of_headers_counts_for_the_line_that_inlined_it)
{
    const char *text = HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n"
                            ".loc 2 107 3, function_name $L_s, inlined_at 1 16 3\n"
                            "add.u32 %r1, %r2, %r3;\nret;\n}\n.file 1 \"/x/lab.cu\"\n"
                            ".file 2 \"/usr/local/cuda/include/some.hpp\"\n";
    const struct ir_function *f = decoded(text);
    const struct ir_location *at = &module.locations[f->insns[1].location];
    cr_assert_str_eq(at->file, "/x/lab.cu");
    cr_assert_eq(at->line, 16);
    drop();
}

Test(ptx_decode, code_of_a_header_inlined_into_a_header_counts_for_the_user_too)
{
    const char *text = HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.loc 1 5 1\n"
                            ".loc 2 122 3, function_name $L_s, inlined_at 1 6 5\n"
                            "add.u32 %r1, %r2, %r3;\n"
                            ".loc 2 115 4, function_name $L_t, inlined_at 2 122 3\n"
                            ".loc 2 99 8, function_name $L_u, inlined_at 2 115 4\n"
                            "add.u32 %r1, %r2, %r3;\nret;\n}\n.file 1 \"/x/lab.cu\"\n"
                            ".file 2 \"/usr/local/cuda/include/some.hpp\"\n";
    const struct ir_function *f = decoded(text);
    for (int i = 1; i <= 2; i++) {
        const struct ir_location *at = &module.locations[f->insns[i].location];
        cr_assert_str_eq(at->file, "/x/lab.cu");
        cr_assert_eq(at->line, 6);
    }
    drop();
}

Test(ptx_decode, parameters_are_laid_out_like_c_structures)
{
    const char *text = HEAD ".visible .entry k(.param .u8 a, .param .u64 b, .param .u16 c,\n"
                            ".param .align 8 .b8 d[20], .param .u32 e)\n{\nret;\n}\n";
    const struct ir_function *f = decoded(text);
    const size_t offsets[] = {0, 8, 16, 24, 44};
    cr_assert_eq(f->param_count, 5);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(f->params[i].offset, offsets[i]);
    cr_assert_eq(f->param_bytes, 48);
    drop();
}

Test(ptx_decode, estimated_registers_obey_the_launch_bounds)
{
    static const struct {
        const char *bounds;
        int most;
    } cases[] = {{"", 255},
                 {".maxntid 512", 128},
                 {".maxntid 384\n.minnctapersm 2", 80},
                 {".maxntid 512\n.minnctapersm -3", 128},
                 {".maxnreg 40", 40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* many more values than a thread has registers */
        char text[40000];
        int n =
            sprintf(text, HEAD ".visible .entry f(.param .u64 p)\n%s\n{\n.reg .f64 %%fd<9999>;\n",
                    cases[i].bounds);
        for (int v = 1; v < 900; v++)
            n += sprintf(text + n, "mov.f64 %%fd%d, 0d%016X;\n", v, v);
        sprintf(text + n, "ret;\n}\n");
        const int registers = decoded(text)->registers;
        cr_assert_eq(registers, cases[i].most, "%s: %d", cases[i].bounds, registers);
        drop();
    }
}

Test(ptx_decode, suffixes_of_types_keep_their_order)
{
    const char *text = HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .b16 %h<2>;\n"
                            "cvt.s32.s16 %r1, %h1;\ncvt.u16.u32 %h1, %r1;\nret;\n}\n";
    const struct ir_insn *in = decoded(text)->insns;
    cr_assert_eq(in[1].op, IR_CVT_S32_S16);
    cr_assert_eq(in[2].op, IR_CVT_U16_U32);
    drop();
}

Test(ptx_decode, a_number_has_the_width_of_its_operand)
{
    const char *text = HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n.reg .b16 %h<2>;\n"
                            "mad.wide.s16 %r1, %h1, %h1, -5;\nand.b16 %h1, %h1, -5;\n"
                            "div.u16 %h1, %h1, -6;\nret;\n}\n";
    const struct ir_function *f = decoded(text);
    cr_assert_eq(f->insns[1].c, f->constants[0].offset);
    cr_assert_eq(f->constants[0].bits, 0xfffffffb);
    cr_assert_eq(f->insns[2].b, f->constants[1].offset);
    cr_assert_eq(f->constants[1].bits, 0xfffb);
    cr_assert_eq(f->insns[3].b, f->constants[2].offset);
    cr_assert_eq(f->constants[2].bits, 0xfffa);
    drop();
}

/* Checks the address of the load after some instructions: a register plus a number. */
static void check_address(const char *before, const char *load, int root, int64_t offset)
{
    char text[1024];
    snprintf(text, sizeof text,
             HEAD ".visible .entry k()\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<8>;\n"
                  "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%tid.y;\nmov.u32 %%r3, %%tid.z;\n"
                  "%s\nld.shared.u32 %%r7, %s;\nret;\n}\n",
             before, load);
    const struct ir_function *f = decoded(text);
    const struct ir_insn *ld = NULL;
    for (size_t i = 0; i < f->insn_count; i++)
        if (f->insns[i].op == IR_LD)
            ld = &f->insns[i];
    cr_assert_eq(ld->a, f->insns[root].d, "%s", before); /* instruction 1 sets r1, and so on */
    cr_assert_eq(ld->imm, offset, "%s: %ld", before, (long)ld->imm);
    drop();
}

Test(ptx_decode, a_load_from_a_sum_uses_the_register_that_was_added_to)
{
    check_address("add.u32 %r4, %r1, 16;", "[%r4+4]", 1, 20);
    check_address("add.s32 %r4, %r1, -16;\nadd.s32 %r5, %r4, 8;", "[%r5]", 1, -8);
    /* not if the register or the sum was set again, in some lanes or in all, or if it is a sum of two
     * registers */
    check_address("add.u32 %r2, %r1, 16;\nadd.u32 %r1, %r1, 4;", "[%r2]", 4, 0);
    check_address("add.u32 %r2, %r1, 16;\nmov.u32 %r1, 0;", "[%r2]", 4, 0);
    check_address("add.u32 %r3, %r1, 16;\nadd.u32 %r3, %r3, 4;", "[%r3]", 3, 0);
    check_address("add.u32 %r3, %r1, %r2;", "[%r3]", 4, 0);
    check_address("setp.eq.u32 %p1, %r2, 0;\n@%p1 add.u32 %r3, %r1, 16;", "[%r3]", 3, 0);
    check_address("add.u32 %r3, %r1, 16;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r3, 0;", "[%r3]",
                  4, 0);
    check_address("add.u32 %r3, %r1, 16;\nNEXT:\nadd.u32 %r1, %r1, 4;\nsetp.lt.u32 %p1, %r1, 9;\n"
                  "@%p1 bra NEXT;",
                  "[%r3]", 4, 0);
}

Test(ptx_decode, a_load_of_a_vector_knows_the_elements_that_nothing_reads)
{
    const struct ir_function *f =
        decoded(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(){\n"
                ".reg .f32 %f<9>;\n.shared .align 16 .b8 tile[32];\n"
                "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [tile];\n"
                "ld.shared.v2.f32 {%f5, %f6}, [tile+16];\n"
                "add.f32 %f7, %f1, %f3;\nadd.f32 %f7, %f7, %f5;\nadd.f32 %f7, %f7, %f6;\n"
                "st.shared.f32 [tile], %f7;\nret;\n}\n");
    unsigned loads = 0;
    const unsigned expected[] = {0xa, 0};
    for (size_t i = 0; i < f->insn_count; i++)
        if (f->insns[i].op == IR_LD && loads < 2)
            cr_expect_eq(f->insns[i].unread, expected[loads++]);
    cr_assert_eq(loads, 2);
    drop();
}

Test(ptx_decode, a_row_that_is_not_ptx_cannot_be_named)
{
    cr_assert_eq(decode(HEAD ".visible .entry k()\n{\nvg_st_global;\nret;\n}\n"), ST_BAD_FORMAT);
    cr_assert(strstr(err.where, "not supported"), "%s", err.where);
}

Test(ptx_decode, a_vote_has_the_result_of_its_type)
{
#define VOTE(op, to)                                                                               \
    HEAD ".visible .entry k()\n{\n.reg .pred %p<3>;\n.reg .b32 %r<3>;\n" op " " to                 \
         ", %p1, -1;\nret;\n}\n"
    decoded(VOTE("vote.sync.ballot.b32", "%r1"));
    drop();
    decoded(VOTE("vote.sync.any.pred", "%p2"));
    drop();
    cr_assert_eq(decode(VOTE("vote.sync.ballot.pred", "%p2")), ST_BAD_FORMAT);
}

Test(ptx_cfg, lanes_meet_at_the_immediate_post_dominator)
{
    /* Block 0 branches to 2 (else) or falls through to 1. Both continue at 3, which loops to
     * itself. 4 returns. */
    const char *text = HEAD ".visible .entry k()\n{\n.reg .pred %p<2>;\n@%p1 bra ELSE;\nbra JOIN;\n"
                            "ELSE: bra JOIN;\nJOIN: @%p1 bra JOIN;\nret;\n}\n";
    cr_assert_eq(ptx_parse(&ast, text, strlen(text), &err), ST_OK);
    struct ptx_cfg cfg;
    ptx_cfg_build(&cfg, &ast.functions[0]);
    cr_assert_eq(cfg.block_count, 5);
    cr_assert_eq(cfg.blocks[0].meets, 3);
    cr_assert_eq(cfg.blocks[3].meets, 4);
    cr_assert(cfg.blocks[3].is_meeting);
    cr_assert(!cfg.blocks[1].is_meeting);
    cr_assert_eq(cfg.blocks[4].meets, PTX_CFG_EXIT);
    ptx_cfg_free(&cfg);
    ptx_ast_free(&ast);
}

Test(ptx_opcodes, every_row_is_reachable_by_its_own_suffixes)
{
    for (int i = 0; i < IR_OPS; i++) {
        const struct ir_row *row = &ir_rows[i];
        cr_assert(row->base[0], "row %s has no base", row->id);
        cr_assert(row->operation[0], "row %s says nothing", row->id);
        cr_assert(row->slots >= 0 && row->slots < 100);
    }
}
