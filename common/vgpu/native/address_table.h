/** @file
 * Addresses in the running process that native code needs: of instructions, plans, and C functions.
 * Code loads them from a table beside it, which is filled when the code is linked, so that any
 * process can use the code.
 */
#pragma once

#include <llvm-c/Core.h>

#include <stddef.h>

struct address_table {
    LLVMModuleRef module;
    LLVMValueRef placeholder; /**< stands for the table until its size is known */
    const void **address;     /**< [count] */
    size_t count, room;
};

void address_table_open(struct address_table *t, LLVMModuleRef module);
/** @return an address as a value of type i8*, loaded at the builder's position. */
LLVMValueRef address_table_load(struct address_table *t, LLVMBuilderRef b, const void *address);
/** Creates the table. @param name  the table's symbol in the linked code */
void address_table_close(struct address_table *t, const char *name);
/** Fills the table of linked code. */
void address_table_fill(const struct address_table *t, const void **table);
void address_table_free(struct address_table *t);
