// Finish: the rest of the weak classifiers on the windows that are left.
//
// Build options:
//   FEATURES_..., PLANES     see common.clh
//   FINISH_GROUP             work-items, a power of two: weak classifiers that are looked up side by side
#include "candidates.clh"

// Appends the windows of `late` that pass all weak classifiers from each one's next on and have a sum of at
// least `lowest` to `found`, which has room for as many, and whose header gets the length of `late`. A work-group
// takes a window at a time, a work-item a weak classifier: the sums up to each are those of all before it.
kernel __attribute__((reqd_work_group_size(FINISH_GROUP, 1, 1))) void finish(
    global const Element* restrict planes, global const PixelLevel* restrict levels,
    global const Weak* restrict weak, RESPONSES, int count, int lowest,
    int capacity, global const int* restrict late, global int* restrict found) {
  local int sums[2][FINISH_GROUP];
  local int rejected;
  const int item = get_local_id(0);
  const int windows = min(late[0], capacity);
  if (get_global_id(0) == 0) found[1] = late[0];
  for (int k = get_group_id(0); k < windows; k += get_num_groups(0)) {
    const int4 window = vload4(k + 1, late);
    global const PixelLevel* level = levels + LATE_LEVEL(window.s0);
    const int stride = level->planes_stride;
    global const Element* corner = planes + CORNER(level, window.s1, window.s2);
    int sum = window.s3;
    bool alive = true;
    for (int t = LATE_NEXT(window.s0); alive && t < count; t += FINISH_GROUP) {
      const int own = min(t + item, count - 1);
      const Weak mine = weak[own];
      sums[0][item] = t + item < count ? RESPONSE(own, code_at(corner, stride, mine.place)) : 0;
      if (item == 0) rejected = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      int from = 0;
      for (int apart = 1; apart < FINISH_GROUP; apart *= 2) {
        sums[1 - from][item] = sums[from][item] + (item >= apart ? sums[from][item - apart] : 0);
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      // Items past the last one have its sum and threshold.
      if (sum + sums[from][item] < mine.threshold) atomic_or(&rejected, 1);
      barrier(CLK_LOCAL_MEM_FENCE);
      alive = rejected == 0;
      sum += sums[from][FINISH_GROUP - 1];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (alive && sum >= lowest && item == 0)
      append(found, capacity, (int4)(LATE_LEVEL(window.s0), window.s1, window.s2, sum));
  }
}
