/* expect: output_size */
#define H_OUT H
#define W_OUT W
#include "plain.h"
