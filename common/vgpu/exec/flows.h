/** @file
 * The flow of a module's functions (ptx_flow.h), computed when it is first needed.
 */
#pragma once

struct ir_function;
struct ptx_flow;
struct vg_module;

const struct ptx_flow *flow_of(struct vg_module *m, const struct ir_function *f);
void flows_free(struct vg_module *m);
