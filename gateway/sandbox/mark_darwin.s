#include "textflag.h"

TEXT libc_sandbox_check_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_sandbox_check(SB)

GLOBL	·sandboxCheckAddr(SB), RODATA, $8
DATA	·sandboxCheckAddr(SB)/8, $libc_sandbox_check_trampoline<>(SB)
