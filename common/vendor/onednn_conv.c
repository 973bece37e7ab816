/* oneDNN through its C interface, version 2: a convolution is a list of primitives that are
 * executed in order, one of them the convolution and the others reorders between NCHW and the
 * layout that the convolution wants. */
#include "vendor/onednn_conv.h"

#if defined(__has_include) && __has_include(<dnnl.h>)
#include <dnnl.h>
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2
#include "base/clock.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 4 };

/** The functions used: X(name). Their types are those of the headers. */
#define ONEDNN_MAP(X)                                                                              \
    X(dnnl_version)                                                                                \
    X(dnnl_engine_create)                                                                          \
    X(dnnl_engine_destroy)                                                                         \
    X(dnnl_stream_create)                                                                          \
    X(dnnl_stream_destroy)                                                                         \
    X(dnnl_stream_wait)                                                                            \
    X(dnnl_memory_desc_init_by_tag)                                                                \
    X(dnnl_memory_desc_equal)                                                                      \
    X(dnnl_memory_get_memory_desc)                                                                 \
    X(dnnl_memory_create)                                                                          \
    X(dnnl_memory_destroy)                                                                         \
    X(dnnl_reorder_primitive_desc_create)                                                          \
    X(dnnl_convolution_forward_desc_init)                                                          \
    X(dnnl_primitive_desc_create)                                                                  \
    X(dnnl_primitive_desc_query)                                                                   \
    X(dnnl_primitive_desc_query_md)                                                                \
    X(dnnl_primitive_desc_destroy)                                                                 \
    X(dnnl_primitive_create)                                                                       \
    X(dnnl_primitive_destroy)                                                                      \
    X(dnnl_primitive_execute)

struct vn_onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    char version[32];
#define ONEDNN_FIELD(name) __typeof__(&name) name;
    ONEDNN_MAP(ONEDNN_FIELD)
#undef ONEDNN_FIELD
};

struct vn_onednn_conv {
    struct vn_onednn *lib;
    char name[64];
    int steps, convolution; /* how many, and which of them is the convolution */
    struct step {
        dnnl_primitive_t primitive;
        dnnl_exec_arg_t args[3];
        int n_args;
    } step[MAX_STEPS];
    dnnl_memory_t memory[6]; /* user's and internal x, k, y */
};

/* ---- the library ---------------------------------------------------------------------------- */

enum st_code vn_onednn_open(struct vn_onednn **onednn, struct st_error *err)
{
    *onednn = NULL;
    struct vn_onednn *o = calloc(1, sizeof *o);
    if (!o)
        return st_fail(err, ST_NO_MEMORY, "cannot hold oneDNN's functions in memory");
    void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        st_fail(err, ST_MISSING_TOOL, "oneDNN 2 cannot be loaded");
        st_detail(err, ST_GOT, "%s", dlerror());
        st_detail(err, ST_HINT, "install it: apt-get install libdnnl2");
        free(o);
        return ST_MISSING_TOOL;
    }
#define ONEDNN_FIND(name)                                                                          \
    {                                                                                              \
        void *found = dlsym(library, #name);                                                       \
        if (!found) {                                                                              \
            free(o);                                                                               \
            return st_fail(err, ST_MISSING_TOOL, "this oneDNN has no " #name);                     \
        }                                                                                          \
        memcpy(&o->name, &found, sizeof found);                                                    \
    }
    ONEDNN_MAP(ONEDNN_FIND)
#undef ONEDNN_FIND
    const dnnl_version_t *v = o->dnnl_version();
    snprintf(o->version, sizeof o->version, "%d.%d.%d", v->major, v->minor, v->patch);
    if (o->dnnl_engine_create(&o->engine, dnnl_cpu, 0) != dnnl_success ||
        o->dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags) != dnnl_success) {
        vn_onednn_close(o);
        return st_fail(err, ST_MISSING_TOOL, "oneDNN cannot use this CPU");
    }
    *onednn = o;
    return ST_OK;
}

void vn_onednn_close(struct vn_onednn *o)
{
    if (!o)
        return;
    if (o->stream)
        o->dnnl_stream_destroy(o->stream);
    if (o->engine)
        o->dnnl_engine_destroy(o->engine);
    /* Not unloaded: its threads may still run. */
    free(o);
}

const char *vn_onednn_version(const struct vn_onednn *onednn)
{
    return onednn->version;
}

/* ---- a convolution -------------------------------------------------------------------------- */

/* Leaves the function if a call of the library failed. */
#define TRY(function, ...)                                                                         \
    do {                                                                                           \
        const dnnl_status_t status = (function)(__VA_ARGS__);                                      \
        if (status != dnnl_success)                                                                \
            return st_fail(err, ST_CHILD, #function ": oneDNN status %d", (int)status);            \
    } while (0)

static enum st_code add_reorder(struct vn_onednn_conv *o, dnnl_memory_t from, dnnl_memory_t to,
                                struct st_error *err)
{
    struct vn_onednn *lib = o->lib;
    const dnnl_memory_desc_t *from_desc, *to_desc;
    dnnl_primitive_desc_t desc;
    struct step *s = &o->step[o->steps];
    TRY(lib->dnnl_memory_get_memory_desc, from, &from_desc);
    TRY(lib->dnnl_memory_get_memory_desc, to, &to_desc);
    TRY(lib->dnnl_reorder_primitive_desc_create, &desc, from_desc, lib->engine, to_desc,
        lib->engine, NULL);
    const dnnl_status_t created = lib->dnnl_primitive_create(&s->primitive, desc);
    lib->dnnl_primitive_desc_destroy(desc);
    if (created != dnnl_success)
        return st_fail(err, ST_CHILD, "oneDNN cannot reorder: status %d", (int)created);
    s->args[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, from};
    s->args[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, to};
    s->n_args = 2;
    o->steps++;
    return ST_OK;
}

/* Makes the tensors and the steps from what the library has chosen. */
static enum st_code add_steps(struct vn_onednn_conv *o, dnnl_primitive_desc_t desc,
                              const dnnl_memory_desc_t user[3], void *const data[3],
                              struct st_error *err)
{
    struct vn_onednn *lib = o->lib;
    static const dnnl_query_t query[3] = {dnnl_query_src_md, dnnl_query_weights_md,
                                          dnnl_query_dst_md};
    bool same[3];
    enum st_code code;
    for (int i = 0; i < 3; i++) {
        const dnnl_memory_desc_t *inner = lib->dnnl_primitive_desc_query_md(desc, query[i], 0);
        same[i] = lib->dnnl_memory_desc_equal(inner, &user[i]);
        TRY(lib->dnnl_memory_create, &o->memory[i], &user[i], lib->engine, data[i]);
        TRY(lib->dnnl_memory_create, &o->memory[3 + i], same[i] ? &user[i] : inner, lib->engine,
            same[i] ? data[i] : DNNL_MEMORY_ALLOCATE);
        if (i < 2 && !same[i] && (code = add_reorder(o, o->memory[i], o->memory[3 + i], err)))
            return code;
    }
    struct step *c = &o->step[o->steps];
    TRY(lib->dnnl_primitive_create, &c->primitive, desc);
    c->args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, o->memory[3]};
    c->args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, o->memory[4]};
    c->args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, o->memory[5]};
    c->n_args = 3;
    o->convolution = o->steps++;
    return same[2] ? ST_OK : add_reorder(o, o->memory[5], o->memory[2], err);
}

static enum st_code prepare(struct vn_onednn_conv *o, const struct conv_shape *s, bool choose_x,
                            bool choose_y, void *const data[3], struct st_error *err)
{
    struct vn_onednn *lib = o->lib;
    const dnnl_dims_t dims[3] = {{s->B, s->C, s->H, s->W},
                                 {s->M, s->C, s->K, s->K},
                                 {s->B, s->M, s->H - s->K + 1, s->W - s->K + 1}};
    const dnnl_format_tag_t plain[3] = {dnnl_nchw, dnnl_oihw, dnnl_nchw};
    const bool choose[3] = {choose_x, true, choose_y};
    const dnnl_dims_t stride = {1, 1}, padding = {0, 0};
    dnnl_memory_desc_t user[3], wish[3];
    for (int i = 0; i < 3; i++) {
        TRY(lib->dnnl_memory_desc_init_by_tag, &user[i], 4, dims[i], dnnl_f32, plain[i]);
        TRY(lib->dnnl_memory_desc_init_by_tag, &wish[i], 4, dims[i], dnnl_f32,
            choose[i] ? dnnl_format_tag_any : plain[i]);
    }
    dnnl_convolution_desc_t convolution;
    dnnl_primitive_desc_t desc;
    TRY(lib->dnnl_convolution_forward_desc_init, &convolution, dnnl_forward_inference,
        dnnl_convolution_direct, &wish[0], &wish[1], NULL, &wish[2], stride, padding, padding);
    TRY(lib->dnnl_primitive_desc_create, &desc, &convolution, NULL, lib->engine, NULL);
    const char *name = "?";
    lib->dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name);
    snprintf(o->name, sizeof o->name, "%s", name);
    const enum st_code code = add_steps(o, desc, user, data, err);
    lib->dnnl_primitive_desc_destroy(desc);
    return code;
}

enum st_code vn_onednn_conv_make(struct vn_onednn_conv **conv, struct vn_onednn *onednn,
                                 const struct conv_shape *shape, bool choose_x, bool choose_y,
                                 const float *x, const float *k, float *y, struct st_error *err)
{
    void *const data[3] = {(void *)(uintptr_t)x, (void *)(uintptr_t)k, y};
    struct vn_onednn_conv *o = calloc(1, sizeof *o);
    *conv = NULL;
    if (!o)
        return st_fail(err, ST_NO_MEMORY, "cannot hold a convolution's description in memory");
    o->lib = onednn;
    const enum st_code code = prepare(o, shape, choose_x, choose_y, data, err);
    if (code)
        vn_onednn_conv_free(o);
    else
        *conv = o;
    return code;
}

enum st_code vn_onednn_conv_run(const struct vn_onednn_conv *o, double *total_s, double *reorders_s,
                                struct st_error *err)
{
    double reorders = 0;
    *total_s = 0;
    for (int i = 0; i < o->steps; i++) {
        const struct step *s = &o->step[i];
        const double start = clock_now_s();
        TRY(o->lib->dnnl_primitive_execute, s->primitive, o->lib->stream, s->n_args, s->args);
        TRY(o->lib->dnnl_stream_wait, o->lib->stream);
        const double took = clock_now_s() - start;
        *total_s += took;
        if (i != o->convolution)
            reorders += took;
    }
    if (reorders_s)
        *reorders_s = reorders;
    return ST_OK;
}

const char *vn_onednn_conv_name(const struct vn_onednn_conv *conv)
{
    return conv->name;
}

void vn_onednn_conv_free(struct vn_onednn_conv *o)
{
    if (!o)
        return;
    for (int i = 0; i < MAX_STEPS; i++)
        if (o->step[i].primitive)
            o->lib->dnnl_primitive_destroy(o->step[i].primitive);
    for (int i = 0; i < 6; i++)
        if (o->memory[i])
            o->lib->dnnl_memory_destroy(o->memory[i]);
    free(o);
}

#else /* no headers, or those of another version */

static enum st_code absent(struct st_error *err)
{
    st_fail(err, ST_MISSING_TOOL, "this program was compiled without the headers of oneDNN 2");
    return st_detail(err, ST_HINT, "run: apt-get install libdnnl-dev && make clean m0");
}

enum st_code vn_onednn_open(struct vn_onednn **onednn, struct st_error *err)
{
    *onednn = NULL;
    return absent(err);
}

void vn_onednn_close(struct vn_onednn *onednn)
{
    (void)onednn;
}

const char *vn_onednn_version(const struct vn_onednn *onednn)
{
    (void)onednn;
    return "none";
}

enum st_code vn_onednn_conv_make(struct vn_onednn_conv **conv, struct vn_onednn *onednn,
                                 const struct conv_shape *shape, bool choose_x, bool choose_y,
                                 const float *x, const float *k, float *y, struct st_error *err)
{
    (void)onednn, (void)shape, (void)choose_x, (void)choose_y, (void)x, (void)k, (void)y;
    *conv = NULL;
    return absent(err);
}

enum st_code vn_onednn_conv_run(const struct vn_onednn_conv *conv, double *total_s,
                                double *reorders_s, struct st_error *err)
{
    (void)conv, (void)total_s, (void)reorders_s;
    return absent(err);
}

const char *vn_onednn_conv_name(const struct vn_onednn_conv *conv)
{
    (void)conv;
    return "none";
}

void vn_onednn_conv_free(struct vn_onednn_conv *conv)
{
    (void)conv;
}

#endif
