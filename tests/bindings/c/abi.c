/* The binary interface of libsightline.so.0. Lines are added, never changed: it does not compile if a
 * function, a member or a number of sightline.h is not what it was. Sizes and places are those of 64-bit
 * machines. `symbols.cmake` compares the functions with those that the library exports. */
#include <sightline.h>

/* clang-format off: a function a line */
uint32_t sl_abi(void);
const char* sl_version(void);
const char* sl_status_name(sl_status);
void sl_text_free(char*);
sl_status sl_devices(char**, sl_error*);
sl_status sl_log(int, int);
const sl_object* sl_result_objects(const sl_result*, size_t*, size_t*);
const float* sl_result_points(const sl_result*, size_t, size_t*);
const char* sl_result_name(const sl_result*, size_t);
sl_status sl_result_about(const sl_result*, sl_about*);
void sl_result_digest(const sl_result*, uint8_t[16]);
sl_status sl_result_json(const sl_result*, char**, sl_error*);
sl_status sl_result_select(const sl_result*, const size_t*, size_t, sl_result**, sl_error*);
sl_result* sl_result_ref(sl_result*);
void sl_result_free(sl_result*);
sl_status sl_detector_open(const char*, const char*, sl_detector**, sl_error*);
sl_status sl_detector_search(sl_detector*, const sl_image*, size_t, sl_result**, sl_error*);
size_t sl_detector_labels(const sl_detector*);
const char* sl_detector_label(const sl_detector*, size_t);
const char* sl_detector_fingerprint(const sl_detector*);
sl_status sl_detector_explain(const sl_detector*, char**, sl_error*);
void sl_detector_free(sl_detector*);
sl_status sl_tracker_open(const char*, sl_tracker**, sl_error*);
sl_status sl_tracker_update(sl_tracker*, double, const sl_result*, sl_result**, sl_error*);
sl_status sl_tracker_predict(sl_tracker*, double, sl_result**, sl_error*);
void sl_tracker_free(sl_tracker*);
sl_status sl_counter_open(const char*, sl_counter**, sl_error*);
sl_status sl_counter_update(sl_counter*, const sl_result*, const sl_count**, size_t*, sl_error*);
sl_status sl_counter_totals(const sl_counter*, char**, sl_error*);
void sl_counter_free(sl_counter*);
sl_status sl_stream_open(const char*, sl_detector*, const char*, sl_stream**, sl_error*);
sl_status sl_stream_next(sl_stream*, int, sl_result**, sl_frame**, sl_error*);
sl_status sl_stream_stop(sl_stream*);
sl_status sl_stream_state(const sl_stream*, char**, sl_error*);
void sl_stream_free(sl_stream*);
sl_status sl_frame_image(const sl_frame*, sl_image*);
sl_status sl_frame_bgr(const sl_frame*, void*, ptrdiff_t, sl_error*);
void sl_frame_free(sl_frame*);
/* clang-format on */

#define JOIN(a, b) a##b
#define NAME(line) JOIN(check_, line)
#define FIXED(condition) extern char NAME(__LINE__)[(condition) ? 1 : -1]
#define STRUCT(name, size) FIXED(sizeof(name) == (size))
#define MEMBER(name, member, place, size) \
  FIXED(offsetof(name, member) == (place) && sizeof(((name*)0)->member) == (size))
#define VALUE(name, value) FIXED((int)(name) == (value))

#if UINTPTR_MAX == 0xFFFFFFFFFFFFFFFFU
STRUCT(sl_error, 1032);
MEMBER(sl_error, struct_size, 0, 4);
MEMBER(sl_error, status, 4, 4);
MEMBER(sl_error, what, 8, 512);
MEMBER(sl_error, where, 520, 256);
MEMBER(sl_error, hint, 776, 256);
STRUCT(sl_image, 72);
MEMBER(sl_image, struct_size, 0, 4);
MEMBER(sl_image, format, 4, 4);
MEMBER(sl_image, width, 8, 4);
MEMBER(sl_image, height, 12, 4);
MEMBER(sl_image, plane, 16, 24);
MEMBER(sl_image, stride, 40, 24);
MEMBER(sl_image, time, 64, 8);
STRUCT(sl_object, 80);
MEMBER(sl_object, x, 0, 8);
MEMBER(sl_object, y, 8, 8);
MEMBER(sl_object, width, 16, 8);
MEMBER(sl_object, height, 24, 8);
MEMBER(sl_object, score, 32, 4);
MEMBER(sl_object, confidence, 36, 4);
MEMBER(sl_object, label, 40, 4);
MEMBER(sl_object, flags, 44, 4);
MEMBER(sl_object, track, 48, 8);
MEMBER(sl_object, reserved, 56, 24);
STRUCT(sl_about, 48);
MEMBER(sl_about, struct_size, 0, 4);
MEMBER(sl_about, flags, 4, 4);
MEMBER(sl_about, width, 8, 4);
MEMBER(sl_about, height, 12, 4);
MEMBER(sl_about, status, 16, 4);
MEMBER(sl_about, reserved, 20, 4);
MEMBER(sl_about, frame, 24, 8);
MEMBER(sl_about, skipped, 32, 8);
MEMBER(sl_about, time, 40, 8);
STRUCT(sl_count, 40);
MEMBER(sl_count, struct_size, 0, 4);
MEMBER(sl_count, kind, 4, 4);
MEMBER(sl_count, label, 8, 4);
MEMBER(sl_count, reserved, 12, 4);
MEMBER(sl_count, name, 16, 8);
MEMBER(sl_count, track, 24, 8);
MEMBER(sl_count, time, 32, 8);
#endif

VALUE(SL_OK, 0);
VALUE(SL_END, 1);
VALUE(SL_TIMEOUT, 2);
VALUE(SL_LOST, 3);
VALUE(SL_BACK, 4);
VALUE(SL_E_ARGUMENT, -1);
VALUE(SL_E_CONFIG, -2);
VALUE(SL_E_INPUT, -3);
VALUE(SL_E_DEVICE, -4);
VALUE(SL_E_MEMORY, -5);
VALUE(SL_E_LIMIT, -6);
VALUE(SL_E_FORKED, -7);
VALUE(SL_E_STATE, -8);
VALUE(SL_E_INTERNAL, -9);
VALUE(SL_GRAY8, 1);
VALUE(SL_GRAY16, 2);
VALUE(SL_BGR24, 3);
VALUE(SL_RGB24, 4);
VALUE(SL_BGRA32, 5);
VALUE(SL_RGBA32, 6);
VALUE(SL_NV12, 7);
VALUE(SL_I420, 8);
VALUE(SL_PREDICTED, 1);
VALUE(SL_CUT, 2);
VALUE(SL_SEARCHED, 0);
VALUE(SL_SKIPPED, 1);
VALUE(SL_FAILED, 2);
VALUE(SL_TRACKED, 1);
VALUE(SL_ESTIMATED, 2);
VALUE(SL_IN, 1);
VALUE(SL_OUT, 2);
VALUE(SL_ENTERED, 3);
VALUE(SL_LEFT, 4);
VALUE(SL_DWELL, 5);
