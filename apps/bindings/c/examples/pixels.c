/* Searches pixels in memory: several pictures in one call, which then share the processors. Reads PGM files (P5).
 *   cc pixels.c $(pkg-config --cflags --libs sightline) -o pixels && ./pixels a.pgm b.pgm */
#include <sightline.h>
#include <stdio.h>
#include <stdlib.h>

/* The pixels of a PGM file of 8 bits; NULL if it is none. */
static void* read_pgm(const char* name, sl_image* image) {
  FILE* file = fopen(name, "rb");
  void* pixels = NULL;
  int width, height, most;
  if (!file) return NULL;
  if (fscanf(file, "P5 %d %d %d", &width, &height, &most) == 3 && most == 255 && width > 0 && height > 0) {
    const size_t size = (size_t)width * (size_t)height;
    fgetc(file);
    pixels = malloc(size);
    if (pixels && fread(pixels, 1, size, file) != size) {
      free(pixels);
      pixels = NULL;
    }
  }
  fclose(file);
  if (!pixels) return NULL;
  image->struct_size = sizeof *image;
  image->format = SL_GRAY8;
  image->width = width;
  image->height = height;
  image->plane[0] = pixels;
  image->stride[0] = width;
  return pixels;
}

int main(int argc, char** argv) {
  enum { MOST = 16 };
  sl_image images[MOST] = {{0}};
  sl_result* results[MOST] = {0};
  void* pixels[MOST] = {0};
  sl_error error = {0};
  sl_detector* detector = NULL;
  size_t count = (size_t)argc - 1, i;
  int failed;
  error.struct_size = sizeof error;
  if (count < 1 || count > MOST) return fprintf(stderr, "usage: %s PICTURE.pgm... (up to 16)\n", argv[0]), 2;
  for (i = 0; i < count; ++i) {
    pixels[i] = read_pgm(argv[i + 1], &images[i]);
    if (!pixels[i]) return fprintf(stderr, "%s is no PGM file of 8 bits\n", argv[i + 1]), 1;
  }
  failed = sl_detector_open("people", "threshold = 0.5", &detector, &error) < 0 ||
           sl_detector_search(detector, images, count, results, &error) < 0;
  if (failed) fprintf(stderr, "%s %s\n", error.where, error.what);
  for (i = 0; i < count; ++i) {
    size_t n = 0, k;
    uint8_t digest[16];
    sl_result_objects(results[i], &n, NULL);
    sl_result_digest(results[i], digest);
    if (!failed) printf("%s: %lu people, digest ", argv[i + 1], (unsigned long)n);
    for (k = 0; k < 16 && !failed; ++k) printf("%02x", digest[k]);
    if (!failed) printf("\n");
    sl_result_free(results[i]);
    free(pixels[i]);
  }
  sl_detector_free(detector);
  return failed;
}
