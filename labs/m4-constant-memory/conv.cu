/** @file
 * Milestone m4: the forward pass of a convolution layer on a GPU, with weights in constant memory.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from. x, k and y are device pointers.
 */
/* You write a kernel that reads its weights from a __constant__ array, and conv_forward(),
 * which copies them there and launches it. All of constant memory is 64 KB: decide
 * first what happens when the weights do not fit, and in which order they are in it. The
 * assignment page (README.md in this folder) has a drawing to begin with. Say here, in a few
 * lines, what was wrong with your m3, what gain you expected and why, and what you
 * measured. */

#include "conv.h"

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* Returning 1 means that this is not implemented yet. Copy the weights to your
     * __constant__ array (cudaMemcpyToSymbolAsync; they are in device memory already), launch
     * your kernel, check with cudaGetLastError() that all was accepted, and return 0 if
     * so. Delete the next line when you use its parameters. */
    (void)shape, (void)x, (void)k, (void)y;
    return 1;
}
