// What a device can do at most: multiply-adds in registers, and copies through global memory.

// 16 independent chains of V lanes, 32 steps a round: 512 * V multiply-adds a round.
kernel void multiply_adds(global float* restrict out, int rounds, float a, float b) {
  floatv sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = (floatv)(convert_float(i) + b);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int step = 0; step < 32; ++step) {
#pragma unroll
      for (int i = 0; i < 16; ++i) sum[i] = fma(sum[i], (floatv)(a), (floatv)(b));
    }
  }
  floatv total = sum[0];
  for (int i = 1; i < 16; ++i) total += sum[i];
#if V == 1
  out[get_global_id(0)] = total;
#else
  out[get_global_id(0)] = total.s0;
#endif
}

kernel void copy(global const float4* restrict from, global float4* restrict to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}

kernel void nothing(int unused) {}
