/* Prints the boxes of people in a picture, a video or a stream.
 *   cc boxes.c $(pkg-config --cflags --libs sightline) -o boxes && ./boxes street.jpg */
#include <sightline.h>
#include <stdio.h>

int main(int argc, char** argv) {
  sl_error error = {0};
  sl_detector* detector = NULL;
  sl_stream* stream = NULL;
  sl_result* result = NULL;
  sl_status status;
  error.struct_size = sizeof error;
  if (argc != 2) return fprintf(stderr, "usage: %s PICTURE|VIDEO|URL\n", argv[0]), 2;
  if (sl_detector_open("people", NULL, &detector, &error) < 0 ||
      sl_stream_open(argv[1], detector, NULL, &stream, &error) < 0) {
    fprintf(stderr, "%s: %s\n%s\n", sl_status_name((sl_status)error.status), error.what, error.hint);
    sl_detector_free(detector);
    return 1;
  }
  while ((status = sl_stream_next(stream, -1, &result, NULL, &error)) != SL_END) {
    size_t n, stride, i;
    const char* object;
    if (status < 0) {
      fprintf(stderr, "%s\n", error.what);
      break;
    }
    if (status != SL_OK) continue; /* a live source was lost, or is back */
    object = (const char*)sl_result_objects(result, &n, &stride);
    for (i = 0; i < n; ++i, object += stride) {
      const sl_object* one = (const sl_object*)object;
      printf("%s %.1f,%.1f %.1fx%.1f score %.3f\n", sl_detector_label(detector, (size_t)one->label), one->x, one->y,
             one->width, one->height, (double)one->score);
    }
    sl_result_free(result);
  }
  sl_stream_free(stream);
  sl_detector_free(detector);
  return status < 0;
}
