// Candidates: windows whose raw score reaches the threshold, appended in any order (the host sorts them), and
// the peaks among them.
#include "candidates.clh"

// Global size: (widest pitch, 1, rows of windows of all levels).
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

// Whether window (x, y), not that of the score itself, is a better candidate than one of this score: the first of equal
// ones is. A window that is as good as a candidate has reached the threshold.
inline bool is_better(global const int* scores,
#ifdef PRE_REJECTION
                      global const int* estimates, int rejection_threshold,
#endif
                      constant Level* level, int x, int y, int score, bool is_before) {
  if (x < 0 || x >= level->windows_x || y < 0 || y >= level->windows_y) return false;
  const int place = level->scores_offset + y * level->pitch + x;
#ifdef PRE_REJECTION
  if (estimates[place] < rejection_threshold) return false;
#endif
  return scores[place] > score || (scores[place] == score && is_before);
}

// Candidates without a better one among their eight neighbours on the level. The header's second number
// becomes that of the candidates. If those are more than `most`, no peak is taken. Work-items process
// candidates with a stride of the global size.
kernel void peaks(global const int* restrict candidates, int most, global const int* restrict scores,
                  constant Level* levels,
#ifdef PRE_REJECTION
                  global const int* restrict estimates, int rejection_threshold,
#endif
                  int capacity, global int* restrict found) {
  const int count = candidates[0];
  if (get_global_id(0) == 0) found[1] = count;
  if (count > most) return;
  for (int i = get_global_id(0); i < count; i += get_global_size(0)) {
    const int4 window = vload4(i + 1, candidates);
    constant Level* level = levels + window.s0;
    bool is_peak = true;
    for (int k = 0; k < 9; ++k) {
      if (k == 4) continue;
      is_peak = is_peak && !is_better(scores,
#ifdef PRE_REJECTION
                                      estimates, rejection_threshold,
#endif
                                      level, window.s1 + k % 3 - 1, window.s2 + k / 3 - 1, window.s3, k < 4);
    }
    if (is_peak) append(found, capacity, window);
  }
}
