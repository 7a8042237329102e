// Peak throughput of a device: 16 independent chains of V lanes, 32 steps a round.
//   NUMBER   type of a lane: float, uint, double, half; the last two need extensions
//   DOT_PTX  products of four bytes instead, by NVIDIA's dp4a instruction (V = 1, NUMBER uint)
//   DOT_KHR  the same by cl_khr_integer_dot_product
#ifndef NUMBER
#define NUMBER float
#endif
#if defined(DOUBLE)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#elif defined(HALF)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#elif defined(DOT_KHR)
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
#endif
#if V == 1
typedef NUMBER numberv;
#else
typedef PASTE(NUMBER, V) numberv;
#endif

#if defined(DOT_PTX)
inline uint step_of(uint x, uint a, uint b) {
  uint result;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(a), "r"(x));
  return result;
}
#elif defined(DOT_KHR)
inline uint step_of(uint x, uint a, uint b) {
  return x + dot_4x8packed_uu_uint(x, a);
}
#elif defined(WHOLE)
#define step_of(x, a, b) ((x) * (a) + (b))
#else
#define step_of(x, a, b) fma(x, a, b)
#endif

kernel void multiply_adds(global NUMBER* restrict out, int rounds, float scale, float add) {
#if defined(WHOLE) || defined(DOT_PTX) || defined(DOT_KHR)
  const numberv a = (numberv)((uint)scale), b = (numberv)((uint)add);
#else
  const numberv a = (numberv)((NUMBER)scale), b = (numberv)((NUMBER)add);
#endif
  numberv sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = (numberv)((NUMBER)(i + 1));
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int step = 0; step < 32; ++step) {
#pragma unroll
      for (int i = 0; i < 16; ++i) sum[i] = step_of(sum[i], a, b);
    }
  }
  numberv total = sum[0];
  for (int i = 1; i < 16; ++i) total += sum[i];
#if V == 1
  out[get_global_id(0)] = total;
#else
  out[get_global_id(0)] = total.s0;
#endif
}
