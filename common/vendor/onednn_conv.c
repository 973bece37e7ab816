/* oneDNN through its C interface, version 2 or 3: a convolution is a list of primitives executed in
 * order: the convolution itself, and reorders between NCHW and the convolution's preferred
 * layout. */
#include "vendor/onednn_conv.h"

/* onednn_abi.h declares the part of the interface that we use, so that a program can use any
 * version that it finds; if oneDNN's headers exist, the test compares the declarations. */
#include "base/clock.h"
#include "vendor/onednn_abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 4 };

struct vn_onednn {
    void *engine, *stream;
    bool is_3;
    char version[32];
#define ONEDNN_FIELD(result, name, parameters) result(*name) parameters;
    ONEDNN_MAP(ONEDNN_FIELD)
    ONEDNN_2_MAP(ONEDNN_FIELD)
    ONEDNN_3_MAP(ONEDNN_FIELD)
#undef ONEDNN_FIELD
};

struct vn_onednn_conv {
    struct vn_onednn *lib;
    char name[64];
    int steps, convolution; /* number of steps, index of the convolution's step */
    struct step {
        void *primitive;
        struct onednn_arg args[3];
        int n_args;
    } step[MAX_STEPS];
    void *memory[6]; /* the caller's x, k, y, then oneDNN's */
};

/* ---- the library ---------------------------------------------------------------------------- */

/* Debian names version 3 only with its minor version, except in the development package. */
static const char *const names[] = {"libdnnl.so", "libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so.2"};

static void *load_library(struct st_error *err)
{
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        st_fail(err, ST_MISSING_TOOL, "oneDNN cannot be loaded");
        st_detail(err, ST_GOT, "%s", dlerror());
        st_detail(err, ST_HINT, "install it: apt-get install libdnnl-dev");
    }
    return library;
}

/* Finds the functions of the library's version. */
static enum st_code find_functions(struct vn_onednn *o, void *library, struct st_error *err)
{
#define ONEDNN_FIND(result, name, parameters)                                                      \
    {                                                                                              \
        void *found = dlsym(library, #name);                                                       \
        if (!found)                                                                                \
            return st_fail(err, ST_MISSING_TOOL, "this oneDNN has no " #name);                     \
        memcpy(&o->name, &found, sizeof found);                                                    \
    }
    ONEDNN_MAP(ONEDNN_FIND)
    const struct onednn_version *v = o->dnnl_version();
    snprintf(o->version, sizeof o->version, "%d.%d.%d", v->major, v->minor, v->patch);
    if (v->major != 2 && v->major != 3) {
        st_fail(err, ST_MISSING_TOOL, "this version of oneDNN is not supported");
        st_detail(err, ST_EXPECTED, "version 2 or 3");
        return st_detail(err, ST_GOT, "version %s", o->version);
    }
    o->is_3 = v->major == 3;
    if (o->is_3) {
        ONEDNN_3_MAP(ONEDNN_FIND)
    } else {
        ONEDNN_2_MAP(ONEDNN_FIND)
    }
#undef ONEDNN_FIND
    return ST_OK;
}

enum st_code vn_onednn_open(struct vn_onednn **onednn, struct st_error *err)
{
    *onednn = NULL;
    struct vn_onednn *o = calloc(1, sizeof *o);
    if (!o)
        return st_fail(err, ST_NO_MEMORY, "not enough memory for oneDNN's functions");
    void *library = load_library(err);
    if (!library || find_functions(o, library, err)) {
        free(o);
        return ST_MISSING_TOOL;
    }
    if (o->dnnl_engine_create(&o->engine, ONEDNN_CPU, 0) != ONEDNN_SUCCESS ||
        o->dnnl_stream_create(&o->stream, o->engine, ONEDNN_STREAM) != ONEDNN_SUCCESS) {
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
    /* The library is not unloaded, because its threads may still run. */
    free(o);
}

const char *vn_onednn_version(const struct vn_onednn *onednn)
{
    return onednn->version;
}

/* ---- a convolution -------------------------------------------------------------------------- */

/* Returns from the function if a call of the library failed. */
#define TRY(function, ...)                                                                         \
    do {                                                                                           \
        const int status = (function)(__VA_ARGS__);                                                \
        if (status != ONEDNN_SUCCESS)                                                              \
            return st_fail(err, ST_CHILD, #function ": oneDNN status %d", status);                 \
    } while (0)

/** The layout of a tensor; version 2 keeps it in `held`. */
struct tensor {
    const void *desc;
    void *made;
    struct onednn2_tensor held;
};

static enum st_code describe(struct vn_onednn *lib, struct tensor *t, const onednn_dims dims,
                             bool choose, struct st_error *err)
{
    const int layout = choose ? ONEDNN_ANY : ONEDNN_ROW_MAJOR;
    if (lib->is_3)
        TRY(lib->dnnl_memory_desc_create_with_tag, &t->made, 4, dims, ONEDNN_FLOAT32, layout);
    else
        TRY(lib->dnnl_memory_desc_init_by_tag, &t->held, 4, dims, ONEDNN_FLOAT32, layout);
    t->desc = lib->is_3 ? t->made : &t->held;
    return ST_OK;
}

static void forget(struct vn_onednn *lib, struct tensor t[3])
{
    for (int i = 0; i < 3; i++)
        if (t[i].made)
            lib->dnnl_memory_desc_destroy(t[i].made);
}

/* Requests a convolution of tensors in these layouts. */
static enum st_code choose_convolution(struct vn_onednn *lib, const struct tensor wish[3],
                                       void **desc, struct st_error *err)
{
    const onednn_dims stride = {1, 1}, none = {0};
    if (lib->is_3) {
        TRY(lib->dnnl_convolution_forward_primitive_desc_create, desc, lib->engine,
            ONEDNN_INFERENCE, ONEDNN_DIRECT, wish[0].desc, wish[1].desc, NULL, wish[2].desc, stride,
            none, none, none, NULL);
        return ST_OK;
    }
    struct onednn2_convolution convolution;
    TRY(lib->dnnl_convolution_forward_desc_init, &convolution, ONEDNN_INFERENCE, ONEDNN_DIRECT,
        wish[0].desc, wish[1].desc, NULL, wish[2].desc, stride, none, none);
    TRY(lib->dnnl_primitive_desc_create, desc, &convolution, NULL, lib->engine, NULL);
    return ST_OK;
}

static enum st_code add_reorder(struct vn_onednn_conv *o, void *from, void *to,
                                struct st_error *err)
{
    struct vn_onednn *lib = o->lib;
    const void *from_desc, *to_desc;
    void *desc;
    struct step *s = &o->step[o->steps];
    TRY(lib->dnnl_memory_get_memory_desc, from, &from_desc);
    TRY(lib->dnnl_memory_get_memory_desc, to, &to_desc);
    TRY(lib->dnnl_reorder_primitive_desc_create, &desc, from_desc, lib->engine, to_desc,
        lib->engine, NULL);
    const int created = lib->dnnl_primitive_create(&s->primitive, desc);
    lib->dnnl_primitive_desc_destroy(desc);
    if (created != ONEDNN_SUCCESS)
        return st_fail(err, ST_CHILD, "oneDNN cannot reorder: status %d", created);
    s->args[0] = (struct onednn_arg){ONEDNN_ARG_FROM, from};
    s->args[1] = (struct onednn_arg){ONEDNN_ARG_TO, to};
    s->n_args = 2;
    o->steps++;
    return ST_OK;
}

/* Makes the tensors and the steps from the library's choice. */
static enum st_code add_steps(struct vn_onednn_conv *o, const void *desc,
                              const struct tensor user[3], void *const data[3],
                              struct st_error *err)
{
    struct vn_onednn *lib = o->lib;
    static const int query[3] = {ONEDNN_QUERY_X, ONEDNN_QUERY_K, ONEDNN_QUERY_Y};
    bool same[3];
    enum st_code code;
    for (int i = 0; i < 3; i++) {
        const void *inner = lib->dnnl_primitive_desc_query_md(desc, query[i], 0);
        same[i] = lib->dnnl_memory_desc_equal(inner, user[i].desc);
        TRY(lib->dnnl_memory_create, &o->memory[i], user[i].desc, lib->engine, data[i]);
        TRY(lib->dnnl_memory_create, &o->memory[3 + i], same[i] ? user[i].desc : inner, lib->engine,
            same[i] ? data[i] : ONEDNN_ALLOCATE);
        if (i < 2 && !same[i] && (code = add_reorder(o, o->memory[i], o->memory[3 + i], err)))
            return code;
    }
    struct step *c = &o->step[o->steps];
    TRY(lib->dnnl_primitive_create, &c->primitive, desc);
    c->args[0] = (struct onednn_arg){ONEDNN_ARG_FROM, o->memory[3]};
    c->args[1] = (struct onednn_arg){ONEDNN_ARG_WEIGHTS, o->memory[4]};
    c->args[2] = (struct onednn_arg){ONEDNN_ARG_TO, o->memory[5]};
    c->n_args = 3;
    o->convolution = o->steps++;
    return same[2] ? ST_OK : add_reorder(o, o->memory[5], o->memory[2], err);
}

static enum st_code prepare(struct vn_onednn_conv *o, const struct conv_shape *s, bool choose_x,
                            bool choose_y, void *const data[3], struct st_error *err)
{
    struct vn_onednn *lib = o->lib;
    const onednn_dims dims[3] = {{s->B, s->C, s->H, s->W},
                                 {s->M, s->C, s->K, s->K},
                                 {s->B, s->M, s->H - s->K + 1, s->W - s->K + 1}};
    const bool choose[3] = {choose_x, true, choose_y};
    struct tensor user[3] = {0}, wish[3] = {0};
    void *desc = NULL;
    enum st_code code = ST_OK;
    for (int i = 0; i < 3 && !code; i++) {
        code = describe(lib, &user[i], dims[i], false, err);
        if (!code)
            code = describe(lib, &wish[i], dims[i], choose[i], err);
    }
    if (!code)
        code = choose_convolution(lib, wish, &desc, err);
    if (!code) {
        const char *name = "?";
        lib->dnnl_primitive_desc_query(desc, ONEDNN_QUERY_NAME, 0, (void *)&name);
        snprintf(o->name, sizeof o->name, "%s", name);
        code = add_steps(o, desc, user, data, err);
        lib->dnnl_primitive_desc_destroy(desc);
    }
    forget(lib, user);
    forget(lib, wish);
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
        return st_fail(err, ST_NO_MEMORY, "not enough memory for the description of a convolution");
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
