/* Prints opcodes.def as the page of the instructions that the virtual GPU supports, in Markdown. */
#include "vgpu/ptx/ptx_match.h"

#include <stdio.h>

static const char *const classes[] = {
#define TEXT(name, text) text,
    IR_CLASS_MAP(TEXT)
#undef TEXT
};

static const char *const sregs[] = {
#define TEXT(name, text, ...) text,
    IR_SREG_MAP(TEXT)
#undef TEXT
};

/* Escapes bars, which would end the cell of a table. */
static void print_cell(const char *text)
{
    fputs(" `", stdout);
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : (const char[2]){*text, '\0'}, stdout);
    fputs("` |", stdout);
}

static void print_suffixes(const char *text)
{
    if (*text)
        print_cell(text);
    else
        fputs(" |", stdout);
}

static void print_head(void)
{
    puts(
        "# PTX that the virtual GPU executes\n\n"
        "This page is generated from `common/vgpu/ptx/opcodes.def` by `make ptx-page`. A test checks "
        "that it is current.\n\n"
        "PTX is the assembly language into which nvcc compiles kernels. If a kernel uses an "
        "instruction that is not on\nthis page, the virtual GPU refuses to launch the kernel. One "
        "message lists all such instructions with their source\nlines. If no kernel of a module can "
        "run, loading the module fails with that message.\n\n"
        "For example, these are not supported: `tcgen05`, `wgmma` with sparse or one-bit matrices, "
        "tensor maps in im2col\nmode or with interleaved layouts, `multimem`, `mma.m8n8k4` of halves, "
        "mipmaps, and `wmma` with the\n"
        "element types `e4m3`, `e5m2`, `b1`, `u4` and `s4` (`mma` supports them).\n\n"
        "## Groups of suffixes\n\n"
        "In the table of instructions, a name with `%` stands for any suffix of a group:\n\n"
        "| group | suffixes |\n|---|---|");
    ir_groups_write(stdout);
    ir_types_write(stdout);
    puts(
        "\n`%type` has the types of registers, `%memtype` the types in memory, and `%element` the types "
        "of the elements of\nmatrices. Not every shape of a matrix exists with every element type. In "
        "`%wgshape`, k is 8 for `tf32`, 16 for `f16`\nand `bf16`, and 32 for elements of 8 bits.\n\n"
        "## Special registers\n\n"
        "A `mov` can read these registers:\n");
    const size_t n = sizeof sregs / sizeof *sregs;
    for (size_t i = 0; i < n; i++)
        printf("`%s`%s", sregs[i], (i + 1) % 6 && i + 1 < n ? " " : "\n");
    puts(
        "\n## Instructions\n\n"
        "Each row describes an instruction. The columns are\n\n"
        "- *mnemonic*: the name of the instruction, up to its first dot;\n"
        "- *required*: the suffixes that it must have. A blank separates suffixes, in any order, and `|` separates "
        "alternatives;\n"
        "- *optional*: the suffixes that it may have;\n"
        "- *pipe*: the part of a multiprocessor that the instruction occupies, and for how many issue "
        "slots. It is x1 for\n  an instruction that becomes one machine instruction, and more for an "
        "instruction that becomes several;\n"
        "- *operation*: the result.\n\n"
        "If several rows match, the first of them applies. In an operation, `d` is the destination; "
        "`a`, `b`, `c` and `e` are\nthe other operands, in the order of PTX. `p` and `q` are the "
        "predicates that the instruction writes. If an operand is\nan address, the text names the "
        "memory instead. `op` is the operation, `cmp` the comparison and `bool` the Boolean\noperation "
        "that the suffixes name. `lane_...` are functions in `common/vgpu/exec/lane_integers.h` and\n"
        "`lane_floats.h`. `mode` contains the suffixes that change the result, such as the rounding and "
        "`.ftz`.\n\n"
        "| mnemonic | required | optional | pipe | operation |\n|---|---|---|---|---|");
}

int main(void)
{
    print_head();
    for (int i = 0; i < IR_OPS; i++) {
        const struct ir_row *row = &ir_rows[i];
        if (!row->operands)
            continue;
        fputs("|", stdout);
        print_cell(row->base);
        print_suffixes(row->required);
        print_suffixes(row->optional);
        printf(" %s x%d |", classes[row->class], row->slots);
        print_cell(row->operation);
        putchar('\n');
    }
    return 0;
}
