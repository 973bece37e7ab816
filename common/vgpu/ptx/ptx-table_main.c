/* Prints opcodes.def as the page of the instructions that the virtual GPU supports, in Markdown. */
#include "vgpu/ptx/ptx_match.h"

#include <stdio.h>

static const char *const classes[] = {
#define TEXT(name, text) text,
    IR_CLASS_MAP(TEXT)
#undef TEXT
};

/* Writes bars, which would end the cell of a table, as slashes. */
static void print_cell(const char *text)
{
    fputs(" `", stdout);
    for (; *text; text++)
        fputs(*text == '|' ? " / " : (const char[2]){*text, '\0'}, stdout);
    fputs("` |", stdout);
}

int main(void)
{
    puts(
        "# PTX that the virtual GPU executes\n\n"
        "Generated from `common/vgpu/ptx/opcodes.def` by `make ptx-page`; a test proves it "
        "current.\n\n"
        "If a kernel uses anything else, its launch is refused, and one message lists all such "
        "instructions with\ntheir source lines. If no kernel of a module can run, loading the module "
        "fails with that message. Not\nsupported are, among others, `tcgen05`, `wgmma` with sparse or "
        "one-bit matrices, tensor maps in im2col mode or\nwith interleaved layouts, `multimem`, "
        "`mma.m8n8k4` of halves, and mipmaps.\n\n"
        "## Groups of suffixes\n\n| group | suffixes |\n|---|---|");
    ir_groups_write(stdout);
    puts(
        "| `%type`, `%memtype`, `%element` | types of registers, of memory and of matrices |\n\n"
        "## Instructions\n\n"
        "Each row describes an instruction: its mnemonic, its required suffixes (`|` separates "
        "alternatives),\nits optional suffixes, the pipe that it occupies with the number of issue "
        "slots, and its result.\n\n"
        "| mnemonic | required | optional | pipe | operation |\n|---|---|---|---|---|");
    for (int i = 0; i < IR_OPS; i++) {
        const struct ir_row *row = &ir_rows[i];
        if (!row->operands)
            continue;
        fputs("|", stdout);
        print_cell(row->base);
        print_cell(row->required[0] ? row->required : " ");
        print_cell(row->optional[0] ? row->optional : " ");
        printf(" %s x%d |", classes[row->class], row->slots);
        print_cell(row->operation);
        putchar('\n');
    }
    return 0;
}
