/* sightline.h: finds objects in pictures and video. The interface of libsightline.so.0, in C99.
 *
 * Errors.    Every function but the getters returns an sl_status and takes an sl_error as its last argument, or NULL.
 *            SL_OK is 0; statuses above 0 are no errors; those below 0 are, and fill the sl_error. Any function may return
 *            SL_E_ARGUMENT (such as for a NULL that is not allowed), SL_E_MEMORY, SL_E_FORKED and SL_E_INTERNAL; others are
 *            listed at the function.
 * Ownership. Handles are freed by their sl_..._free, which takes NULL. Returned strings belong to their handle, except
 *            for those of type char*, which sl_text_free frees. All strings are UTF-8.
 * Structs.   The caller sets struct_size to sizeof of the struct. Arrays that the library returns are stepped through by
 *            the stride that it returns with them, or by struct_size, because structs may grow.
 * Options.   TOML text, or NULL. Each function lists its keys.
 * Threads.   Several threads may call sl_detector_search on one detector, and getters on one object, at the same time.
 *            A tracker, a counter, and sl_stream_next of one stream take one thread at a time; others get SL_E_STATE.
 *            sl_stream_stop may be called by any thread. No thread may use a handle while it is freed.
 * fork.      In a child process that was forked after a detector or stream was opened, every function returns
 *            SL_E_FORKED. Start new processes instead (Python: multiprocessing's start method "spawn").
 * Process.   The library prints nothing, unless sl_log asks for it, installs no handlers, and never ends the process.
 *            The messages of FFmpeg go where the process sends them (av_log_set_level, av_log_set_callback).
 *
 * Results do not depend on devices, schedules, threads or other calls. Colour is reduced to luma in integers:
 * (77 R + 150 G + 29 B + 128) >> 8. A frame that another program decoded has passed YUV -> BGR -> luma, so its boxes may
 * differ from those of the file. A stream reads the file's own luma, as the program `sightline detect` does. */
/* clang-format off: it would fill the lists above and below as paragraphs */
#ifndef SIGHTLINE_H
#define SIGHTLINE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SL_API __attribute__((visibility("default")))
#else
#define SL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface: SL_ABI_MAJOR changes with the library's soname, SL_ABI_MINOR with each addition. */
#define SL_ABI_MAJOR 0
#define SL_ABI_MINOR 1

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* What a function returns. */
typedef enum sl_status {
  SL_OK = 0,
  SL_END = 1,            /* the stream has ended or was stopped */
  SL_TIMEOUT = 2,        /* no frame yet */
  SL_LOST = 3,           /* a live source is lost and is being reopened; told once for each loss */
  SL_BACK = 4,           /* it is back; the next call returns its first frame */
  SL_E_ARGUMENT = -1,    /* an argument of the call is wrong */
  SL_E_CONFIG = -2,      /* a configuration, a model or an option is wrong */
  SL_E_INPUT = -3,       /* a file or a stream cannot be read */
  SL_E_DEVICE = -4,      /* a device that was asked for is missing or does not work */
  SL_E_MEMORY = -5,      /* out of memory */
  SL_E_LIMIT = -6,       /* larger than the library allows */
  SL_E_FORKED = -7,      /* this process was forked after the library was in use */
  SL_E_STATE = -8,       /* another thread is in a call that only one may be in */
  SL_E_INTERNAL = -9     /* something failed that should not; report it */
} sl_status;

/* What went wrong, where, and what to do about it. Texts are cut at a character if they are too long. */
typedef struct sl_error {
  uint32_t struct_size;
  int32_t status;
  char what[512];
  char where[256]; /* file and line, device, image or stream; may be empty */
  char hint[256];  /* may be empty */
} sl_error;

typedef struct sl_detector sl_detector;
typedef struct sl_result sl_result;
typedef struct sl_tracker sl_tracker;
typedef struct sl_counter sl_counter;
typedef struct sl_stream sl_stream;
typedef struct sl_frame sl_frame;

/* --- the library -------------------------------------------------------------------------------------------------- */

/* Version of the interface that was loaded: SL_ABI_MAJOR << 16 | SL_ABI_MINOR. */
SL_API uint32_t sl_abi(void);
/* Version of Sightline, such as "0.1.0". */
SL_API const char* sl_version(void);
/* Such as "SL_E_CONFIG"; "unknown status" for other numbers. */
SL_API const char* sl_status_name(sl_status status);
/* Frees a text that a function returned as char*. */
SL_API void sl_text_free(char* text);

/* The processors of this machine. Starts the drivers of OpenCL, which may start threads.
 * json: {"cpu": {...}, "devices": [{"index":, "name":, ...}], "default": index or null}; for sl_text_free. */
SL_API sl_status sl_devices(char** json, sl_error* error);

/* Writes messages as lines to a file descriptor, which stays the caller's. Level: -1 none (the default), 0 errors,
 * 1 warnings, 2 information, 3 details. SL_E_ARGUMENT for other levels, or for a negative descriptor. */
SL_API sl_status sl_log(int level, int fd);

/* --- images ------------------------------------------------------------------------------------------------------- */

/* Layout of an image's pixels. */
enum sl_format {
  SL_GRAY8 = 1,  /* luma */
  SL_GRAY16 = 2, /* luma, 0 to 65535, in the machine's byte order; copied and rounded to 8 bits */
  SL_BGR24 = 3,  /* bytes of a pixel in memory order; full range */
  SL_RGB24 = 4,
  SL_BGRA32 = 5, /* the fourth byte is ignored */
  SL_RGBA32 = 6,
  SL_NV12 = 7, /* planes: luma, and alternating U and V at half size (rounded up) */
  SL_I420 = 8  /* planes: luma, U and V at half size (rounded up) */
};

/* A picture in the caller's memory. Detectors that read colour take the chroma of NV12 and I420 as limited range, BT.709
 * from 720 rows on and BT.601 below. */
typedef struct sl_image {
  uint32_t struct_size;
  uint32_t format; /* enum sl_format */
  int32_t width;
  int32_t height;
  const void* plane[3]; /* first row of each plane; those that the format lacks are ignored */
  ptrdiff_t stride[3];  /* bytes from row to row; negative: the picture is stored from the bottom up */
  double time;          /* seconds, finite; the results have it */
} sl_image;

/* --- results ------------------------------------------------------------------------------------------------------ */

/* Flags of an object. */
enum sl_object_flag {
  SL_PREDICTED = 1, /* predicted by the tracker, not found in this frame */
  SL_CUT = 2        /* touches an edge of the frame */
};

/* An object, in pixels of the upright frame, origin at the top left. */
typedef struct sl_object {
  double x; /* left edge */
  double y; /* top edge */
  double width;
  double height;
  float score;      /* comparable within one model; higher is surer */
  float confidence; /* share of such boxes that are right, 0 to 1; NaN if the model is not calibrated */
  int32_t label;    /* index for sl_detector_label */
  uint32_t flags;   /* enum sl_object_flag */
  int64_t track;    /* identity over frames, from 1; 0 without a tracker */
  double reserved[3];
} sl_object;

/* Whether a frame was searched. */
enum sl_about_status {
  SL_SEARCHED = 0,
  SL_SKIPPED = 1, /* not searched: smaller than the smallest object, or a stream without a detector */
  SL_FAILED = 2   /* could not be searched, such as a damaged picture of a folder; sl_result_json has the reason */
};
/* Flags of a result. */
enum sl_about_flag {
  SL_TRACKED = 1,  /* the objects come from a tracker */
  SL_ESTIMATED = 2 /* all objects are predicted: sl_tracker_predict */
};

/* The frame of a result. */
typedef struct sl_about {
  uint32_t struct_size;
  uint32_t flags; /* enum sl_about_flag */
  int32_t width;  /* of the frame, in pixels */
  int32_t height;
  int32_t status; /* enum sl_about_status */
  uint32_t reserved;
  int64_t frame;   /* number in the stream, from 1; 0 for images */
  int64_t skipped; /* frames of the stream between the result before and this one */
  double time;     /* seconds from the start of the stream; for images sl_image.time */
} sl_about;

/* The objects, by falling score; objects found inside others come last. Valid as long as the result; NULL if there are
 * none.
 * n:      gets their number, or NULL.
 * stride: gets the bytes from one to the next, or NULL. */
SL_API const sl_object* sl_result_objects(const sl_result* result, size_t* n, size_t* stride);
/* The points of an object: n times x and y in pixels of the upright frame, and confidence (0 to 1, NaN if the model gives
 * none). Valid as long as the result; NULL if there are none, or for an index out of range.
 * object: index of the object.
 * n:      gets the number of points, or NULL. */
SL_API const float* sl_result_points(const sl_result* result, size_t object, size_t* n);
/* The name of a recognised object, or "unknown"; NULL if the detector does not recognise, or for an index out of range. */
SL_API const char* sl_result_name(const sl_result* result, size_t object);
/* Number, time, size and status of the frame. The caller sets about->struct_size. */
SL_API sl_status sl_result_about(const sl_result* result, sl_about* about);
/* The first 16 bytes of the SHA-256 over, for each object in order and in little-endian byte order: x, y, width and
 * height (64-bit floats), score (32-bit float), label (its UTF-8 text and a zero byte), and x, y and confidence of each
 * point (32-bit floats). Equal on every machine and device. */
SL_API void sl_result_digest(const sl_result* result, uint8_t digest[16]);
/* A line of JSON, as `sightline detect --format jsonl` writes it, without the line end; for sl_text_free. */
SL_API sl_status sl_result_json(const sl_result* result, char** line, sl_error* error);
/* A result with some of the objects: those at n indices, in that order. It has digests and JSON of its own, and a tracker
 * takes it: for objects of some labels, places or scores. SL_E_ARGUMENT for an index out of range. */
SL_API sl_status sl_result_select(const sl_result* result, const size_t* objects, size_t n, sl_result** out,
                                  sl_error* error);
/* Results are immutable and counted: each sl_result_ref needs an sl_result_free more. Returns the result. */
SL_API sl_result* sl_result_ref(sl_result* result);
/* Gives a result back. The last call frees it, and what its getters returned. */
SL_API void sl_result_free(sl_result* result);

/* --- detectors ---------------------------------------------------------------------------------------------------- */

/* Opens a detector, and the devices that it uses.
 * what:    the name of a configuration that ships ("people"), a .toml file, a model, an ONNX file, or several of these
 *          with commas, which then search the same pictures. NULL: the option `model` names a model.
 * options: keys of [detector] such as threshold, min_size or model; device ("auto", "none", "gpu", an index or a part of
 *          a name), schedule, map, in_flight, batch, split, goal, buffers; threads (of the CPU; default: all); gallery
 *          and false_accepts of detectors that recognise. They may stand in sections [detector], [schedule] and
 *          [recognition] under the names that a configuration file uses, too. tiles = 640, [1280, 720] or "1280x720"
 *          searches each picture and overlapping tiles of it, in which networks find small objects; tile_overlap, 0 to
 *          0.5, is the least overlap as a share of a side (0.2). Options that are lists of names take a list or a text
 *          with commas: classes = ["car", "bus"].
 * The first search, or the first stream, may measure schedules if schedule = "auto" is given.
 * Errors:  SL_E_CONFIG for a configuration, a model or an option; SL_E_DEVICE for a device; SL_E_LIMIT. */
SL_API sl_status sl_detector_open(const char* what, const char* options, sl_detector** detector, sl_error* error);
/* Searches n images, which are borrowed for the call and not changed. The images of one call, and of calls of other
 * threads, are searched together, in batches if the device takes them. Fills results with n new results, in order; with
 * NULLs on failure.
 * Errors: SL_E_ARGUMENT for a format, a size, a plane or a stride, SL_E_LIMIT for too many pixels; where is "image 2". */
SL_API sl_status sl_detector_search(sl_detector* detector, const sl_image* images, size_t n, sl_result** results,
                                    sl_error* error);
/* Number of labels. */
SL_API size_t sl_detector_labels(const sl_detector* detector);
/* Name of a label, such as "person". Valid as long as the detector; NULL for an index out of range. */
SL_API const char* sl_detector_label(const sl_detector* detector, size_t label);
/* Hexadecimal hash of models and settings, but not of devices and schedules. Valid as long as the detector. */
SL_API const char* sl_detector_fingerprint(const sl_detector* detector);
/* What runs where.
 * json: model, labels, threshold, schedule with the processor of each stage, devices, threads; for sl_text_free. */
SL_API sl_status sl_detector_explain(const sl_detector* detector, char** json, sl_error* error);
/* Frees a detector. Its streams keep what they need of it. */
SL_API void sl_detector_free(sl_detector* detector);

/* --- tracking ----------------------------------------------------------------------------------------------------- */

/* Follows the objects of one stream of frames.
 * options: hits (frames that must show an object before it is reported, default 3), misses (frames that may miss an
 *          object not yet reported, 1), gap (seconds over which a missed object is predicted, 0.3), lost (seconds
 *          without a detection after which a track ends, 1), start (minimum score that starts a track), overlap (minimum
 *          intersection over union, 0.3), pause (longest time between frames, in seconds, 3).
 * Errors:  SL_E_CONFIG for an option. */
SL_API sl_status sl_tracker_open(const char* options, sl_tracker** tracker, sl_error* error);
/* Adds a result and returns the tracked objects. A result that was not searched counts as sl_tracker_predict.
 * time:   seconds, rising from call to call.
 * in:     a result of any detector; it stays the caller's.
 * out:    a new result, for sl_result_free.
 * Errors: SL_E_ARGUMENT for a time that does not rise, SL_E_STATE if another thread is in a call of the tracker. */
SL_API sl_status sl_tracker_update(sl_tracker* tracker, double time, const sl_result* in, sl_result** out,
                                   sl_error* error);
/* Predicts the objects at a time after the last update, for a frame that was not searched.
 * time:   seconds.
 * out:    a new result, for sl_result_free.
 * Errors: SL_E_ARGUMENT for a time before the last update, SL_E_STATE if another thread is in a call of the tracker. */
SL_API sl_status sl_tracker_predict(sl_tracker* tracker, double time, sl_result** out, sl_error* error);
/* Frees a tracker. Its results stay valid. */
SL_API void sl_tracker_free(sl_tracker* tracker);

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* What happened. */
enum sl_count_kind {
  SL_IN = 1,      /* crossed a line from the left of somebody who walks from `from` to `to` to the right */
  SL_OUT = 2,     /* crossed it the other way */
  SL_ENTERED = 3, /* entered a zone */
  SL_LEFT = 4,    /* left it, or its track ended in it */
  SL_DWELL = 5    /* has been in it for `dwell` seconds; once for each stay */
};

/* An event of a counter. */
typedef struct sl_count {
  uint32_t struct_size;
  int32_t kind; /* enum sl_count_kind */
  int32_t label;
  uint32_t reserved;
  const char* name; /* of the line or the zone; lives as long as the counter */
  int64_t track;
  double time; /* seconds, of the frame that settled it */
} sl_count;

/* Counts the tracked objects of one stream that cross lines, or enter and leave zones.
 * zones_and_lines: TOML, with points as shares of the frame's width and height:
 *   lines.door = { from = [0.2, 0.8], to = [0.8, 0.8] }
 *   zones.yard = { polygon = [[0.1, 0.4], [0.9, 0.4], [0.9, 1], [0.1, 1]], dwell = 10 }
 *   lost = 5
 * Of both: labels (a list; default: all), anchor ("bottom", the middle of the box's lower edge and the default, or
 * "center"). Lines: frames (consecutive frames on a side, default 2). Zones: inertia (consecutive frames inside or
 * outside, 3), dwell (seconds; default: none). lost: seconds after which a track without an object has ended.
 * The manual describes exactly what counts.
 * Errors: SL_E_CONFIG. */
SL_API sl_status sl_counter_open(const char* zones_and_lines, sl_counter** counter, sl_error* error);
/* Adds a result of a tracker. Results that were not searched change nothing.
 * events: the first event, of which each is struct_size bytes behind the one before; NULL if there are none. Valid until
 *         the next call with the counter.
 * n:      their number.
 * Errors: SL_E_ARGUMENT for a result of no tracker, SL_E_STATE if another thread is in a call of the counter. */
SL_API sl_status sl_counter_update(sl_counter* counter, const sl_result* tracked, const sl_count** events, size_t* n,
                                   sl_error* error);
/* Numbers of all events so far.
 * json:   {"lines": {"door": {"in": 3, "out": 1}}, "zones": {"yard": {"entered": 2, "left": 1, "inside": 1}}}; for
 *         sl_text_free.
 * Errors: SL_E_STATE if another thread is in a call of the counter. */
SL_API sl_status sl_counter_totals(const sl_counter* counter, char** json, sl_error* error);
/* Frees a counter, and its events. */
SL_API void sl_counter_free(sl_counter* counter);

/* --- streams ------------------------------------------------------------------------------------------------------ */

/* Opens a video, a picture, a folder, a camera or a network stream, and begins to search its frames.
 * detector: NULL: frames are only read.
 * options:  policy ("all": every frame, the default of files; "newest": frames and results that wait too long are
 *           dropped, the default of live sources), queue (results that wait, 1 to 1000; default 1, or 4 with "all"),
 *           rate (searches per second at most), every (search every n-th frame), importance (share of the detector among
 *           its streams), track (true, or a section [track] with the options of sl_tracker_open), give_up (seconds after
 *           which a lost live source is an error; default: never), live (whether the source sets the pace), pace (speed
 *           of a file, 0: as fast as it can be searched), start and duration (seconds), loop, decoder ("software",
 *           "auto", "cuda", "vaapi", ...), threads (of the decoder), timeout (seconds without data after which a live
 *           source is lost, 3), recursive, keep_going, max_pixels, allow_playlists, netrc, size ("1280x720"), fps,
 *           pixel_format.
 * Errors:   SL_E_INPUT for a source that cannot be read, SL_E_CONFIG for an option. */
SL_API sl_status sl_stream_open(const char* url, sl_detector* detector, const char* options, sl_stream** stream,
                                sl_error* error);
/* Waits for the next result, in order. Frames wait in a bounded queue; see `policy`.
 * timeout_ms: milliseconds; 0: do not wait; negative: without limit.
 * frame:      gets the frame, or NULL: it is not wanted. A failed result may have no frame: then it is set to NULL.
 * Returns SL_OK, SL_END, SL_TIMEOUT, SL_LOST (the error says why) or SL_BACK; an error is returned once, then SL_END.
 * Errors:     SL_E_INPUT if the source broke, SL_E_DEVICE, SL_E_STATE if another thread waits for the stream. */
SL_API sl_status sl_stream_next(sl_stream* stream, int timeout_ms, sl_result** result, sl_frame** frame,
                                sl_error* error);
/* Ends the stream: sl_stream_next returns SL_END at once. Any thread may call it. */
SL_API sl_status sl_stream_stop(sl_stream* stream);
/* The state of the source, and numbers of frames. Any thread may call it.
 * json: state, reason, captured, dropped, searched, waiting, reopened, rate (frames per second), width, height, codec; for
 *       sl_text_free. */
SL_API sl_status sl_stream_state(const sl_stream* stream, char** json, sl_error* error);
/* Stops the stream and waits for the frames that are being searched. */
SL_API void sl_stream_free(sl_stream* stream);

/* The planes of a frame as they were decoded: GRAY8, NV12, I420 or packed colour. Luma and chroma have the range of the
 * source. Borrowed: valid as long as the frame. The caller sets image->struct_size.
 * Errors: SL_E_INPUT for a frame without pixels. */
SL_API sl_status sl_frame_image(const sl_frame* frame, sl_image* image);
/* Writes the frame as BGR24.
 * to:     where the first row goes; there is room for height rows of width pixels of 3 bytes.
 * stride: bytes from row to row; negative: the picture is stored from the bottom up.
 * Errors: SL_E_ARGUMENT for a stride shorter than a row, SL_E_INPUT for a frame without pixels. */
SL_API sl_status sl_frame_bgr(const sl_frame* frame, void* to, ptrdiff_t stride, sl_error* error);
/* Frees a frame, and the planes that sl_frame_image gave. */
SL_API void sl_frame_free(sl_frame* frame);

#ifdef __cplusplus
}
#endif

#endif
