// Work-items side by side: units that they share, branches.

// A fixed amount of work for each of any number of work-items.
#ifndef PER_TURN
#define PER_TURN TIMES128
#endif
kernel void parallelism(global uint* restrict result, int turns, uint b, uint c) {
  uint a = (uint)get_global_id(0), x = c;
  for (int turn = 0; turn < turns; ++turn) {
    PER_TURN(x += a; a += b; b += x;)
  }
  result[get_global_id(0)] = x;
}

// Branches of `ways` ways, side by side in a work-group; of whatever way, the same number of steps of the same cost.
#define WAY(n)                                                             \
  case n:                                                                  \
    for (int i = 0; i < steps; ++i) x = (x ^ (x >> (1 + n % 15))) * (2 * n + 3u); \
    break;
#define FOUR_WAYS(n) WAY(n) WAY((n + 1)) WAY((n + 2)) WAY((n + 3))
kernel void divergence(global uint* restrict result, int steps, uint ways) {
  uint x = (uint)get_global_id(0) + 1;
  switch (get_local_id(0) % ways) {
    FOUR_WAYS(0)
    FOUR_WAYS(4)
    FOUR_WAYS(8)
    FOUR_WAYS(12)
    FOUR_WAYS(16)
    FOUR_WAYS(20)
    FOUR_WAYS(24)
    FOUR_WAYS(28)
  }
  result[get_global_id(0)] = x;
}
