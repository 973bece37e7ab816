/** @file
 * Addresses in the running process that code needs: instructions, plans, C functions. Code loads
 * them from a table beside it, which is filled when it is linked; so the same code serves any
 * process.
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
/** @return the address as a value of type i8*, loaded at the builder's position. */
LLVMValueRef address_table_load(struct address_table *t, LLVMBuilderRef b, const void *address);
/** Creates the table. @param name  the symbol of the table in linked code */
void address_table_close(struct address_table *t, const char *name);
/** Fills the table of linked code. */
void address_table_fill(const struct address_table *t, const void **table);
void address_table_free(struct address_table *t);
