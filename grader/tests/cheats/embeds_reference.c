/* Has the assembler put files of the machine into the library. */
__asm__(".section .rodata\n .incbin \"/etc/passwd\"\n .previous");
#include "plain.h"
