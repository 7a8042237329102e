// Included by SIMD sources right after HWY_BEFORE_NAMESPACE(), once per instruction set: deliberately no
// include guard.
//
// Defines SIGHTLINE_VNNI: 1 where the 8-bit dot product of AVX-512 may be used. Highway 1.0.3 checks at run
// time that the processor has it before it picks AVX3_DL, but does not switch it on in the compiler and has
// no operation for it, so this does and the kernels use the intrinsic.
#undef SIGHTLINE_VNNI
#if HWY_TARGET == HWY_AVX3_DL && defined(__GNUC__) && !defined(__clang__)
#define SIGHTLINE_VNNI 1
#pragma GCC target("avx512vnni")
#else
#define SIGHTLINE_VNNI 0
#endif
