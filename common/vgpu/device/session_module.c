/* Modules, kernels and variables of a client. */
#include "base/array_room.h"
#include "vgpu/device/client_session.h"
#include "vgpu/device/ptxas.h"
#include "vgpu/fatbin/fatbin.h"
#include "vgpu/probe/names.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_BYTES_MAX ((size_t)512 << 20)

/* A fat binary arrives in pieces that fit in the window. */
SESSION_OP(MODULE_DATA)
{
    uint64_t offset = x->request.a[0], bytes = x->request.a[1], total = x->request.a[2];
    if (total > IMAGE_BYTES_MAX || bytes > VP_WINDOW_BYTES || offset > total ||
        bytes > total - offset)
        return VP_INVALID_VALUE;
    if (offset == 0) {
        free(s->image);
        s->image = calloc(1, total ? total : 1);
        s->image_bytes = s->image ? total : 0;
    }
    if (!s->image)
        return VP_OUT_OF_MEMORY;
    if (total != s->image_bytes)
        return VP_INVALID_VALUE;
    memcpy(s->image + offset, s->window, bytes);
    return VP_OK;
}

static int image_error(enum st_code code)
{
    switch (code) {
    case ST_NOT_FOUND:
        return VP_NO_IMAGE;
    case ST_TOO_LARGE:
        return VP_NEWER_PTX;
    case ST_NO_MEMORY:
        return VP_OUT_OF_MEMORY;
    default:
        return VP_INVALID_IMAGE;
    }
}

void session_units_free(struct session *s)
{
    for (size_t i = 0; i < s->unit_count; i++)
        fatbin_module_free(&s->units[i]);
    free(s->units);
    s->units = NULL;
    s->unit_count = 0;
}

/* Adds the image as a unit. */
static enum st_code unit_add(struct session *s, struct st_error *err)
{
    int sm = s->shared->profile.compute_major * 10 + s->shared->profile.compute_minor;
    if (!ARRAY_ROOM(s->units, s->unit_count))
        return st_fail(err, ST_NO_MEMORY, "out of memory for a module");
    enum st_code code =
        fatbin_module_read(&s->units[s->unit_count], s->image, s->image_bytes, sm, err);
    s->unit_count += code == ST_OK;
    free(s->image);
    s->image = NULL;
    s->image_bytes = 0;
    return code;
}

static enum st_code units_link(struct session *s, struct module *to, struct st_error *err)
{
    struct vg_image *images = calloc(s->unit_count, sizeof *images);
    if (!images)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a module");
    struct sha256 hash;
    sha256_begin(&hash);
    for (size_t i = 0; i < s->unit_count; i++) {
        sha256_add(&hash, s->units[i].ptx, s->units[i].ptx_bytes);
        images[i] = (struct vg_image){s->units[i].ptx, s->units[i].ptx_bytes, s->units[i].kernels,
                                      s->units[i].kernel_count};
    }
    sha256_end_hex(&hash, to->ptx_hash);
    enum st_code code = vg_module_link(s->device, &to->module, images, s->unit_count, err);
    free(images);
    return code;
}

/* Keeps the PTX of a module without machine code for ptxas, unless it has units that must be
 * linked. */
static void ptx_keep(struct session *s, struct module *module)
{
    struct fatbin_module *unit = s->units;
    if (s->unit_count != 1 || unit->kernel_count || !ptxas_is_there())
        return;
    module->ptx = unit->ptx;
    module->ptx_bytes = unit->ptx_bytes;
    unit->ptx = NULL;
}

void session_module_free(void *object)
{
    struct module *module = object;
    free(module->ptx);
    free(module);
}

SESSION_OP(MODULE_LOAD)
{
    struct st_error err;
    enum st_code code = unit_add(s, &err);
    if (code) {
        session_units_free(s);
        say_error("the program cannot run", &err);
        return image_error(code);
    }
    if (x->request.a[0])
        return VP_OK;
    struct module *module = calloc(1, sizeof *module);
    code = module ? units_link(s, module, &err)
                  : st_fail(&err, ST_NO_MEMORY, "out of memory for a module");
    if (!code)
        ptx_keep(s, module);
    session_units_free(s);
    if (!code && (x->reply.r[0] = handles_add(&s->modules, module)) != 0)
        return VP_OK;
    if (module)
        session_module_free(module);
    if (!code)
        return VP_OUT_OF_MEMORY;
    say_error("the program's GPU code cannot run", &err);
    return code == ST_NO_MEMORY ? VP_OUT_OF_MEMORY : VP_INVALID_PTX;
}

SESSION_OP(MODULE_UNLOAD)
{
    struct module *module = handles_remove(&s->modules, x->request.a[0]);
    if (!module)
        return VP_INVALID_HANDLE;
    for (uint64_t i = 0; i < s->kernels.n; i++) {
        struct kernel *kernel = s->kernels.objects[i];
        if (kernel && kernel->module == module)
            free(handles_remove(&s->kernels, s->kernels.base + i));
    }
    vg_module_unload(s->device, module->module);
    session_module_free(module);
    return VP_OK;
}

/* @return the name in a request's payload; NULL if it is empty, too long or contains a NUL. */
static const char *payload_name(const struct exchange *x)
{
    size_t n = x->request.payload_bytes;
    if (n == 0 || n >= sizeof((struct kernel *)0)->name || memchr(x->payload, '\0', n))
        return NULL;
    return (const char *)x->payload;
}

/* Replies with the offset and size of each parameter. */
static int kernel_layout(struct exchange *x, struct vg_kernel *found)
{
    x->reply.r[1] = vg_kernel_parameter_bytes(found);
    uint32_t *table = (uint32_t *)(void *)x->reply_payload;
    size_t offset, bytes;
    for (int i = 0; vg_kernel_parameter(found, i, &offset, &bytes); i++) {
        if ((size_t)(i + 1) * 8 > VP_PAYLOAD_MAX)
            return VP_INVALID_IMAGE;
        table[2 * i] = (uint32_t)offset;
        table[2 * i + 1] = (uint32_t)bytes;
        x->reply.payload_bytes = (uint32_t)(i + 1) * 8;
    }
    return VP_OK;
}

SESSION_OP(KERNEL)
{
    struct module *module = handles_get(&s->modules, x->request.a[0]);
    const char *name = payload_name(x);
    struct vg_kernel *found = module && name ? vg_module_kernel(module->module, name) : NULL;
    if (!found)
        return VP_INVALID_DEVICE_FUNCTION;
    struct kernel *kernel = NULL;
    for (size_t i = 0; i < s->kernels.n && !kernel; i++) { /* a repeated request: the same handle */
        kernel = s->kernels.objects[i];
        if (kernel && kernel->kernel == found)
            x->reply.r[0] = s->kernels.base + i;
        else
            kernel = NULL;
    }
    if (kernel)
        return kernel_layout(x, found);
    kernel = calloc(1, sizeof *kernel + vg_kernel_parameter_bytes(found));
    if (!kernel || !(x->reply.r[0] = handles_add(&s->kernels, kernel))) {
        free(kernel);
        return VP_OUT_OF_MEMORY;
    }
    kernel->kernel = found;
    kernel->module = module;
    kernel->carveout = -1;
    name_demangle(name, kernel->name, sizeof kernel->name);
    return kernel_layout(x, found);
}

SESSION_OP(KERNEL_NAME)
{
    struct module *module = handles_get(&s->modules, x->request.a[0]);
    size_t count = 0;
    if (!module)
        return VP_INVALID_HANDLE;
    const char *name = vg_module_kernel_name(module->module, x->request.a[1], &count);
    x->reply.r[0] = count;
    if (name && strlen(name) < sizeof x->reply_payload) {
        x->reply.payload_bytes = (uint32_t)strlen(name) + 1;
        memcpy(x->reply_payload, name, x->reply.payload_bytes);
    }
    return VP_OK;
}

SESSION_OP(VARIABLE)
{
    struct module *module = handles_get(&s->modules, x->request.a[0]);
    const char *name = payload_name(x);
    uint64_t address;
    size_t bytes;
    if (!module || !name || !vg_module_variable(module->module, name, &address, &bytes))
        return VP_INVALID_SYMBOL;
    x->reply.r[0] = address;
    x->reply.r[1] = bytes;
    return VP_OK;
}

void session_registers_settle(struct session *s, struct kernel *kernel,
                              struct vg_kernel_attributes *attributes)
{
    const struct vg_profile *p = &s->shared->profile;
    const struct module *module = kernel->module;
    struct vg_kernel_info info;
    vg_kernel_attributes_get(kernel->kernel, attributes);
    if (!attributes->registers_are_estimated || kernel->asked || !module->ptx)
        return;
    kernel->asked = true;
    const int device = p->compute_major * 10 + p->compute_minor;
    const int sm = device > attributes->ptx_sm ? device : attributes->ptx_sm;
    if (ptxas_ask(module->ptx, module->ptx_bytes, vg_kernel_symbol(kernel->kernel), sm, &info)) {
        vg_kernel_info_set(kernel->kernel, &info);
        vg_kernel_attributes_get(kernel->kernel, attributes);
    }
}

SESSION_OP(KERNEL_INFO)
{
    struct kernel *kernel = handles_get(&s->kernels, x->request.a[0]);
    if (!kernel)
        return VP_INVALID_DEVICE_FUNCTION;
    struct vp_kernel_info info = {.max_dynamic_shared_bytes =
                                      vg_kernel_dynamic_shared_most(kernel->kernel),
                                  .carveout = kernel->carveout,
                                  .non_portable_cluster = kernel->non_portable_cluster};
    session_registers_settle(s, kernel, &info.attributes);
    const struct vg_dim own =
        info.attributes.cluster.x ? info.attributes.cluster : kernel->required_cluster;
    memcpy(info.required_cluster, &(uint32_t[]){own.x, own.y, own.z}, sizeof info.required_cluster);
    info.must_set_cluster = info.attributes.explicit_cluster || kernel->must_set_cluster;
    memcpy(x->reply_payload, &info, sizeof info);
    x->reply.payload_bytes = sizeof info;
    return VP_OK;
}

SESSION_OP(KERNEL_SET)
{
    struct kernel *kernel = handles_get(&s->kernels, x->request.a[0]);
    int64_t value = (int64_t)x->request.a[2];
    if (!kernel)
        return VP_INVALID_DEVICE_FUNCTION;
    struct vg_kernel_attributes attributes;
    vg_kernel_attributes_get(kernel->kernel, &attributes);
    switch (x->request.a[1]) {
    case VP_SET_DYNAMIC_SHARED:
        if (value < 0 || (uint64_t)value + attributes.static_shared_bytes >
                             s->shared->profile.shared_per_block_optin_bytes) {
            say("%s: %s: %lld bytes of dynamic shared memory, at most %lld on this GPU",
                x->request.api, kernel->name, (long long)value,
                (long long)(s->shared->profile.shared_per_block_optin_bytes -
                            attributes.static_shared_bytes));
            return VP_INVALID_VALUE;
        }
        vg_kernel_dynamic_shared_allow(kernel->kernel, (size_t)value);
        return VP_OK;
    case VP_SET_CARVEOUT:
        if (value < -1 || value > 100)
            return VP_INVALID_VALUE;
        kernel->carveout = (int)value;
        return VP_OK;
    case VP_SET_CLUSTER_WIDTH:
    case VP_SET_CLUSTER_HEIGHT:
    case VP_SET_CLUSTER_DEPTH:
        if (value < 0 || value > UINT16_MAX || attributes.cluster.x)
            return VP_INVALID_VALUE;
        *(x->request.a[1] == VP_SET_CLUSTER_WIDTH    ? &kernel->required_cluster.x
          : x->request.a[1] == VP_SET_CLUSTER_HEIGHT ? &kernel->required_cluster.y
                                                     : &kernel->required_cluster.z) =
            (uint32_t)value;
        return VP_OK;
    case VP_SET_CLUSTER_MUST_BE_SET:
        kernel->must_set_cluster = value != 0;
        return VP_OK;
    case VP_SET_NON_PORTABLE_CLUSTER:
        kernel->non_portable_cluster = value != 0;
        return VP_OK;
    default:
        return VP_INVALID_VALUE;
    }
}
