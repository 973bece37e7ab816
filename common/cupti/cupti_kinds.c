#include "cupti/cupti_kinds.h"

static const struct {
    CUpti_ActivityKind kind;
    const char *name;
} kinds_of_work[] = {{CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
                     {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between GPUs"},
                     {CUPTI_ACTIVITY_KIND_MEMSET, "fills"},
                     {CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the runtime"},
                     {CUPTI_ACTIVITY_KIND_DRIVER, "calls of the driver"}};

static void enable(const struct cupti_kinds *k, CUpti_ActivityKind kind, const char *name)
{
    const CUptiResult result = k->api->cuptiActivityEnable(kind);
    if (result != CUPTI_SUCCESS)
        k->complain(result, name);
}

static void enable_all(const struct cupti_kinds *k)
{
    enable(k, (CUpti_ActivityKind)atomic_load(&k->kernels), "kernels");
    for (size_t i = 0; i < sizeof kinds_of_work / sizeof *kinds_of_work; i++)
        enable(k, kinds_of_work[i].kind, kinds_of_work[i].name);
#if CUPTI_API_VERSION >= 130000
    /* Does not record cuKernelGetName: while calls are recorded, the runtime itself calls it before
     * each launch. */
    if (k->api->cuptiActivityEnableDriverApi)
        k->api->cuptiActivityEnableDriverApi(CUPTI_DRIVER_TRACE_CBID_cuKernelGetName, 0);
#endif
}

static void disable_all(const struct cupti_kinds *k)
{
    /* calls first, so that no call is recorded without its work */
    for (size_t i = sizeof kinds_of_work / sizeof *kinds_of_work; i-- > 0;)
        k->api->cuptiActivityDisable(kinds_of_work[i].kind);
    k->api->cuptiActivityDisable((CUpti_ActivityKind)atomic_load(&k->kernels));
}

void cupti_kinds_begin(struct cupti_kinds *k, const struct cupti_api *api,
                       void (*complain)(CUptiResult result, const char *what), bool concurrent,
                       bool on)
{
    k->api = api;
    k->complain = complain;
    atomic_store(&k->kernels, (int)(concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                               : CUPTI_ACTIVITY_KIND_KERNEL));
    atomic_store(&k->on, on);
    enable(k, CUPTI_ACTIVITY_KIND_DEVICE, "figures of the GPU");
    if (on)
        enable_all(k);
}

void cupti_kinds_concurrent(struct cupti_kinds *k)
{
    const int before = atomic_exchange(&k->kernels, (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (before == (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || !atomic_load(&k->on))
        return;
    k->api->cuptiActivityDisable((CUpti_ActivityKind)before);
    enable(k, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels");
}

void cupti_kinds_switch(struct cupti_kinds *k, bool on)
{
    if (atomic_exchange(&k->on, on) == on)
        return;
    if (on)
        enable_all(k);
    else
        disable_all(k);
}
