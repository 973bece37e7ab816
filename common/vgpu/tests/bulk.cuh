// Shared by the programs with bulk copies.
#pragma once

#include <cstdint>

__device__ static inline unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static inline void init(uint64_t *barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(count)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives at a barrier object, and announces bytes.
__device__ static inline void expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

// The rest are macros, so that a finding has the line where the macro is used.
#define WAIT(barrier, parity)                                                                      \
    asm volatile("{ .reg .pred done;\n"                                                            \
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"               \
                 "@!done bra AGAIN; }" ::"r"(at(barrier)),                                         \
                 "r"(parity)                                                                       \
                 : "memory")
#define LOAD(to, from, bytes, barrier)                                                               \
    asm volatile(                                                                                    \
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: \
            "r"(at(to)),                                                                             \
        "l"(from), "r"(bytes), "r"(at(barrier))                                                      \
        : "memory")
#define LOAD_BOX(to, map, x, barrier)                                                                    \
    asm volatile(                                                                                        \
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], " \
        "[%3];" ::"r"(at(to)),                                                                           \
        "l"(map), "r"(x), "r"(at(barrier))                                                               \
        : "memory")
#define STORE_BOX(map, x, from)                                                                    \
    asm volatile(                                                                                  \
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(map),      \
        "r"(x), "r"(at(from))                                                                      \
        : "memory")
// Arrives at a barrier object of another block, by its mapped address.
#define ARRIVE(barrier)                                                                            \
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier)     \
                 : "memory")
// The threads that wrote the source must have executed fence_async() since.
#define STORE(to, from, bytes)                                                                          \
    asm volatile(                                                                                       \
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\tcp.async.bulk.commit_group;" :: \
            "l"(to),                                                                                    \
        "r"(at(from)), "r"(bytes)                                                                       \
        : "memory")

__device__ static inline void fence_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
