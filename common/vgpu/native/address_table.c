#include "vgpu/native/address_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static LLVMTypeRef pointer_type(const struct address_table *t)
{
    return LLVMPointerType(LLVMInt8TypeInContext(LLVMGetModuleContext(t->module)), 0);
}

void address_table_open(struct address_table *t, LLVMModuleRef module)
{
    *t = (struct address_table){.module = module};
    t->placeholder = LLVMAddGlobal(module, pointer_type(t), "addresses");
}

static size_t place_of(struct address_table *t, const void *address)
{
    for (size_t i = t->count; i > 0; i--)
        if (t->address[i - 1] == address)
            return i - 1;
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 64;
        t->address = realloc(t->address, t->room * sizeof *t->address);
        if (!t->address)
            abort();
    }
    t->address[t->count] = address;
    return t->count++;
}

LLVMValueRef address_table_load(struct address_table *t, LLVMBuilderRef b, const void *address)
{
    LLVMContextRef context = LLVMGetModuleContext(t->module);
    LLVMValueRef place = LLVMConstInt(LLVMInt64TypeInContext(context), place_of(t, address), false);
    LLVMValueRef at = LLVMBuildGEP2(b, pointer_type(t), t->placeholder, &place, 1, "");
    LLVMValueRef load = LLVMBuildLoad2(b, pointer_type(t), at, "");
    static const char steady[] = "invariant.load";
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(context, steady, sizeof steady - 1),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
    return load;
}

void address_table_close(struct address_table *t, const char *name)
{
    LLVMTypeRef type = LLVMArrayType(pointer_type(t), (unsigned)t->count + 1);
    LLVMValueRef table = LLVMAddGlobal(t->module, type, name);
    LLVMSetInitializer(table, LLVMConstNull(type));
    LLVMReplaceAllUsesWith(t->placeholder, LLVMConstBitCast(table, LLVMTypeOf(t->placeholder)));
    LLVMDeleteGlobal(t->placeholder);
    t->placeholder = table;
}

void address_table_fill(const struct address_table *t, const void **table)
{
    if (t->count)
        memcpy(table, t->address, t->count * sizeof *table);
}

void address_table_free(struct address_table *t)
{
    free(t->address);
}
