/** @file
 * libcudart.so.13 of the virtual GPU: the CUDA runtime API as a thin client. This library also
 * serves as libcudart.so.12; functions that differ in CUDA 12 are in cuda12.c.
 *
 * All device state is in the device process (device/device_protocol.h). The shim only has the
 * objects that the program registers before main (register.c), the connection (connect.c), the last
 * error of each thread (error.c), host memory shared with the device (memory_host.c) and the
 * translation of each runtime function into requests (the other files). All other functions are
 * generated stubs.
 *
 * Rules for every public function: it returns its error through rt_return(), which stores the last
 * error; it connects on first use; it may be called from any thread.
 */
#pragma once

#include "vgpu/device/device_protocol.h"

#include "vgpu/cudart/headers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))
/** Defines a runtime function as one expression, its error. */
#define RT(name, parameters, error)                                                                \
    API cudaError_t name parameters                                                                \
    {                                                                                              \
        return rt_return(error);                                                                   \
    }
/** Stores a result through a pointer of the program; NULL is an error. */
#define PUT(to, value, error) ((to) ? (*(to) = (value), (error)) : cudaErrorInvalidValue)
/** Converts a pointer, stream or event to the form in requests, and back. */
#define HANDLE(p)     ((uint64_t)(uintptr_t)(p))
#define POINTER(bits) ((void *)(uintptr_t)(bits))

/** A request under construction; fill in `request`, then call rt_exchange(). */
struct call {
    struct vp_request request;
    struct vp_reply reply;
    const void *payload; /**< [request.payload_bytes] */
    void *reply_payload; /**< NULL: no payload expected */
    size_t reply_room;
    int fd; /**< descriptor that came with the reply, or -1 */
};

/** A request of operation @p op in a stream for the runtime function @p api ("": the shim's own),
 * with up to VP_ARGUMENTS arguments. */
#define rt_call(op, api, stream, ...)                                                              \
    rt_call_with(op, api, HANDLE(stream), (const uint64_t[VP_ARGUMENTS]){__VA_ARGS__})
struct call rt_call_with(enum vp_op op, const char *api, uint64_t stream,
                         const uint64_t arguments[VP_ARGUMENTS]);
/** Sends a request, reads the reply, and prints kernels' output if the reply announces some.
 * Connects first if necessary. @return the device's error. The last error is unchanged. */
cudaError_t rt_exchange(struct call *c);
/** The two halves of an exchange on an open connection: a request may be sent before the reply to
 * the previous request is received. @pre the lock is held */
cudaError_t rt_send(const struct call *c);
cudaError_t rt_receive(struct call *c);
/** Prints the output of kernels, received through the window, if the reply announces some.
 * rt_exchange() calls it except after COPY_OUT. */
void rt_printf_take(const struct call *c);
/** Sends a request without results; parameters as for rt_call(). */
#define rt_request(op, api, stream, ...)                                                           \
    rt_request_with(op, api, HANDLE(stream), (const uint64_t[VP_ARGUMENTS]){__VA_ARGS__})
cudaError_t rt_request_with(enum vp_op op, const char *api, uint64_t stream,
                            const uint64_t arguments[VP_ARGUMENTS]);
/** The connection's lock, which is recursive: hold it from filling the window until the
 * exchange. */
void rt_lock(void);
void rt_unlock(void);
/** @return the window; NULL if not connected. @pre the lock is held */
unsigned char *rt_window(void);
/** @return whether a connection exists; does not open one. */
bool rt_connected(void);
/** Connects if necessary. @return the GPU's description; NULL: no device. */
const struct vg_profile *rt_profile(void);
/** The driver function that the thread executes; NULL: none. While it is set, its name is recorded
 * instead of the runtime's, and the runtime's last error is unchanged. */
extern _Thread_local const char *rt_driver_call;
/** @return whether the program has called a function of the runtime that needs the device. */
bool rt_runtime_is_used(void);
/** Prints a message on stderr, unless *@p said; sets it. */
void rt_say_once(bool *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Writes the result of cudaGetDeviceProperties() for a program of CUDA @p version, 12 or 13. The
 * larger structure, CUDA 12's, has RT_PROPERTIES_BYTES. */
cudaError_t rt_properties(void *to, int device, int version);
enum { RT_PROPERTIES_BYTES = 1032 };

/** Stores an error as the thread's last error and returns it. Every public function ends with
 * this. */
cudaError_t rt_return(cudaError_t error);

/** Maps a file's contents, to be read and then unmapped.
 * @return cudaErrorFileNotFound, or cudaErrorInvalidKernelImage if it cannot be mapped. */
cudaError_t rt_file_map(const char *path, void **image, size_t *bytes);

/** Queues a host function: run(data) on a thread that runs them one after the other. */
cudaError_t rt_queue_add(void (*run)(void *data), void *data);
/** Waits until the queue is empty. Call it before sending later requests. */
void rt_queue_drain(void);
/** @return whether the calling thread runs the queue. */
bool rt_queue_is_own_thread(void);

/** A kernel registered by a program. A cudaKernel_t points to this struct. */
struct function {
    struct binary *binary;
    const void *host; /**< address of the host's stub */
    const char *name; /**< mangled, in the program's memory */
    uint64_t kernel;  /**< the device's number; 0: not looked up yet */
    uint32_t parameter_bytes, parameters;
    uint32_t *table; /**< offset and size of each parameter */
};

/** A variable registered by a program. */
struct variable {
    struct binary *binary;
    const void *host; /**< its address on the host, which is the symbol */
    const char *name;
    size_t bytes;
    uint64_t address;    /**< on the device; 0: not looked up yet */
    void **managed_host; /**< __managed__: address of the program's pointer, else NULL */
};

/** Looks up the kernel of a host stub or cudaKernel_t on the device.
 * @return cudaErrorInvalidResourceHandle if it was never registered, cudaErrorInvalidDeviceFunction
 * if its module does not have it, or the reason why its module cannot be loaded. */
cudaError_t rt_function(const void *symbol, struct function **function);
/** Called after a reset: modules are loaded into the new context when one of their names is used.
 * Managed variables keep their addresses. */
void rt_forget(void);
/** Creates a module, not loaded yet, from images of the program. @param images  containers, each
 * malloc'd, in a malloc'd list; ownership is taken. @return NULL: out of memory; then ownership is
 * not taken. */
struct binary *rt_binary_new(void **images, size_t n);
/** Loads a module onto the device, if it is not loaded yet. */
cudaError_t rt_binary_load(struct binary *binary);
/** Finds a kernel of a module by its name. @return cudaErrorInvalidDeviceFunction if it does not
 * exist. */
cudaError_t rt_binary_function(struct binary *binary, const char *name, struct function **function);
/** Finds the number of a module's kernels, and the first @p n of them, which are created. */
cudaError_t rt_binary_functions(struct binary *binary, struct function **to, unsigned n,
                                unsigned *count);
/** Finds a variable of a module by its name. @return cudaErrorInvalidDeviceFunction if it does not
 * exist. */
cudaError_t rt_binary_variable(struct binary *binary, const char *name, uint64_t *address,
                               size_t *bytes);
/** Unloads a module and releases it with all its functions. */
void rt_binary_free(struct binary *binary);
/** Looks up the variable of a symbol on the device. */
cudaError_t rt_variable(const void *symbol, struct variable **variable);
/** @return whether an address is in a managed variable. */
bool rt_is_managed_variable(const void *p);
/** Copy managed variables to the device (before a launch) or back (after synchronising). Host and
 * device have copies of these variables; only memory from cudaMallocManaged is shared. */
void rt_managed_push(void);
void rt_managed_pull(void);

/** @return whether an address belongs to the device, including memory shared with the host. */
bool rt_is_device_address(const void *p);
/** @return whether the host may access p..p+bytes: not device memory, or shared with the device. */
bool rt_is_host_readable(const void *p, size_t bytes);
/** @return whether host memory is page-locked. */
bool rt_is_pinned(const void *p);
/** @return the device's address of page-locked host memory that it shares; 0 for any other
 * memory */
uint64_t rt_shared_address(const void *p, size_t bytes);

/** Notes the source of an asynchronous copy from page-locked memory. @param api  the call's name */
void rt_source_note(const void *from, size_t bytes, const char *api);
enum { RT_SOURCE_TEXT = 256 };
/** @return whether the host has changed the source that was noted last; then @p text reports it. */
bool rt_source_changed(char text[RT_SOURCE_TEXT]);

/** Copies rows, in any direction. @param flags  VP_ASYNC or 0. */
cudaError_t rt_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags,
                    const char *api);
