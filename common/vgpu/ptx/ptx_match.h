/** @file
 * Finds the row in opcodes.def for an opcode's text. Defines the meaning of suffixes, and of the
 * words in a row.
 */
#pragma once

#include "vgpu/ptx/ptx_ir.h"

#include <stdio.h>

enum { SUFFIXES_MOST = 24, SUFFIX_CHARS = 36 };

/** The meaning of one opcode's suffixes. */
struct ir_suffixes {
    char text[SUFFIXES_MOST][SUFFIX_CHARS];
    int count;
    uint32_t mode; /**< enum ir_mode */
    enum ptx_type types[5];
    int type_count;
    enum ptx_space space;
    int vector, compare, boolean, atom, sub; /**< the last four: enum ir_compare, and so on */
    bool has_atom, has_compare;
};

/** Splits an opcode into base and suffixes, and reads the suffixes. @return false: too many
 * suffixes. */
bool ir_suffixes_read(const char *opcode, char base[24], struct ir_suffixes *to);
/** @return whether a word is among the suffixes. */
bool ir_suffixes_have(const struct ir_suffixes *suffixes, const char *text);
/** @return whether a word is one of the alternatives, such as "u32|s32|%cmp", of @p n
 * characters. */
bool ir_words_have(const char *alternatives, size_t n, const char *word);
/** Writes the groups of suffixes (%rnd, ...) with their words as rows of a Markdown table. */
void ir_groups_write(FILE *out);
/** Writes the groups of types in the same way. */
void ir_types_write(FILE *out);

/** @return the first row from @p from on that matches base and suffixes, or -1. */
int ir_row_find(const char *base, const struct ir_suffixes *suffixes, int from);

/** How a column of ir_row.operands reads its operand. */
enum ir_place { IR_REGISTER, IR_LIST, IR_ADDRESS, IR_NUMBER, IR_LABEL };

/** A column of ir_row.operands. */
struct ir_column {
    enum ir_place place;
    char field; /**< d a b c e f, of struct ir_insn; 0: address in parts, number or label */
    bool has_second, is_optional;
    char type[6]; /**< the text after the colon; empty: the first type suffix */
};

/** Reads the next column. @param columns  is advanced past it. @return false: no more columns. */
bool ir_column_next(const char **columns, struct ir_column *to);
