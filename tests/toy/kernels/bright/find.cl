// Bright cells: a work-item sums the pixels of one cell, and appends it to the list where they are bright enough.
kernel void find(global const uchar* restrict luma, int stride, int least, int capacity, global int4* restrict found) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  int sum = 0;
  for (int i = 0; i < 16 * 16; ++i) sum += luma[(y * 16 + i / 16) * stride + x * 16 + i % 16];
  if (sum < least) return;
  const int at = atomic_inc((global int*)found);
  if (at < capacity) found[at + 1] = (int4)(0, x, y, sum);
}
