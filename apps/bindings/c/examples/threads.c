/* Several threads search with one detector. Each call returns as if it were alone.
 *   cc threads.c $(pkg-config --cflags --libs sightline) -lpthread -o threads && ./threads */
#include <pthread.h>
#include <sightline.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, WIDTH = 320, HEIGHT = 240 };

struct work {
  sl_detector* detector;
  unsigned char pixels[WIDTH * HEIGHT];
  uint8_t digest[16];
  sl_error error;
};

static void* search(void* argument) {
  struct work* work = argument;
  sl_image image = {0};
  sl_result* result = NULL;
  image.struct_size = sizeof image;
  image.format = SL_GRAY8;
  image.width = WIDTH;
  image.height = HEIGHT;
  image.plane[0] = work->pixels;
  image.stride[0] = WIDTH;
  if (sl_detector_search(work->detector, &image, 1, &result, &work->error) == SL_OK)
    sl_result_digest(result, work->digest);
  sl_result_free(result);
  return NULL;
}

int main(void) {
  static struct work all[THREADS];
  pthread_t threads[THREADS];
  sl_error error = {0};
  sl_detector* detector = NULL;
  int i, k;
  error.struct_size = sizeof error;
  if (sl_detector_open("people", NULL, &detector, &error) < 0) return fprintf(stderr, "%s\n", error.what), 1;
  for (i = 0; i < THREADS; ++i) {
    all[i].detector = detector;
    all[i].error.struct_size = sizeof all[i].error;
    for (k = 0; k < WIDTH * HEIGHT; ++k) all[i].pixels[k] = (unsigned char)(k * 31 % 251);
    if (pthread_create(&threads[i], NULL, search, &all[i]) != 0) return 1;
  }
  for (i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  sl_detector_free(detector);
  for (i = 0; i < THREADS; ++i) {
    if (all[i].error.status < 0) return fprintf(stderr, "%s\n", all[i].error.what), 1;
    if (memcmp(all[i].digest, all[0].digest, 16) != 0) return fprintf(stderr, "thread %d found other objects\n", i), 1;
  }
  printf("%d threads found the same\n", THREADS);
  return 0;
}
