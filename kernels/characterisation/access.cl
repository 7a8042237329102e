// Reading and writing global memory. Words, so that what arrives can be checked to the bit.

kernel void number(global uint* to) {
  to[get_global_id(0)] = (uint)get_global_id(0);
}

kernel void copy(global const uint* restrict from, global uint* restrict to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}

kernel void copy4(global const uint4* restrict from, global uint4* restrict to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}

kernel void shifted(global const uint* restrict from, global uint* restrict to, uint shift) {
  to[get_global_id(0)] = from[get_global_id(0) + shift];
}

kernel void strided(global const uint* restrict from, global uint* restrict to, uint stride) {
  to[get_global_id(0)] = from[get_global_id(0) * stride];
}

// The same small array again and again: of `words` words of 16 bytes, a power of two. It stays in a cache, or is put into
// local memory. All sums are below 2^32 or wrap, and so are exact.
#ifndef ARRAY
#define ARRAY 512
#endif

kernel void read_cached(global const uint4* restrict array, int turns, global uint* restrict to) {
  uint at = get_local_id(0);
  uint4 sum = (uint4)(0);
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      sum += array[at & (ARRAY - 1)];
      at += get_local_size(0) + 1;
    }
  }
  to[get_global_id(0)] = sum.s0 + sum.s1 + sum.s2 + sum.s3;
}

kernel void read_local(global const uint4* restrict array, int turns, global uint* restrict to) {
  local uint4 copied[ARRAY];
  for (uint i = get_local_id(0); i < ARRAY; i += get_local_size(0)) copied[i] = array[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = get_local_id(0);
  uint4 sum = (uint4)(0);
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      sum += copied[at & (ARRAY - 1)];
      at += get_local_size(0) + 1;
    }
  }
  to[get_global_id(0)] = sum.s0 + sum.s1 + sum.s2 + sum.s3;
}

// Constant memory is made for all work-items reading the same place.
kernel void read_constant(constant uint4* array, int turns, global uint* restrict to) {
  uint at = get_group_id(0);
  uint4 sum = (uint4)(0);
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      sum += array[at & (ARRAY - 1)];
      at += 3;
    }
  }
  to[get_global_id(0)] = sum.s0 + sum.s1 + sum.s2 + sum.s3;
}
