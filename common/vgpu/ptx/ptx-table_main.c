/* Prints opcodes.def as the page of what the virtual GPU supports, in Markdown. */
#include "vgpu/ptx/ptx_match.h"

#include <stdio.h>

static const char *const classes[] = {
#define TEXT(name, text) text,
    IR_CLASS_MAP(TEXT)
#undef TEXT
};

/* A bar would end the cell of a table. */
static void print_cell(const char *text)
{
    fputs(" `", stdout);
    for (; *text; text++)
        fputs((const char[3]){*text == '|' ? '\\' : *text, *text == '|' ? '|' : '\0', '\0'},
              stdout);
    fputs("` |", stdout);
}

int main(void)
{
    puts("# PTX that the virtual GPU executes\n\n"
         "Generated from `common/vgpu/ptx/opcodes.def` by `make ptx-page`; a test proves it "
         "current.\n\n"
         "Anything else is refused when a program's module is loaded, all of it at once, with its "
         "source\nlines: among others thread block clusters of more than one block, bulk copies "
         "(TMA), `wgmma`,\n`tcgen05`, sparse `mma`, `mma.m8n8k4` of halves, cube maps and "
         "mipmaps, and kernels launched by\nkernels.\n\n"
         "## Groups of suffixes\n\n| group | suffixes |\n|---|---|");
    ir_groups_write(stdout);
    puts("| `%type`, `%memtype`, `%element` | types; of registers, of memory, of matrices |\n\n"
         "## Instructions\n\n"
         "One row an instruction: its mnemonic, the suffixes it must have (`|` separates "
         "alternatives),\nthose it may have, the pipe it is charged to with its issue slots, and "
         "what it does.\n\n"
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
