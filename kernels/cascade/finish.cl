// Finish: the rest of the stages on the windows that `scan` leaves.
//
// Build options, besides those of nodes.clh:
//   FINISH_GROUP             work-items that share a window
#include "cascade/nodes.clh"
#include "candidates.clh"

// Runs stages [first, all) on the windows of `visited`. Appends the passing ones, (level, x, y, 0) and the
// last stage's sum, to `passed`, which is as long as `visited`; its first elements are its length and those
// of the other two. A work-group takes a window at a time, where the order of a sum does not matter, else a
// window a work-item.
kernel __attribute__((reqd_work_group_size(FINISH_GROUP, 1, 1))) void finish(
    global const Element* restrict integrals, int stride, int plane,
    global const CascadeLevel* restrict levels, CASCADE_PARAMETERS, int first, int all, int capacity,
    global const int* restrict visited, global int* restrict passed) {
  const int count = min(visited[0], capacity);
  const int item = get_local_id(0);
  if (get_global_id(0) == 0) {
    passed[1] = visited[0];
    passed[2] = visited[1];
  }
#ifdef SUM_LONG
  local Sum parts[FINISH_GROUP];
  const int begin = get_group_id(0);
  const int every = get_num_groups(0);
#else
  const int begin = get_global_id(0);
  const int every = get_global_size(0);
#endif
  for (int k = begin; k < count; k += every) {
    const int4 window = vload4(k + 1, visited);
    global const CascadeLevel* level = levels + window.s0;
    const Cascade cascade = CASCADE_OF_STEP(level->step);
    global const Element* at = integrals + level->origin + window.s2 * stride + window.s1 / level->step;
    Norm norm;
    find_norm(at, window_x, window_y, level->step, stride, plane, &norm);
    Sum sum = 0;
    bool alive = true;
    for (int s = first; alive && s < all; ++s) {
#ifdef SUM_LONG
      parts[item] = stage_sum(&cascade, cascade.stages + s, at, norm, item, FINISH_GROUP);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int apart = FINISH_GROUP / 2; apart > 0; apart /= 2) {
        if (item < apart) parts[item] += parts[item + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      sum = parts[0];
      barrier(CLK_LOCAL_MEM_FENCE);
#else
      sum = stage_sum(&cascade, cascade.stages + s, at, norm, 0, 1);
#endif
      alive = sum >= cascade.stages[s].threshold;
    }
#ifdef SUM_LONG
    alive = alive && item == 0;
#endif
    if (alive) {
      const int2 bits = as_int2(sum);
      append_wide(passed, capacity, (int8)(window.s0, window.s1, window.s2, 0, bits.s0, bits.s1, 0, 0));
    }
  }
}
