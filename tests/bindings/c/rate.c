/* Seconds of searches by several threads in one detector: rate OPTIONS THREADS CALLS WIDTH HEIGHT PIXELS,
 * where PIXELS is a file of luma. test_rates.py compares them with the same from Python. */
#include <pthread.h>
#include <sightline.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sl_detector* detector;
static sl_image image;
static int calls;

static void* search(void* argument) {
  int i;
  for (i = 0; i < calls; ++i) {
    sl_result* result = NULL;
    if (sl_detector_search(detector, &image, 1, &result, NULL) != SL_OK) exit(1);
    sl_result_free(result);
  }
  return argument;
}

static double run(int threads) {
  pthread_t* const all = calloc((size_t)threads, sizeof *all);
  struct timespec start, end;
  int i;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (i = 0; i < threads; ++i)
    if (pthread_create(&all[i], NULL, search, NULL) != 0) exit(1);
  for (i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  free(all);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

int main(int argc, char** argv) {
  unsigned char* pixels;
  FILE* file;
  if (argc != 7) return 2;
  image.struct_size = sizeof image;
  image.format = SL_GRAY8;
  image.width = atoi(argv[4]);
  image.height = atoi(argv[5]);
  pixels = malloc((size_t)image.width * (size_t)image.height);
  file = fopen(argv[6], "rb");
  if (!pixels || !file ||
      fread(pixels, (size_t)image.width, (size_t)image.height, file) != (size_t)image.height)
    return 1;
  fclose(file);
  image.plane[0] = pixels;
  image.stride[0] = image.width;
  if (sl_detector_open("people", argv[1], &detector, NULL) != SL_OK) return 1;
  calls = 1;
  run(2);
  calls = atoi(argv[3]);
  printf("%f\n", run(atoi(argv[2])));
  sl_detector_free(detector);
  free(pixels);
  return 0;
}
