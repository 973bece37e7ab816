/* Functions of the fake CUPTI by which the fake program pretends to use a GPU. */
#pragma once

/* One launch of add<<<8, 256>>>, as CUPTI records it: a runtime call, a driver call inside it, and
 * the kernel. Its number, which counts from 1, determines its times. */
typedef void fake_launch_function(int number);
/* A copy of 4096 bytes. @param kind  CUpti_ActivityMemcpyKind; the host's memory is pinned if the
 * number is even. */
typedef void fake_copy_function(int number, int kind);
/* A fill of 4096 bytes, a kernel that has not ended, and a record of an unknown kind. */
typedef void fake_odd_function(int number);
/* The context ends (fake_reset), or a stream is made (fake_stream). */
typedef void fake_reset_function(void);
/* From now on, CUPTI reports that it dropped this many more records. */
typedef void fake_drop_function(int records);
/* cudaProfilerStart() or, with 0, cudaProfilerStop(). */
typedef void fake_switch_function(int number, int on);
