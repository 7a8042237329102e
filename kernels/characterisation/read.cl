// Reading global memory in vectors. Words, so that what arrives can be checked to the bit.

// 16 vectors of V words for each work-item; neighbours read neighbouring ones. The array has 16 V words a work-item.
kernel void read(global const uint* restrict from, global uint* restrict to) {
  const size_t items = get_global_size(0);
  uintv sum = (uintv)(0);
#pragma unroll
  for (size_t i = 0; i < 16; ++i) sum += LOAD(from + (i * items + get_global_id(0)) * V);
#if V == 1
  to[get_global_id(0)] = sum;
#else
  uint lanes[V];
  STORE(sum, lanes);
  uint total = 0;
  for (int i = 0; i < V; ++i) total += lanes[i];
  to[get_global_id(0)] = total;
#endif
}
