#include "vgpu/exec/flows.h"

#include "vgpu/exec/vg_module.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdatomic.h>
#include <stdlib.h>

const struct ptx_flow *flow_of(struct vg_module *m, const struct ir_function *f)
{
    _Atomic(struct ptx_flow *) *at = &m->flows[f - m->ir.functions];
    struct ptx_flow *flow = atomic_load(at), *none = NULL;
    if (flow)
        return flow;
    flow = ptx_flow_new(f);
    if (!flow)
        abort();
    if (!atomic_compare_exchange_strong(at, &none, flow)) {
        ptx_flow_free(flow);
        flow = none; /* another thread's flow is equal */
    }
    return flow;
}

void flows_free(struct vg_module *m)
{
    for (size_t i = 0; m->flows && i < m->ir.function_count; i++)
        ptx_flow_free(atomic_load(&m->flows[i]));
    free(m->flows);
}
