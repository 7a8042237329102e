/* The interface from C99: sizes and places of members, which other languages rely on, and every function
 * once; and what the process is left as. Usage: test_c_api PICTURE */
#define _POSIX_C_SOURCE 200809L
#include <locale.h>
#include <sightline.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK(condition)                                                                             \
  do {                                                                                               \
    if (!(condition)) {                                                                              \
      fprintf(stderr, "%s:%d: %s; %s %s\n", __FILE__, __LINE__, #condition, error.what, error.hint); \
      return 1;                                                                                      \
    }                                                                                                \
  } while (0)

static sl_error error;

/* What belongs to the process: signal handlers and mask, locale, file mode mask, folder. */
struct process {
  void (*handlers[32])(int);
  sigset_t blocked;
  char locale[64];
  mode_t mode;
  char folder[4096];
};

static struct process before, after; /* with zeros where nothing is written */

static void look_at(struct process* state) {
  int i;
  struct sigaction action;
  for (i = 1; i < 32; ++i)
    state->handlers[i] = sigaction(i, NULL, &action) == 0 ? action.sa_handler : SIG_ERR;
  sigprocmask(SIG_BLOCK, NULL, &state->blocked);
  strncpy(state->locale, setlocale(LC_ALL, NULL), sizeof state->locale - 1);
  state->mode = umask(0);
  umask(state->mode);
  if (!getcwd(state->folder, sizeof state->folder)) state->folder[0] = '\0';
}

static int check_null(void) {
  sl_detector_free(NULL);
  sl_result_free(NULL);
  sl_tracker_free(NULL);
  sl_counter_free(NULL);
  sl_stream_free(NULL);
  sl_frame_free(NULL);
  sl_text_free(NULL);
  CHECK(sl_result_ref(NULL) == NULL);
  CHECK(sl_detector_labels(NULL) == 0);
  CHECK(sl_detector_label(NULL, 0) == NULL);
  CHECK(sl_detector_fingerprint(NULL) == NULL);
  CHECK(sl_detector_search(NULL, NULL, 1, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_detector_explain(NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_result_about(NULL, NULL) == SL_E_ARGUMENT);
  CHECK(sl_result_name(NULL, 0) == NULL);
  CHECK(sl_result_points(NULL, 0, NULL) == NULL);
  CHECK(sl_result_objects(NULL, NULL, NULL) == NULL);
  CHECK(sl_result_json(NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_result_select(NULL, NULL, 0, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_tracker_update(NULL, 0, NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_tracker_predict(NULL, 0, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_counter_update(NULL, NULL, NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_counter_totals(NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_stream_open(NULL, NULL, NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_stream_next(NULL, 0, NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_stream_stop(NULL) == SL_E_ARGUMENT);
  CHECK(sl_stream_state(NULL, NULL, &error) == SL_E_ARGUMENT);
  CHECK(sl_frame_image(NULL, NULL) == SL_E_ARGUMENT);
  CHECK(sl_frame_bgr(NULL, NULL, 0, &error) == SL_E_ARGUMENT);
  return 0;
}

static int check_search(const char* picture) {
  sl_detector* detector = NULL;
  sl_stream* stream = NULL;
  sl_result *found = NULL, *again = NULL, *tracked = NULL, *ahead = NULL;
  sl_frame* frame = NULL;
  sl_tracker* tracker = NULL;
  sl_counter* counter = NULL;
  const sl_count* events = NULL;
  sl_image image = {0};
  sl_about about = {0};
  uint8_t first[16], second[16];
  unsigned char* bgr;
  size_t n = 0, stride = 0;
  char* text = NULL;
  CHECK(sl_detector_open("people", "device = 'none'", &detector, &error) == SL_OK);
  CHECK(sl_detector_labels(detector) == 1 && strcmp(sl_detector_label(detector, 0), "person") == 0);
  CHECK(strlen(sl_detector_fingerprint(detector)) == 16);
  CHECK(sl_stream_open(picture, detector, NULL, &stream, &error) == SL_OK);
  CHECK(sl_stream_next(stream, -1, &found, &frame, &error) == SL_OK);
  CHECK(sl_stream_state(stream, &text, &error) == SL_OK && strstr(text, "\"captured\":1"));
  sl_text_free(text);
  CHECK(sl_result_objects(found, &n, &stride) && n > 0 && stride >= sizeof(sl_object));
  CHECK(sl_result_points(found, 0, NULL) == NULL && sl_result_name(found, 0) == NULL);
  about.struct_size = sizeof about;
  CHECK(sl_result_about(found, &about) == SL_OK && about.frame == 1 && about.status == SL_SEARCHED);
  image.struct_size = sizeof image;
  CHECK(sl_frame_image(frame, &image) == SL_OK && image.width == about.width);
  CHECK(sl_detector_search(detector, &image, 1, &again, &error) == SL_OK);
  sl_result_digest(found, first);
  sl_result_digest(again, second);
  CHECK(memcmp(first, second, 16) == 0);
  bgr = malloc((size_t)image.width * (size_t)image.height * 3);
  CHECK(bgr && sl_frame_bgr(frame, bgr, (ptrdiff_t)image.width * 3, &error) == SL_OK);
  free(bgr);
  CHECK(sl_tracker_open("hits = 1", &tracker, &error) == SL_OK);
  CHECK(sl_tracker_update(tracker, 0, found, &tracked, &error) == SL_OK);
  CHECK(sl_tracker_predict(tracker, 0.1, &ahead, &error) == SL_OK);
  CHECK(sl_counter_open("lines.a = { from = [0, 0.5], to = [1, 0.5] }", &counter, &error) == SL_OK);
  CHECK(sl_counter_update(counter, tracked, &events, &n, &error) == SL_OK && n == 0);
  CHECK(sl_counter_totals(counter, &text, &error) == SL_OK);
  CHECK(strcmp(text, "{\"lines\":{\"a\":{\"in\":0,\"out\":0}},\"zones\":{}}") == 0);
  sl_text_free(text);
  CHECK(sl_result_json(tracked, &text, &error) == SL_OK && strstr(text, "\"track\":1"));
  sl_text_free(text);
  CHECK(sl_detector_explain(detector, &text, &error) == SL_OK);
  sl_text_free(text);
  CHECK(sl_stream_stop(stream) == SL_OK);
  sl_counter_free(counter);
  sl_tracker_free(tracker);
  sl_frame_free(frame);
  sl_result_free(found);
  sl_result_free(again);
  sl_result_free(tracked);
  sl_result_free(ahead);
  sl_stream_free(stream);
  sl_detector_free(detector);
  return 0;
}

int main(int argc, char** argv) {
  char* text = NULL;
  look_at(&before);
  error.struct_size = sizeof error;
  CHECK(argc == 2);
  CHECK(sl_abi() == ((uint32_t)SL_ABI_MAJOR << 16 | SL_ABI_MINOR));
  CHECK(strlen(sl_version()) > 0);
  CHECK(strcmp(sl_status_name(SL_E_MEMORY), "SL_E_MEMORY") == 0);
  CHECK(sl_log(-1, -1) == SL_OK);
  CHECK(sl_devices(&text, &error) == SL_OK);
  sl_text_free(text);
  if (check_null() || check_search(argv[1])) return 1;
  look_at(&after);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
  return 0;
}
