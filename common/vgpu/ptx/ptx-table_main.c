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

/* Escapes vertical bars, which would end a table's cell. */
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
    puts("# PTX that the virtual GPU executes\n"
         "\n"
         "This page is generated from `common/vgpu/ptx/opcodes.def` by `make ptx-page`. A test "
         "checks that it is current.\n"
         "\n"
         "PTX is the assembly language into which nvcc compiles kernels. The *virtual GPU* "
         "executes PTX on the CPU; it accepts\n"
         "PTX of version 5.0 to 9.x. If a kernel uses an instruction that is not on this page, the "
         "virtual GPU refuses to launch\n"
         "the kernel. One message lists all such instructions with their source lines. If no "
         "kernel of a module can run, loading\n"
         "the module fails with this message.\n"
         "\n"
         "For example, these are not supported, even if a row of the table below matches them:\n"
         "\n"
         "- `tcgen05` and `multimem`;\n"
         "- `wgmma` with sparse or one-bit matrices;\n"
         "- `wmma` with the element types `e4m3` and `e5m2` (`mma` supports "
         "these types);\n"
         "- `mma.m8n8k4` with elements of type `f16`;\n"
         "- tensor maps in im2col mode or with interleaved layouts;\n"
         "- `tex` with offsets of texels or with comparisons of depths.\n"
         "\n"
         "Launches of kernels by kernels (dynamic parallelism) are calls of functions in PTX; "
         "see [How the virtual GPU\n"
         "works](virtual-gpu.md#kernels-that-launch-kernels).\n"
         "\n"
         "## Groups of suffixes\n"
         "\n"
         "A PTX instruction is a name with suffixes, for example `add.rn.f32`. In the table of "
         "instructions, a suffix that begins\n"
         "with `%` stands for any suffix of a group:\n"
         "\n"
         "| group | suffixes |\n"
         "|---|---|");
    ir_groups_write(stdout);
    ir_types_write(stdout);
    puts("\n"
         "`%type` has the types of registers, `%memtype` the types in memory, and `%element` "
         "the types of the elements of\n"
         "matrices. Not every shape of a matrix can have every element type. In `%wgshape`, the "
         "number after `k` is 8 for `tf32`,\n"
         "16 for `f16` and `bf16`, and 32 for elements of 8 bits.\n"
         "\n"
         "## Special registers\n"
         "\n"
         "A `mov` can read these registers:\n");
    const size_t n = sizeof sregs / sizeof *sregs;
    for (size_t i = 0; i < n; i++)
        printf("`%s`%s", sregs[i], (i + 1) % 6 && i + 1 < n ? " " : "\n");
    puts("\n"
         "## Instructions\n"
         "\n"
         "Each row describes an instruction. The columns are\n"
         "\n"
         "- *mnemonic*: the name of the instruction, up to its first dot;\n"
         "- *required*: the suffixes that the instruction must have, in any order. A blank "
         "separates suffixes, and `|` separates\n"
         "  alternatives, of which the instruction must have one;\n"
         "- *optional*: the suffixes that the instruction may have;\n"
         "- *pipe*: the part of a multiprocessor that the instruction occupies, and the number "
         "of issue slots that it takes. `x1`\n"
         "  means that it becomes one machine instruction. A larger number means that it "
         "becomes several;\n"
         "- *operation*: the result, mostly as an expression in C. `u32`, `s64`, `f32` and so "
         "on are its types.\n"
         "\n"
         "If several rows match, the first of them applies. In the column *operation*\n"
         "\n"
         "- `d` is the destination. `a`, `b`, `c` and `e` are the other operands, in the order "
         "of PTX;\n"
         "- `memory` stands for an operand that is an address;\n"
         "- `p` and `q` are the predicates that the instruction writes;\n"
         "- `op` is the operation, `cmp` the comparison and `bool` the Boolean operation that "
         "the suffixes name. Without a suffix\n"
         "  of `%bool`, `bool c` is omitted;\n"
         "- `lane_...` are functions in `common/vgpu/exec/lane_integers.h` and "
         "`lane_floats.h`;\n"
         "- `mode` contains the suffixes that change the result, such as the rounding and "
         "`.ftz`.\n"
         "\n"
         "A *lane* is one of the 32 threads of a warp. The *fragments* of a warp are the parts "
         "of a matrix that its lanes hold in\n"
         "registers.\n"
         "\n"
         "| mnemonic | required | optional | pipe | operation |\n"
         "|---|---|---|---|---|");
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
