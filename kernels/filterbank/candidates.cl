// Candidates: windows whose raw score reaches the threshold, appended in any order (the host sorts them).
// Global size: (widest pitch, 1, rows of windows of all levels).
#include "candidates.clh"

kernel void candidates(global const int* restrict scores, constant Level* levels, global const Tile* restrict rows,
                       int threshold, int capacity,
#ifdef PRE_REJECTION
                       global const int* restrict estimates, int rejection_threshold,
#endif
                       global int* restrict found) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->windows_x) return;
  const int score = scores[level->scores_offset + row.y * level->pitch + x];
  if (score < threshold) return;
#ifdef PRE_REJECTION
  if (estimates[level->scores_offset + row.y * level->pitch + x] < rejection_threshold) return;
#endif
  append(found, capacity, (int4)(row.level, x, row.y, score));
}
