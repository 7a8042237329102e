// Adding to counters that work-items share: all to one, or neighbours to neighbouring ones of `spread`.

kernel void atomics_global(volatile global uint* counters, uint spread, int rounds) {
  const uint at = (uint)get_global_id(0) % spread;
  const uint value = ((uint)get_global_id(0) & 3) + 1;
  for (int i = 0; i < rounds; ++i) atomic_add(counters + at, value);
}

#define LOCAL_COUNTERS 1024
kernel void atomics_local(volatile global uint* counters, uint spread, int rounds) {
  local uint own[LOCAL_COUNTERS];
  for (uint i = get_local_id(0); i < spread; i += get_local_size(0)) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint at = (uint)get_local_id(0) % spread;
  const uint value = ((uint)get_global_id(0) & 3) + 1;
  for (int i = 0; i < rounds; ++i) atomic_add(own + at, value);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < spread; i += get_local_size(0)) atomic_add(counters + i, own[i]);
}
