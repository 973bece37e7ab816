/** @file
 * Milestone m1: the forward pass of a convolution layer, on the CPU.
 *
 * common/conv.h is the contract: the arguments of conv_forward(), the required y, and where
 * scratch memory comes from.
 */
/* You write conv_forward(). Start with the seven loops of the assignment page (README.md in
 * this folder): correct first, then fast. Add functions, types and #include lines as you need
 * them; everything stays in this one file. Say here, in a few lines, what your version does and
 * what each improvement brought. */

#include "conv.h"

int conv_forward(const struct conv_shape *shape, const float *x, const float *k, float *y)
{
    /* Returning 1 means that this is not implemented yet. Write the convolution here, and
     * return 0 at the end. The sizes are shape->B, shape->M and so on. y holds garbage on
     * entry, and every element of it must be written. Delete the next line when you use
     * its parameters. */
    (void)shape, (void)x, (void)k, (void)y;
    return 1;
}
