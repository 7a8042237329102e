// Progressive: steps that each pass at most a fixed share of a work-group's windows, so that all steps can be
// launched at once without knowing the number of windows. After M. Hruby's detector, which loses the windows
// above the share; here they are finished at once.
//
// Build options:
//   FEATURES_..., PLANES     see common.clh
//   GROUP                    work-items of a work-group, a window each
//   FROM_TILES, TILE_X       the first step: a work-group has a tile of windows, TILE_X of a row; the others
//                            have the windows that passed the step before, from several of its work-groups
#include "candidates.clh"
#include "waldboost/windows.clh"

#ifdef FROM_TILES
#define WINDOWS_PARAMETERS global const Tile *restrict tiles, constant const Weak *weak
#else
#define WINDOWS_PARAMETERS global const int *restrict slots, int slot_count, global const Weak *restrict weak
#endif

// Evaluates `fewest` weak classifiers of each window, or up to weak classifier `target` if that is further;
// then one more for all windows while more than `share` are left in the group. `kept` has `share` slots for
// each work-group, GROUP at most, records like those of `late`; empty ones are 0. With `is_last`, the
// remaining windows go to `late` instead. Windows without room in `kept` go there, too, and are counted at
// this step's place in `excess`.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void run_step(
    global const Element* restrict planes, global const PixelLevel* restrict levels, WINDOWS_PARAMETERS,
    RESPONSES, int count, int fewest, int target, int share, int is_last, int step,
    int capacity, global int* restrict excess, global int* restrict kept, global int* restrict late) {
  local int counters[3];  // for three alternating rounds: one barrier a round
  local int4 records[GROUP];
  const int item = get_local_id(0);
#ifdef FROM_TILES
  const Tile tile = tiles[get_group_id(0)];
  int4 window = (int4)(tile.level, tile.x + item % TILE_X, tile.y + item / TILE_X, 0);
  bool alive = window.s1 < levels[tile.level].windows_x && window.s2 < tile.end;
#else
  const int slot = get_global_id(0);
  int4 window = slot < slot_count ? vload4(slot, slots) : (int4)(0);
  bool alive = window.s0 != 0;
#endif
  global const PixelLevel* level = levels + LATE_LEVEL(window.s0);
  const int stride = level->planes_stride;
  global const Element* corner = planes + CORNER(level, window.s1, window.s2);
  int sum = window.s3;
  int t = LATE_NEXT(window.s0);
#define NEXT_WEAK                                                         \
  {                                                                       \
    sum += RESPONSE(t, code_at(corner, stride, weak[t].place)); \
    alive = sum >= weak[t].threshold;                                     \
    ++t;                                                                  \
  }
  const int enough = min(max(t + fewest, target), count);
  while (alive && t < enough) NEXT_WEAK

  if (item == 0) counters[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int round = 0;
  bool goes_on = true;
  while (goes_on) {
    // Counts the remaining windows, and those with weak classifiers left.
    if (alive) atomic_add(&counters[round], t < count ? 0x10001 : 1);
    const int following = round < 2 ? round + 1 : 0;
    if (item == 0) counters[following] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int state = counters[round];
    goes_on = (state & 0xFFFF) > share && state >> 16 > 0;
    if (goes_on && alive && t < count) NEXT_WEAK
    round = following;
  }

  // The next round's counter is 0 for all.
  const int4 record = (int4)(PACK_LATE(LATE_LEVEL(window.s0), t), window.s1, window.s2, sum);
  if (alive) {
    const int place = is_last ? GROUP : atomic_inc(&counters[round]);
    if (place < share) {
      records[place] = record;
    } else {
      append(late, capacity, record);
      if (!is_last) atomic_inc(excess + step);
    }
  }
  if (is_last) return;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int length = counters[round];
  for (int i = item; i < share; i += GROUP)
    vstore4(i < length ? records[i] : (int4)(0), get_group_id(0) * share + i, kept);
}
