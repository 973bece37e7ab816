/* Comes with files that are to replace the harness's: none of them is taken. */
#include "plain.h"
