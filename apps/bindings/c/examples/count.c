/* Counts people who cross the middle of the frame, in a video or a stream.
 *   cc count.c $(pkg-config --cflags --libs sightline) -o count && ./count street.mp4 */
#include <sightline.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const char* const line = "lines.middle = { from = [0.5, 0.0], to = [0.5, 1.0] }";
  sl_error error = {0};
  sl_detector* detector = NULL;
  sl_stream* stream = NULL;
  sl_counter* counter = NULL;
  char* totals = NULL;
  sl_status status;
  error.struct_size = sizeof error;
  if (argc != 2) return fprintf(stderr, "usage: %s VIDEO|URL\n", argv[0]), 2;
  status = sl_detector_open("people", NULL, &detector, &error);
  if (status == SL_OK) status = sl_stream_open(argv[1], detector, "track = true", &stream, &error);
  if (status == SL_OK) status = sl_counter_open(line, &counter, &error);
  while (status >= 0) {
    sl_result* result = NULL;
    const sl_count* events = NULL;
    size_t n = 0, i;
    status = sl_stream_next(stream, -1, &result, NULL, &error);
    if (status == SL_END) break;
    if (status != SL_OK) continue;
    status = sl_counter_update(counter, result, &events, &n, &error);
    for (i = 0; i < n; ++i) {
      const sl_count* one = (const sl_count*)((const char*)events + i * events->struct_size);
      printf("%.2f s: track %ld goes %s\n", one->time, (long)one->track, one->kind == SL_IN ? "left" : "right");
    }
    sl_result_free(result);
  }
  if (status < 0) fprintf(stderr, "%s %s\n%s\n", error.where, error.what, error.hint);
  if (status >= 0 && sl_counter_totals(counter, &totals, &error) == SL_OK) printf("%s\n", totals);
  sl_text_free(totals);
  sl_counter_free(counter);
  sl_stream_free(stream);
  sl_detector_free(detector);
  return status < 0;
}
