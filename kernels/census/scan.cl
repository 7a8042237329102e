// Scan: all windows through the first stages of each view.
//
// Build options:
//   TILE_X, TILE_Y, GROUP    windows of a work-group's tile, and work-items
//   VARIANT_NAIVE            a work-item takes a window through all of these stages
//   VARIANT_QUEUE            windows of a tile that pass a stage wait in local memory; the work-items then share
//                            them out again
// Windows that pass are appended to `late`: records of level and view, x, y and 0.
#include "candidates.clh"

#define TILE_WINDOWS (TILE_X * TILE_Y)
#define CORNER(w) (corner + ((w) / TILE_X) * stride + (w) % TILE_X * PLANES)

// `views` is the first stage of each view and one past the last view's last.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan(
    global const ushort* restrict codes, global const PixelLevel* restrict levels, int level_count,
    global const Tile* restrict tiles, global const Weak* restrict weak, global const uint* restrict sets,
    global const Stage* restrict stages, global const int* restrict views, int view_count, int early,
    int capacity, global int* restrict late) {
  const Tile tile = tiles[get_group_id(0)];
  global const PixelLevel* level = levels + tile.level;
  const int stride = level->planes_stride;
  const int item = get_local_id(0);
  global const ushort* corner = CODES_AT(codes, level, tile.x, tile.y);
  const int columns = min(level->windows_x - tile.x, TILE_X);
  const int rows = min(tile.end - tile.y, TILE_Y);
#ifdef VARIANT_QUEUE
  local ushort queue[2][TILE_WINDOWS];
  local int lengths[2];
  local int place;
#endif
  for (int view = 0; view < view_count; ++view) {
    const int begin = views[view];
    const int end = min(begin + early, views[view + 1]);
    const int number = PACK_LEVEL(view, level_count, tile.level);
#ifdef VARIANT_NAIVE
    for (int w = item; w < TILE_WINDOWS; w += GROUP) {
      if (w % TILE_X >= columns || w / TILE_X >= rows) continue;
      bool alive = true;
      for (int s = begin; alive && s < end; ++s)
        alive = stage_sum(CORNER(w), stride, stages[s], weak, sets) <= stages[s].limit;
      if (alive) append(late, capacity, (int4)(number, tile.x + w % TILE_X, tile.y + w / TILE_X, 0));
    }
#else
    if (item == 0) lengths[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const Stage first = stages[begin];
    for (int w = item; w < TILE_WINDOWS; w += GROUP) {
      if (w % TILE_X >= columns || w / TILE_X >= rows) continue;
      if (stage_sum(CORNER(w), stride, first, weak, sets) <= first.limit)
        queue[0][atomic_inc(&lengths[0])] = (ushort)w;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = 0;
    int length = lengths[0];
    for (int s = begin + 1; s < end && length > 0; ++s) {
      const Stage stage = stages[s];
      if (item == 0) lengths[1 - from] = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int q = item; q < length; q += GROUP) {
        const int w = queue[from][q];
        if (stage_sum(CORNER(w), stride, stage, weak, sets) <= stage.limit)
          queue[1 - from][atomic_inc(&lengths[1 - from])] = (ushort)w;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      from = 1 - from;
      length = lengths[from];
    }
    if (length > 0 && item == 0) place = atomic_add(late, length);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int q = item; q < length; q += GROUP) {
      const int w = queue[from][q];
      if (place + q < capacity)
        vstore4((int4)(number, tile.x + w % TILE_X, tile.y + w / TILE_X, 0), place + q + 1, late);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // before the next view's
#endif
  }
}
