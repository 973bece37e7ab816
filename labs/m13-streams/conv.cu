/** @file
 * Milestone m13: the forward pass of a convolution layer from host memory to host memory, with copies
 * that overlap kernels and each other.
 *
 * common/conv.h is the contract: the arguments of conv_forward_host(), the required y, and where
 * device memory comes from. x, k and y are page-locked host memory, not device pointers.
 */
/* You write conv_forward_host(), which copies x and k to the device, computes y there with a kernel
 * of yours, and copies y back, and does these three things at the same time. Draw first which
 * copy and which kernel runs when; the assignment page (README.md in this folder) has a drawing to
 * begin with. Say here, in a few lines, into how many parts and streams you split the batch and
 * why, what gain you expected and what you measured. */

#include "conv.h"

int conv_forward_host(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* Returning 1 means that this is not implemented yet. Take device memory from
     * conv_workspace(), copy with cudaMemcpyAsync() and launch kernels in several streams; check
     * with cudaGetLastError() that the launches were accepted, wait for the streams, and return 0.
     * Delete the next line when you use its parameters. */
    (void)shape, (void)x, (void)k, (void)y;
    return 1;
}
