#include "textflag.h"

// func sumLanesAVX(sums *[4][8]float32, q, rows *float32, n, stride int)
TEXT ·sumLanesAVX(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), R8
	MOVQ q+8(FP), SI
	MOVQ rows+16(FP), DI
	MOVQ n+24(FP), CX
	MOVQ stride+32(FP), DX
	LEAQ (DI)(DX*1), R9
	LEAQ (DI)(DX*2), R10
	LEAQ (R9)(DX*2), R11
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	XORQ AX, AX

loop:
	VMOVUPS (SI)(AX*4), Y4
	VMULPS (DI)(AX*4), Y4, Y5
	VMULPS (R9)(AX*4), Y4, Y6
	VMULPS (R10)(AX*4), Y4, Y7
	VMULPS (R11)(AX*4), Y4, Y8
	VADDPS Y5, Y0, Y0
	VADDPS Y6, Y1, Y1
	VADDPS Y7, Y2, Y2
	VADDPS Y8, Y3, Y3
	ADDQ $8, AX
	CMPQ AX, CX
	JLT loop

	VMOVUPS Y0, (R8)
	VMOVUPS Y1, 32(R8)
	VMOVUPS Y2, 64(R8)
	VMOVUPS Y3, 96(R8)
	VZEROUPPER
	RET

// func detectAVX() bool
TEXT ·detectAVX(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	MOVL $1, AX
	XORL CX, CX
	CPUID
	ANDL $0x18000000, CX // AVX, and the system saves registers
	CMPL CX, $0x18000000
	JNE no
	XORL CX, CX
	XGETBV
	ANDL $6, AX // XMM and YMM are among them
	CMPL AX, $6
	JNE no
	MOVB $1, ret+0(FP)

no:
	RET
