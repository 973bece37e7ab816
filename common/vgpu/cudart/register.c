/* The calls of nvcc's code before main and at exit: they register fat binaries, kernels and
 * variables here. The device receives them on first use. */
#include "base/array_room.h"
#include "vgpu/cudart/shim.h"
#include "vgpu/fatbin/fatbin_wrapper.h"

#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The argument of one __cudaRegisterFatBinary: a fat binary, or the fat binaries of all units of a
 * separately compiled program, which the device links. The program's handle points to it.
 */
struct binary {
    const void **images;
    size_t n;
    uint64_t module; /* the device's number */
    bool tried;
    bool is_owned; /* the library owns the images and the names of functions */
    cudaError_t error;
};

/* An open hash table of kernels, by the address of the host stub and of the struct function. */
static struct {
    const void **keys;
    struct function **values;
    size_t used, room;
} functions;
static struct variable **variables;
static size_t variable_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the table of kernels ------------------------------------------------------------------- */

static size_t slot_of(const void *key)
{
    size_t at =
        (size_t)(((uintptr_t)key >> 3) * UINT64_C(0x9E3779B97F4A7C15)) & (functions.room - 1);
    while (functions.keys[at] && functions.keys[at] != key)
        at = (at + 1) & (functions.room - 1);
    return at;
}

static void table_put(const void *key, struct function *f)
{
    if (2 * (functions.used + 1) > functions.room) {
        size_t old = functions.room;
        const void **keys = functions.keys;
        struct function **values = functions.values;
        functions.room = old ? 2 * old : 256;
        functions.keys = calloc(functions.room, sizeof *functions.keys);
        functions.values = calloc(functions.room, sizeof *functions.values);
        functions.used = 0;
        for (size_t i = 0; i < old; i++) {
            if (keys[i] && values[i])
                table_put(keys[i], values[i]);
        }
        free(keys);
        free(values);
    }
    size_t at = slot_of(key);
    functions.used += functions.keys[at] == NULL;
    functions.keys[at] = key;
    functions.values[at] = f;
}

static struct function *table_get(const void *key)
{
    return functions.room && key ? functions.values[slot_of(key)] : NULL;
}

/* ---- images --------------------------------------------------------------------------------- */

struct bounds {
    uintptr_t at;
    size_t left;
};

static int segment_find(struct dl_phdr_info *info, size_t size, void *context)
{
    struct bounds *b = context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && b->at >= start && b->at - start < p->p_memsz) {
            b->left = p->p_memsz - (b->at - start);
            return 1;
        }
    }
    return 0;
}

/* @return the length of an image according to its header, limited to its segment. */
static size_t image_bytes(const void *data)
{
    struct bounds b = {(uintptr_t)data, SIZE_MAX};
    dl_iterate_phdr(segment_find, &b);
    struct fatbin_container header;
    if (b.left < sizeof header)
        return b.left;
    memcpy(&header, data, sizeof header);
    if (header.magic != FATBIN_MAGIC)
        return sizeof header;
    size_t room = b.left - sizeof header;
    return sizeof header + (header.bytes < room ? header.bytes : room);
}

/* Sends one image. */
static cudaError_t image_send(const void *data, bool more, uint64_t *module)
{
    size_t total = image_bytes(data);
    cudaError_t error = cudaSuccess;
    rt_lock();
    for (size_t at = 0; !error && at < total;) {
        size_t now = total - at < VP_WINDOW_BYTES ? total - at : VP_WINDOW_BYTES;
        memcpy(rt_window(), (const char *)data + at, now);
        error = rt_request(VP_MODULE_DATA, "", 0, at, now, total);
        at += now;
    }
    struct call c = rt_call(VP_MODULE_LOAD, "", 0, more);
    if (!error)
        error = rt_exchange(&c);
    rt_unlock();
    *module = c.reply.r[0];
    return error;
}

cudaError_t rt_binary_load(struct binary *binary)
{
    if (binary->tried)
        return binary->error;
    cudaError_t error = rt_profile() ? cudaSuccess : cudaErrorNoDevice;
    for (size_t i = 0; i < binary->n && !error; i++)
        error = image_send(binary->images[i], i + 1 < binary->n, &binary->module);
    if (error == cudaErrorNoDevice || error == cudaErrorDevicesUnavailable)
        return error;
    binary->tried = true;
    return binary->error = error;
}

/* Looks up a name in the module of a binary, with KERNEL or VARIABLE. */
static cudaError_t binary_find(struct binary *binary, struct call *c, const char *name)
{
    if (binary->n == 0)
        return cudaErrorInvalidDeviceFunction;
    cudaError_t error = rt_binary_load(binary);
    c->payload = name;
    c->request.payload_bytes = (uint32_t)strlen(name);
    c->request.a[0] = binary->module;
    return error ? error : rt_exchange(c);
}

static cudaError_t function_find(struct function *f)
{
    static uint32_t table[VP_PAYLOAD_MAX / sizeof(uint32_t)];
    struct call c = rt_call(VP_KERNEL, "", 0);
    c.reply_payload = table;
    c.reply_room = sizeof table;
    cudaError_t error = binary_find(f->binary, &c, f->name);
    if (error)
        return error;
    f->table = malloc(c.reply.payload_bytes + 1);
    if (!f->table)
        return cudaErrorMemoryAllocation;
    memcpy(f->table, table, c.reply.payload_bytes);
    f->parameters = c.reply.payload_bytes / 8;
    f->parameter_bytes = (uint32_t)c.reply.r[1];
    f->kernel = c.reply.r[0];
    return cudaSuccess;
}

cudaError_t rt_function(const void *symbol, struct function **function)
{
    pthread_mutex_lock(&lock);
    struct function *f = table_get(symbol);
    /* An unregistered handle is an invalid handle, as in the real runtime. */
    cudaError_t error = f ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (f && !f->kernel)
        error = function_find(f);
    pthread_mutex_unlock(&lock);
    *function = error ? NULL : f;
    return error;
}

struct binary *rt_binary_new(void **images, size_t n)
{
    struct binary *binary = calloc(1, sizeof *binary);
    if (binary)
        *binary = (struct binary){.images = (const void **)images, .n = n, .is_owned = true};
    return binary;
}

cudaError_t rt_binary_function(struct binary *binary, const char *name, struct function **function)
{
    struct function *f = calloc(1, sizeof *f);
    char *own_name = strdup(name);
    if (!f || !own_name) {
        free(f);
        free(own_name);
        return cudaErrorMemoryAllocation;
    }
    *f = (struct function){.binary = binary, .host = f, .name = own_name};
    pthread_mutex_lock(&lock);
    cudaError_t error = function_find(f);
    if (!error)
        table_put(f, f);
    pthread_mutex_unlock(&lock);
    if (error) {
        free(own_name);
        free(f);
    }
    *function = error ? NULL : f;
    return error;
}

cudaError_t rt_binary_functions(struct binary *binary, struct function **to, unsigned n,
                                unsigned *count)
{
    static char name[VP_PAYLOAD_MAX];
    static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&name_lock);
    for (unsigned i = 0; i <= n && !error; i++) {
        struct call c = rt_call(VP_KERNEL_NAME, "", 0, binary->module, i);
        c.reply_payload = name;
        c.reply_room = sizeof name;
        error = rt_exchange(&c);
        *count = (unsigned)c.reply.r[0];
        if (error || i == n || i >= *count)
            break;
        error = rt_binary_function(binary, name, &to[i]);
    }
    pthread_mutex_unlock(&name_lock);
    return error;
}

cudaError_t rt_binary_variable(struct binary *binary, const char *name, uint64_t *address,
                               size_t *bytes)
{
    struct call c = rt_call(VP_VARIABLE, "", 0);
    pthread_mutex_lock(&lock);
    cudaError_t error = binary_find(binary, &c, name);
    pthread_mutex_unlock(&lock);
    *address = c.reply.r[0];
    *bytes = c.reply.r[1];
    return error;
}

static cudaError_t variable_find(struct variable *v)
{
    struct call c = rt_call(VP_VARIABLE, "", 0);
    cudaError_t error = v->address ? cudaSuccess : binary_find(v->binary, &c, v->name);
    if (!error && !v->address) {
        v->address = c.reply.r[0];
        v->bytes = c.reply.r[1];
    }
    return error == cudaErrorInvalidDeviceFunction ? cudaErrorInvalidSymbol : error;
}

cudaError_t rt_variable(const void *symbol, struct variable **variable)
{
    cudaError_t error = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < variable_count; i++) {
        struct variable *v = variables[i];
        if (v->host == symbol || (v->managed_host && *v->managed_host == symbol)) {
            error = variable_find(v);
            *variable = error ? NULL : v;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

bool rt_is_managed_variable(const void *p)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < variable_count && !found; i++)
        found = variables[i]->managed_host &&
                (uintptr_t)p - (uintptr_t)*variables[i]->managed_host < variables[i]->bytes;
    pthread_mutex_unlock(&lock);
    return found;
}

static void binary_forget(struct binary *binary)
{
    binary->tried = false;
    binary->module = 0;
}

void rt_forget(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < functions.room; i++) {
        struct function *f = functions.values[i];
        if (!f || !f->kernel)
            continue;
        binary_forget(f->binary);
        f->kernel = 0;
        free(f->table);
        f->table = NULL;
    }
    for (size_t i = 0; i < variable_count; i++) {
        binary_forget(variables[i]->binary);
        if (!variables[i]->managed_host)
            variables[i]->address = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- managed variables ---------------------------------------------------------------------- */

/* Maps the host's copy of a managed variable at the device's address, so that pointers to it are
 * valid on both sides. */
static void managed_map(struct variable *v)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (variable_find(v) != cudaSuccess) {
        *v->managed_host = calloc(1, v->bytes); /* the host's copy still works */
        return;
    }
    uintptr_t start = v->address / page * page, end = v->address + v->bytes;
    for (uintptr_t at = start; at < end; at += page) /* a page may hold several variables */
        mmap((void *)at, page, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    *v->managed_host = POINTER(v->address);
}

static void managed_copy(bool push)
{
    for (size_t i = 0; i < variable_count; i++) {
        struct variable *v = variables[i];
        for (size_t at = 0; v->managed_host && v->address && at < v->bytes;) {
            size_t now = v->bytes - at < VP_WINDOW_BYTES ? v->bytes - at : VP_WINDOW_BYTES;
            char *host = (char *)(uintptr_t)v->address + at;
            rt_lock();
            if (push)
                memcpy(rt_window(), host, now);
            cudaError_t error = rt_request(push ? VP_COPY_IN : VP_COPY_OUT, "", 0, v->address + at,
                                           now, 1, now, 0, at + now == v->bytes, VP_MANAGED);
            if (!push && !error)
                memcpy(host, rt_window(), now);
            rt_unlock();
            at += now;
        }
    }
}

static bool managed_any, managed_device_newer;

void rt_managed_push(void)
{
    if (!managed_any)
        return;
    rt_managed_pull(); /* if no synchronisation followed the last launch, the device's values are
                          newer */
    managed_copy(true);
    managed_device_newer = true;
}

void rt_managed_pull(void)
{
    if (!managed_any || !managed_device_newer)
        return;
    managed_device_newer = false;
    managed_copy(false);
}

/* ---- functions called by nvcc's code --------------------------------------------------------- */

API void **__cudaRegisterFatBinary(void *fat_cubin);
API void __cudaRegisterFatBinaryEnd(void **handle);
API void __cudaUnregisterFatBinary(void **handle);
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int thread_limit, uint3 *tid, uint3 *bid, dim3 *bdim, dim3 *gdim,
                                int *wsize);
API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t bytes, int constant, int global);
API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int ext, size_t bytes, int constant, int global);
API char __cudaInitModule(void **handle);
API void __cudaRegisterUnifiedTable(void **handle, void *table);

API void **__cudaRegisterFatBinary(void *fat_cubin)
{
    const struct fatbin_wrapper *w = fat_cubin;
    struct binary *binary = calloc(1, sizeof *binary);
    size_t n = 1;
    const void *const *list = &w->data;
    if (w->version == FATBIN_WRAPPER_LINKED && w->images) {
        list = w->images;
        for (n = 0; list[n];)
            n++;
    }
    if (!binary || !(binary->images = calloc(n ? n : 1, sizeof *binary->images)))
        abort();
    for (size_t i = 0; i < n; i++)
        binary->images[i] = list[i];
    binary->n = n;
    return (void **)binary;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
    struct binary *binary = (struct binary *)handle;
    for (size_t i = 0; i < variable_count; i++) {
        if (variables[i]->binary == binary && variables[i]->managed_host)
            managed_map(variables[i]);
    }
    rt_managed_pull();
}

static void function_free(struct function *f)
{
    if (f->binary->is_owned)
        free((char *)(uintptr_t)f->name);
    free(f->table);
    free(f);
}

static void binary_forget_names(struct binary *binary)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < functions.room; i++) {
        struct function *f = functions.values[i];
        if (!f || f->binary != binary)
            continue;
        functions.values[i] = NULL; /* the key is kept, so that later entries of the chain are still
                                       found */
        if (functions.keys[i] == f->host) {
            functions.values[slot_of(f)] = NULL;
            function_free(f);
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < variable_count; i++) {
        if (variables[i]->binary == binary)
            free(variables[i]);
        else
            variables[kept++] = variables[i];
    }
    variable_count = kept;
    pthread_mutex_unlock(&lock);
}

void rt_binary_free(struct binary *binary)
{
    binary_forget_names(binary);
    if (binary->module && rt_connected())
        rt_request(VP_MODULE_UNLOAD, "", 0, binary->module);
    for (size_t i = 0; binary->is_owned && i < binary->n; i++)
        free((void *)(uintptr_t)binary->images[i]);
    free(binary->images);
    free(binary);
}

API void __cudaUnregisterFatBinary(void **handle)
{
    rt_binary_free((struct binary *)handle);
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int thread_limit, uint3 *tid, uint3 *bid, dim3 *bdim, dim3 *gdim,
                                int *wsize)
{
    struct function *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->binary = (struct binary *)handle;
    f->host = host;
    f->name = name;
    pthread_mutex_lock(&lock);
    table_put(host, f);
    table_put(f, f);
    pthread_mutex_unlock(&lock);
}

static struct variable *variable_add(void **handle, const void *host, const char *name,
                                     size_t bytes)
{
    struct variable *v = calloc(1, sizeof *v);
    if (!v || !ARRAY_ROOM(variables, variable_count))
        abort();
    *v = (struct variable){
        .binary = (struct binary *)handle, .host = host, .name = name, .bytes = bytes};
    variables[variable_count++] = v;
    return v;
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                           size_t bytes, int constant, int global)
{
    pthread_mutex_lock(&lock);
    variable_add(handle, host, name, bytes);
    pthread_mutex_unlock(&lock);
}

API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    __cudaRegisterVar(handle, host, NULL, name, 0, bytes, 0, 0);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int ext, size_t bytes, int constant, int global)
{
    pthread_mutex_lock(&lock);
    struct variable *v = variable_add(handle, host, name, bytes);
    v->managed_host = host;
    managed_any = managed_device_newer = true;
    pthread_mutex_unlock(&lock);
}

API char __cudaInitModule(void **handle)
{
    return 1;
}

API void __cudaRegisterUnifiedTable(void **handle, void *table)
{
}
