/** @file
 * Milestone m9: the forward pass of a convolution layer on a GPU, with loops unrolled and read-only
 * loads: the fastest of all.
 *
 * common/conv.h is the contract: the arguments of conv_forward() and the required y. x, k and y
 * are device pointers: kernels may read and write through them, conv_forward() itself may only pass
 * them on.
 */
/* You take your m8 and make it faster without changing what it computes: __restrict__ promises
 * the compiler that x and k are not written to, so that it may load them through the read-only
 * path and in another order; it can unroll loops whose length it knows. The assignment page
 * (README.md in this folder) says how to find out what your kernel spends its instructions
 * on. Add functions, constants and #include lines as you need them; everything stays in this
 * one file. Say here, in a few lines, what you changed and why, what gain over m8 you expected
 * from each change and what you measured. */

#include "conv.h"

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* Returning 1 means that this is not implemented yet. Launch your kernels here, check with
     * cudaGetLastError() that the launch was accepted, and return 0 if so. x, k and y are
     * device pointers: do not read or write through them in this function. Delete the next line
     * when you use its parameters. */
    (void)shape, (void)x, (void)k, (void)y;
    return 1;
}
