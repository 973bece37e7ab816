/** @file
 * The counters of a launch that its row in the trace has: columns of the trace, fields of struct
 * vg_counters. Sectors have 32 bytes; a wavefront is one pass over the 32 banks.
 */
#ifndef CONVLAB_VGPU_TRACE_COUNTERS_H
#define CONVLAB_VGPU_TRACE_COUNTERS_H

#define VG_TRACE_COUNTERS(X)                                                                       \
    X(warp_instructions)                                                                           \
    X(thread_instructions)                                                                         \
    X(global_load_requests)                                                                        \
    X(global_load_sectors)                                                                         \
    X(global_load_bytes)                                                                           \
    X(global_store_requests)                                                                       \
    X(global_store_sectors)                                                                        \
    X(global_store_bytes)                                                                          \
    X(global_atomic_requests)                                                                      \
    X(global_atomic_sectors)                                                                       \
    X(local_load_requests)                                                                         \
    X(local_load_sectors)                                                                          \
    X(local_store_requests)                                                                        \
    X(local_store_sectors)                                                                         \
    X(shared_load_requests)                                                                        \
    X(shared_load_wavefronts)                                                                      \
    X(shared_load_bytes)                                                                           \
    X(shared_store_requests)                                                                       \
    X(shared_store_wavefronts)                                                                     \
    X(shared_store_bytes)                                                                          \
    X(branches)                                                                                    \
    X(divergent_branches)                                                                          \
    X(barriers)                                                                                    \
    X(constant_requests)                                                                           \
    X(constant_wavefronts)                                                                         \
    X(fp32_fma)                                                                                    \
    X(fp32_add_mul)                                                                                \
    X(fp64_ops)                                                                                    \
    X(fp16_ops)

#endif
