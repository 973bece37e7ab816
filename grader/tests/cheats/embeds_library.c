/* Has the assembler copy a library that does the work into its own file, to write it to a file and
 * load it at run time. Only the first step is done here, because there is no library to copy. */
__asm__(".pushsection .rodata\n"
        "library: .incbin \"/usr/lib/x86_64-linux-gnu/libdnnl.so.2\"\n"
        "library_end:\n"
        ".popsection\n");
#include "plain.h"
