// Chains of reads: each says where the next is.

// 128 a turn.
kernel void chase(global const uint* restrict next, uint start, int turns, global uint* restrict end) {
  uint at = start;
  for (int turn = 0; turn < turns; ++turn) {
    TIMES128(at = next[at];)
  }
  end[0] = at;
}

// Brings an array into the caches that all work-items share, in the chain's order: of an array that is too large for them,
// its end is there afterwards, as after a way through the chain.
kernel void touch(global const uint* restrict next, global const uint* restrict order, uint lines,
                  global uint* restrict end) {
  uint sum = 0;
  for (uint i = get_global_id(0); i < lines; i += get_global_size(0)) sum += next[order[i]];
  end[get_global_id(0)] = sum;
}

#define LOCAL_WORDS 4096

// The same in local memory, 256 a turn. All work-items fill it.
kernel void chase_local(global const uint* restrict next, int turns, global uint* restrict end) {
  local uint ring[LOCAL_WORDS];
  for (uint i = get_local_id(0); i < LOCAL_WORDS; i += get_local_size(0)) ring[i] = next[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = 0;
  for (int turn = 0; turn < turns; ++turn) {
    TIMES256(at = ring[at];)
  }
  end[get_global_id(0)] = at;
}

// Eight chains a work-item, whose first read is `offset` words beyond the neighbour's, 16 reads of each a turn: enough
// under way for banks to be what limits them.
kernel void banks(global const uint* restrict next, int turns, uint offset, global uint* restrict end) {
  local uint ring[LOCAL_WORDS];
  for (uint i = get_local_id(0); i < LOCAL_WORDS; i += get_local_size(0)) ring[i] = next[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint first = (uint)get_local_id(0) * offset;
  uint a = (first + 0) & (LOCAL_WORDS - 1), b = (first + 1) & (LOCAL_WORDS - 1);
  uint c = (first + 2) & (LOCAL_WORDS - 1), d = (first + 3) & (LOCAL_WORDS - 1);
  uint e = (first + 4) & (LOCAL_WORDS - 1), f = (first + 5) & (LOCAL_WORDS - 1);
  uint g = (first + 6) & (LOCAL_WORDS - 1), h = (first + 7) & (LOCAL_WORDS - 1);
  for (int turn = 0; turn < turns; ++turn) {
    TIMES16(a = ring[a]; b = ring[b]; c = ring[c]; d = ring[d]; e = ring[e]; f = ring[f]; g = ring[g]; h = ring[h];)
  }
  end[get_global_id(0)] = a + b + c + d + e + f + g + h;
}
