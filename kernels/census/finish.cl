// Finish: the rest of the stages on the windows that are left.
//
// Build options:
//   FINISH_GROUP             work-items, a power of two: weak classifiers of a stage that run side by side
#include "candidates.clh"

// Runs their view's remaining stages on the windows of `late` and appends those that pass to `found`, which
// has the same capacity, and whose header gets the first number of `late`'s. Records are level and view, x,
// y, and the last stage's margin: `thresholds` of the view minus the sum. A work-group takes a window at a
// time.
kernel __attribute__((reqd_work_group_size(FINISH_GROUP, 1, 1))) void finish(
    global const ushort* restrict codes, global const PixelLevel* restrict levels, int level_count,
    global const Weak* restrict weak, global const uint* restrict sets, global const Stage* restrict stages,
    global const int* restrict views, global const int* restrict thresholds, int early, int capacity,
    global const int* restrict late, global int* restrict found) {
  local int sums[FINISH_GROUP];
  const int item = get_local_id(0);
  const int windows = min(late[0], capacity);
  if (get_global_id(0) == 0) found[1] = late[0];
  for (int k = get_group_id(0); k < windows; k += get_num_groups(0)) {
    const int4 window = vload4(k + 1, late);
    const int view = window.s0 / level_count;
    global const PixelLevel* level = levels + window.s0 % level_count;
    const int stride = level->planes_stride;
    global const ushort* corner = CODES_AT(codes, level, window.s1, window.s2);
    const int end = views[view + 1];
    int sum = 0;
    bool alive = true;
    // The last stage is looked at in any case: its sum is wanted.
    for (int s = min(views[view] + early, end - 1); alive && s < end; ++s) {
      const Stage stage = stages[s];
      int own = 0;
      for (int i = stage.begin + item; i < stage.end; i += FINISH_GROUP) {
        const Weak one = weak[i];
        const uint code = CODE(corner, stride, one.place);
        if (IS_IN(sets + i * SET_WORDS, code)) own += one.weight;
      }
      sums[item] = own;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int apart = FINISH_GROUP / 2; apart > 0; apart /= 2) {
        if (item < apart) sums[item] += sums[item + apart];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      sum = sums[0];
      alive = sum <= stage.limit;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (alive && item == 0)
      append(found, capacity, (int4)(window.s0, window.s1, window.s2, thresholds[view] - sum));
  }
}
