/* Prints the result of toolkit_find(), for toolkit.sh. */
#include "base/toolkit.h"

#include <stdio.h>

int main(void)
{
    const char *folder = toolkit_find();
    puts(folder ? folder : "none");
    return 0;
}
