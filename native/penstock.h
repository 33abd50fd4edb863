/* The C ABI of Penstock's native library: all that Python calls, through ctypes.
 *
 * Functions that return int give a negative number where they fail; ps_error() then tells why, for the calling
 * thread. Handles are destroyed by the function of that name. Calls marked "waits" may block and are made without
 * the GIL; all others return at once, and take no lock that is held while somebody waits for the GIL.
 */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stdint.h>

#include "include/penstock/operator.h" /* of operators' own libraries: numbers of types, PENSTOCK_MAX_DIMS */

#ifdef __cplusplus
extern "C" {
#endif

#define PS_API __attribute__((visibility("default")))
#define PS_ABI_VERSION 17
#define PS_MAX_DIMS PENSTOCK_MAX_DIMS

/* Numbers that both sides know. C++'s own enums are made of these, and Python has an enum with the same names for each;
 * tests/machine/test_native_calls.py compares all. */
enum ps_error_kind { /* to classes: penstock/errors.py */
  PS_ERROR_INTERNAL = 1,
  PS_ERROR_ARGUMENT = 2,
  PS_ERROR_TYPE = 3,
  PS_ERROR_READ = 4,
  PS_ERROR_DECODE = 5,
  PS_ERROR_MEMORY = 6,
  PS_ERROR_UNSUPPORTED = 7,
  PS_ERROR_STOPPED = 8,
  PS_ERROR_DEVICE = 9,
  PS_ERROR_LAYOUT = 10,     /* axes that do not fit the operator: an argument as well */
  PS_ERROR_AXIS = 11,       /* no such axis or element */
  PS_ERROR_SYSTEM = 12,     /* a file could not be read through no fault of its own: others would fail as well */
  PS_ERROR_FUNCTION = 13    /* a Python function of the user's */
};
enum ps_node_flag {
  PS_NODE_EARLY = 1,          /* computed while shapes are being found, since other shapes depend on it */
  PS_NODE_ALIAS = 2,          /* the output is the input's memory under another shape */
  PS_NODE_IO = 4,             /* waits for files */
  PS_NODE_HOST_OUTPUT = 8,    /* on a GPU: writes to the host's memory */
  PS_NODE_BATCHWISE = 16,     /* looks at all samples of its inputs, which are made in earlier segments */
  PS_NODE_TOLERANT = 32,      /* where it finds a sample broken, the others are looked at, too */
  PS_NODE_DEVICE_OUTPUT = 64, /* in Python, or of threads that wait for files: its outputs are in the GPU's memory */
  PS_NODE_MIXES = 128         /* its samples may be of several types or numbers of axes; a batch may not */
};
enum ps_where { /* the threads that work on a segment */
  PS_WHERE_CPU = 0,
  PS_WHERE_IO = 1,     /* those that may wait for files */
  PS_WHERE_GPU = 2,
  PS_WHERE_PYTHON = 3  /* its nodes are kernels "python_call" */
};
enum ps_phase { /* of a batch in a segment: run/batch.h */
  PS_PHASE_SETUP,
  PS_PHASE_PREPARE,
  PS_PHASE_RUN,
  PS_PHASE_LAUNCH,
  PS_PHASE_FLIGHT,
  PS_PHASE_CALL,
  PS_PHASE_FINISHED
};
enum ps_did { /* what a thread did: run/trace.h */
  PS_DID_SETUP,
  PS_DID_RUN,
  PS_DID_PREPARE,
  PS_DID_LAUNCH_AHEAD,
  PS_DID_LAUNCH,
  PS_DID_DEVICE,
  PS_DID_WAIT,
  PS_DID_PHASE,
  PS_DID_FINISHED
};
enum ps_writer { /* of spans, behind the worker threads: run/trace.h */
  PS_WRITER_LAUNCHER,
  PS_WRITER_AHEAD,
  PS_WRITER_DEVICE,
  PS_WRITER_ENGINE,
  PS_WRITER_PYTHON
};
enum ps_decoded_by { /* the engines of decoders with device="mixed" */
  PS_DECODED_BY_CPU,
  PS_DECODED_BY_CUDA, /* kernels of our own */
  PS_DECODED_BY_NVJPEG,
  PS_DECODED_BY_NVIMAGECODEC,
  PS_DECODED_BY_NVDEC /* videos; the CPU's, too, are counted as files */
};
enum ps_image_type { /* DALI's numbers */
  PS_IMAGE_TYPE_RGB = 0,
  PS_IMAGE_TYPE_BGR = 1,
  PS_IMAGE_TYPE_GRAY = 2,
  PS_IMAGE_TYPE_YCBCR = 3,
  PS_IMAGE_TYPE_ANY_DATA = 4
};
enum ps_interp_type { /* DALI's numbers */
  PS_INTERP_NN = 0,
  PS_INTERP_LINEAR = 1,
  PS_INTERP_CUBIC = 2,
  PS_INTERP_LANCZOS3 = 3,
  PS_INTERP_TRIANGULAR = 4,
  PS_INTERP_GAUSSIAN = 5
};
enum ps_reduction {
  PS_REDUCTION_SUM,
  PS_REDUCTION_MEAN,
  PS_REDUCTION_MEAN_SQUARE,
  PS_REDUCTION_RMS,
  PS_REDUCTION_MIN,
  PS_REDUCTION_MAX,
  PS_REDUCTION_VARIANCE,
  PS_REDUCTION_STD_DEV
};
enum ps_indexed { /* what became of a file in an index of JPEG files */
  PS_INDEXED_YES,
  PS_INDEXED_NOT_JPEG,
  PS_INDEXED_OTHER_KIND, /* progressive and others that are decoded without an index */
  PS_INDEXED_BROKEN      /* its scan has faults, or more bytes than it needs */
};

typedef struct ps_plan ps_plan;
typedef struct ps_executor ps_executor;
typedef struct ps_batch ps_batch;
typedef struct ps_gpu_memory ps_gpu_memory;
typedef struct ps_fed ps_fed;
typedef struct ps_capsules ps_capsules;
typedef struct ps_jpeg_index ps_jpeg_index;
typedef struct ps_video_index ps_video_index;
typedef struct ps_archive ps_archive;
typedef struct ps_contents ps_contents;
typedef struct ps_record_table ps_record_table;

typedef struct {
  void* data;
  int32_t dtype, ndim;
  int64_t shape[PS_MAX_DIMS];
  char layout[16];
  const char* source; /* the file it came from, or null */
} ps_tensor;

typedef struct {
  int32_t kind;       /* ps_error_kind */
  int32_t node;       /* of the plan, or -1 */
  int32_t sample;     /* of the batch, or -1 */
  const char* message;
  const char* source; /* the file, or "" */
} ps_error_info;

PS_API int ps_abi_version(void);
PS_API const char* ps_isa(void);
PS_API void ps_error(ps_error_info* info); /* the strings live until this thread's next failure */

/* Plans. Values are numbered as they are made. */
PS_API ps_plan* ps_plan_create(void);
PS_API void ps_plan_destroy(ps_plan*);
PS_API int ps_plan_source(ps_plan*, int gpu);                 /* a value that each iteration is fed with */
PS_API int ps_plan_constant(ps_plan*, const ps_tensor*);      /* copied */
/* Arguments of the node that is added next: all that its operator declares, and no others. */
PS_API int ps_arg_integers(ps_plan*, const char* name, const int64_t*, int n);
PS_API int ps_arg_numbers(ps_plan*, const char* name, const double*, int n);
PS_API int ps_arg_strings(ps_plan*, const char* name, const char* const*, int n);
PS_API int ps_arg_bytes(ps_plan*, const char* name, const char*, int64_t n); /* one string, of any bytes */
PS_API int ps_arg_table(ps_plan*, const char* name, const ps_tensor*); /* an array, copied once */
PS_API int ps_arg_value(ps_plan*, const char* name, int value);
PS_API int ps_arg_none(ps_plan*, const char* name);           /* declared, but not given */
/* Of the node that is added next, where it is not on the CPU: "gpu" or "mixed", and which GPU. */
PS_API int ps_node_device(ps_plan*, const char* device, int device_id);
/* flags: of ps_node_flag. It runs on the samples of a scope, and only these have its outputs. Returns its first
 * output's value; nodes are numbered from 0. */
PS_API int ps_plan_node(ps_plan*, const char* kernel, const int32_t* inputs, int num_inputs, int num_outputs,
                        uint64_t key, int flags, int scope);
/* Those samples of another scope (-1: all) for which a value, a BOOL per sample, is `wanted`; returns its number. The
 * value is computed while shapes are found, or before. */
PS_API int ps_plan_scope(ps_plan*, int parent, int predicate, int wanted);
PS_API int ps_plan_limit(ps_plan*, int value, int scope); /* only these samples have the value, which they share */
/* Nodes between two barriers, as groups that are fused: node numbers, one group behind the other.
 * where: of ps_where. */
PS_API int ps_plan_segment(ps_plan*, const int32_t* nodes, const int32_t* group_sizes, int num_groups, int where);
PS_API int ps_plan_outputs(ps_plan*, const int32_t* values, int n);

/* Execution. The plan is the executor's from then on. */
typedef struct {
  int32_t threads, io_threads;
  int32_t depth, gpu_depth;      /* batches that may be ready before they are taken; those of them on the GPU */
  int32_t device;                /* the GPU, or -1 */
  int32_t stream_priority;
  int32_t num_cpus;
  const int32_t* cpus;           /* that threads are bound to, in turn */
  const char* name;              /* of the threads */
  double read_timeout;           /* seconds in which a file must answer; 0: any number */
} ps_options;
/* The executor is written to `made`, and destroying takes it away from there: a caller that is interrupted knows
 * whether there is one. Closing waits for the current samples. If a thread waits for a file that does not answer, it is
 * detached after a while, and the result is -1. It may come at any moment from any thread: calls that are under way,
 * and all that follow, fail as stopped. Destroying closes, too; no other call may be under way then. */
PS_API int ps_executor_create(ps_plan*, const ps_options*, ps_executor** made); /* waits */
PS_API int ps_executor_close(ps_executor*); /* waits */
PS_API int ps_executor_destroy(ps_executor** made); /* waits */
/* What is given from outside for one value and one iteration (or several). Null: it failed. Samples that are not copied
 * must live as long as any batch that they are given to; on a GPU, where `release` of ps_gpu_borrow() tells, as long as
 * they are needed. Samples on the device are there when `stream` has got this far; a copy is put there, and waited for
 * if `wait`. */
PS_API ps_fed* ps_fed_host(ps_executor*, const ps_tensor* samples, int n,
                           int copy);                                      /* waits, if the plan has a GPU */
PS_API ps_fed* ps_fed_device(ps_gpu_memory*, const ps_tensor* samples, int n, int copy, uint64_t stream,
                             int wait);                                    /* waits */
PS_API ps_fed* ps_fed_upload(int device, const ps_tensor* samples, int n); /* from the host, copied; waits */
/* Memory for samples whose contents the caller writes before they are fed: their descriptors get its addresses. */
PS_API ps_fed* ps_fed_room(ps_executor*, ps_tensor* samples, int n);       /* waits, if the plan has a GPU */
PS_API void ps_fed_destroy(ps_fed*);
PS_API int ps_executor_feed(ps_executor*, int value, const ps_fed*); /* for the iteration scheduled next */
PS_API int ps_executor_feed_integers(ps_executor*, int value, const int64_t*, int n); /* scalars, copied */
PS_API int ps_executor_schedule(ps_executor*, int size, const int64_t* ids, const int64_t* epochs);
PS_API int ps_executor_schedule_counted(ps_executor*, int size, int64_t first); /* ids from `first` on, of epoch 0 */
/* The same; random numbers have these keys, one for each node, in place of those that the nodes were added with. */
PS_API int ps_executor_schedule_keyed(ps_executor*, int size, const int64_t* ids, const int64_t* epochs,
                                      const uint64_t* keys);
/* Waits for the oldest iteration. The answer is written, not returned: a caller that is interrupted on its way back
 * still has it. */
typedef struct {
  int32_t state; /* 0: not yet, 1: here it is, -1: it failed */
  ps_batch* batch; /* of one that failed: null, or it tells of broken samples */
} ps_answer;
/* gpu_too: also until the GPU is done with it, in one call: each call of this kind may cost Python 5 ms to come back
 * from, where another thread keeps it busy. */
PS_API void ps_executor_wait(ps_executor*, int timeout_ms, int gpu_too, ps_answer*); /* waits */
PS_API int64_t ps_executor_scheduled(ps_executor*); /* iterations so far; -1: closed */
PS_API int ps_executor_cancel(ps_executor*); /* waits as destroying does */
/* Segments in Python: what is to be called, and with which batch. Waiting ends with an error when the executor closes.
 * Batches come in order; one that has failed or was thrown away needs no answer, but may be given one. The handle of
 * the batch shows the inputs, and is the caller's: their memory lives as long as that. Each call is answered once, by
 * its outputs, which may be fed to nothing else, or by why there are none; an answer that fails is yet to be given. */
typedef struct {
  int32_t node, size;      /* of the plan; samples */
  int64_t iteration;       /* counted since the executor's start */
  int64_t start_ns;
  uint64_t stream;         /* of the GPU, as long as the batch; 0: the plan has none */
  ps_batch* batch;
} ps_call;
PS_API int ps_executor_next_call(ps_executor*, ps_call*); /* waits */
PS_API int ps_executor_answer(ps_executor*, const ps_call*, const ps_fed* const* outputs, int n);
PS_API int ps_executor_refuse(ps_executor*, const ps_call*, const char* why);
/* Per node: setup ns, run ns, samples. Per thread: ns at work, ns since start. Returns how many rows there are. */
PS_API int ps_executor_node_stats(ps_executor*, int64_t* rows, int max_rows);
PS_API int ps_executor_thread_stats(ps_executor*, int64_t* rows, int max_rows);
/* Per node, of decoders with device="mixed" (0 for others): how many files, and how many bytes of them, each of
 * ps_decoded_by has decoded; how many of the CPU's the GPU was given first, and refused; and how many our kernels
 * decoded with an index. Returns how many rows there are. */
#define PS_DECODER_STATS 12
PS_API int ps_executor_decoder_stats(ps_executor*, int64_t* rows, int max_rows);
PS_API int ps_executor_memory(ps_executor*, int64_t* held, int64_t* peak); /* of the host, that operators write to */
/* For profiles. While recording, threads note what they do: when, on which batch, and what for (ps_did). Spans are
 * handed out once each, to one caller at a time; those that found no room are lost, and counted. */
typedef struct {
  int64_t start_ns, end_ns;      /* of the system's monotonic clock */
  int64_t batch;                 /* counted since the executor's start */
  int32_t thread, did, at, sample;
} ps_span;
PS_API int ps_executor_record(ps_executor*, int on);
PS_API int ps_executor_spans(ps_executor*, ps_span* rows, int max_rows); /* returns how many */
PS_API int64_t ps_executor_spans_lost(ps_executor*);
/* Of groups of several nodes: how many samples so far went through them in one pass, and how many node by node, and
 * why. A group may have several rows of the same. Returns how many rows there are. */
typedef struct {
  int32_t node;                  /* the group's first */
  int32_t misfit;                /* which of its nodes the samples do not fit; -1: they went in one pass */
  int64_t samples;
  const char* why;               /* lives as long as the library; null: in one pass */
} ps_passes;
PS_API int ps_executor_passes(ps_executor*, ps_passes* rows, int max_rows);
/* Of readers that write to the GPU's memory: how many samples so far cuFile read there (`why` is null), and how many
 * came through the host's memory, and why. `misfit` is -1. Returns how many rows there are. */
PS_API int ps_executor_reads(ps_executor*, ps_passes* rows, int max_rows);
/* Per node: ns as a stage of row pipelines, measured in some of the samples while recording. Returns how many nodes. */
PS_API int ps_executor_stage_stats(ps_executor*, int64_t* ns, int max_rows);
PS_API uint64_t ps_executor_stream(ps_executor*); /* the CUstream that outputs on the GPU are made in; 0: none */
PS_API int ps_executor_release_unused(ps_executor*); /* waits */

/* The sources of all GPU kernels so far, each a C string; returns how many there are. They live as long as the
 * executor's next call of this function. */
PS_API int ps_executor_kernels(ps_executor*, const char** sources, int max_sources);

/* Decoding pictures: how many pixels one may have (2^29 by default), for decoders that are made from then on; and
 * where a codec's library lies ("libtiff"), for where the system has none. */
PS_API void ps_decode_set_max_pixels(int64_t pixels);
PS_API int ps_decode_set_library(const char* name, const char* path);

/* A file in memory, which readers find by this name, "memory://...". Its bytes are copied; null: it goes. */
PS_API int ps_memory_file(const char* name, const void* data, int64_t bytes);

/* All bytes of a file of any storage, which live as long as this. Null: it failed. */
PS_API ps_contents* ps_contents_read(const char* name, const void** data, int64_t* bytes); /* waits */
PS_API void ps_contents_destroy(ps_contents*);

/* Object stores: readers ask for bytes of objects, and threads that have a client of the stores take these requests and
 * answer them. `take` waits for one (1), or until it is closed (-1), or until something was released (0): `released`
 * is called then, until there is none (-1). */
typedef struct {
  int64_t id, begin;
  int64_t bytes;    /* -1: the whole object; 0: only its size */
  const char* name; /* until this thread's next call of ps_stores_take */
} ps_request;
PS_API int ps_stores_open(void);
PS_API void ps_stores_close(void);                  /* fails what is asked for, then and later */
PS_API int ps_stores_take(ps_request*); /* waits */
PS_API int64_t ps_stores_released(void);            /* a request whose bytes nobody needs any more */
/* The bytes that there are, which stay until the request is released; the object's size; and what changes with its
 * contents. 0: nobody wants them. */
PS_API int ps_stores_answer(int64_t id, const void* data, int64_t count, int64_t bytes, const char* tag);
PS_API void ps_stores_refuse(int64_t id, const char* error, int missing);   /* "cannot be read: ..." */
PS_API void ps_stores_note(const char* name, int64_t bytes, const char* tag);   /* an object that was listed */
/* Keeps what is read in files of this folder, up to so many bytes; null: nowhere. */
PS_API int ps_stores_cache(const char* folder, int64_t bytes);

/* The files of a tar archive of WebDataset's, in order: by its own headers, or by an index that wds2idx has made of it
 * (then `path` is the index's). Which sample each is of, from 0, and which extension it has, by number; names and
 * extensions each end with a zero. All lives as long as the archive. Null: it failed. */
typedef struct {
  int64_t files, samples;
  const int64_t* offsets;
  const int64_t* bytes;
  const int64_t* sample;
  const int32_t* extension;
  const char* names;
  int64_t names_bytes;
  const char* extensions;
  int64_t extensions_bytes;
} ps_members;
PS_API ps_archive* ps_archive_read(const char* path, int is_index, ps_members*); /* waits */
PS_API void ps_archive_destroy(ps_archive*);

/* Where the records of a file lie, found by going through it, or told by a text that another program has made of it
 * (then `path` is the text's): of TFRecord lines "OFFSET BYTES", of RecordIO lines "KEY OFFSET", of which keys come out
 * as `offsets` and places as `bytes`. Records are told with all that frames them. LMDB's have names, which are their
 * keys, each with a zero at its end. All lives as long as the table. Null: it failed. */
enum ps_record_format {
  PS_RECORDS_TFRECORD = 0, PS_RECORDS_RECORDIO = 1, PS_RECORDS_LMDB = 2, PS_RECORDS_TEXT = 3,
};
typedef struct {
  int64_t records;
  const int64_t* offsets;
  const int64_t* bytes;
  const char* names;
  int64_t names_bytes;
} ps_records;
PS_API ps_record_table* ps_record_table_read(const char* path, int format, ps_records*); /* waits */
PS_API void ps_record_table_destroy(ps_record_table*);

/* The index of a video (video/index.h), made by going through its packets: `data` and `bytes` are those of one block,
 * which lives as long as the index. Null: it failed. */
PS_API ps_video_index* ps_video_index_make(const char* path, const void** data, int64_t* bytes); /* waits */
PS_API void ps_video_index_destroy(ps_video_index*);
PS_API int ps_video_index_check(const void* data, int64_t bytes); /* whether a block is such an index */
PS_API const char* ps_video_libraries(void);  /* that decode videos, with versions; null: they are missing; waits */

/* A picture format: its name, the patterns of its files' names (with spaces between), the library that decodes it (""
 * where none is needed), and a picture of 8x8 pixels. */
typedef struct {
  const char* name;
  const char* patterns;
  const char* library;
  const void* sample;
  int64_t sample_bytes;
} ps_codec;
/* Writes up to `n` of the formats that can be decoded; how many there are. */
PS_API int ps_decode_codecs(ps_codec* codecs, int n);

/* Operators of others' libraries (include/penstock/operator.h). Loads one, for as long as the process lives, and writes
 * where its operators are, checked and completed; how many there are. */
PS_API int ps_library_load(const char* path, int global_symbols,
                           const struct penstock_operator* const** operators); /* waits */
/* The same of a table in memory, which must stay as long. */
PS_API int ps_library_take(const struct penstock_library* library, const struct penstock_operator* const** operators);
/* So that nodes can be made of one of them, by this name. */
PS_API int ps_library_add(const struct penstock_operator*, const char* kernel);

/* Building an index of JPEG files at `path`. Adding is for any number of threads at a time: `ranges` are `n` pairs, of
 * where a JPEG file begins within the file and how many bytes it has (-1: all that follow); what became of each is
 * written (ps_indexed). There is no index before it is finished. Null: it failed. */
PS_API ps_jpeg_index* ps_jpeg_index_create(const char* path); /* waits */
PS_API int ps_jpeg_index_add(ps_jpeg_index*, const char* path, const int64_t* ranges, int n,
                             int32_t* became);                /* waits */
PS_API int ps_jpeg_index_finish(ps_jpeg_index*);              /* waits */
PS_API void ps_jpeg_index_destroy(ps_jpeg_index*);            /* waits */

/* GPUs. */
PS_API int ps_gpu_count(void);                       /* fails where there is no driver; waits */
typedef struct {
  int32_t arch, multiprocessors;                     /* 90: compute capability 9.0 */
  int64_t memory_held, memory_peak, pinned_held, pinned_peak; /* of this process's pools, in bytes */
  char name[256], bus[32];                           /* its PCI address, as in /sys/bus/pci/devices */
} ps_gpu_info;
PS_API int ps_gpu_describe(int device, ps_gpu_info*); /* waits */
PS_API int ps_gpu_release_unused(int device); /* -1: of all that were used so far; waits */
PS_API int ps_gpu_preallocate(int device, int64_t device_bytes, int64_t pinned_bytes); /* waits */
/* Where a library of CUDA's lies, such as "nvjpeg"; others are looked for where the system has them. */
PS_API int ps_gpu_set_library(const char* name, const char* path);
/* Fails where nvImageCodec is missing, or of a version that is not used. Loads it. */
PS_API int ps_gpu_check_image_codec(void); /* waits */
/* Opens the driver of GPUDirect Storage, which stays open until it is closed. 1: it reads past the host; 0: it would
 * read into the host's memory and copy. Fails where cuFile is missing. Closing does nothing while it is in use. */
PS_API int ps_gpu_open_storage(void); /* waits */
PS_API void ps_gpu_close_storage(void); /* waits */
/* A digest of the headers of kernels that the library was built with. */
PS_API const char* ps_gpu_headers(void);
/* The compiler of kernels: called on native threads; answers by ps_gpu_compiled() before it returns. */
typedef void (*ps_gpu_compiler)(const char* source, int arch, void* answer);
PS_API void ps_gpu_set_compiler(ps_gpu_compiler); /* null: there is none any more; waits for calls of the last one */
PS_API void ps_gpu_compiled(void* answer, const char* binary, int64_t size, const char* error);

/* A finished iteration, of which the plan's outputs are shown, or one at a call, which is shown its inputs. */
PS_API int ps_batch_size(const ps_batch*, int value); /* how many samples have it */
/* Fills a descriptor for each of these; returns flags: the samples lie one behind the other; they have one shape. */
#define PS_CONTIGUOUS 1
#define PS_UNIFORM 2
PS_API int ps_batch_samples(const ps_batch*, int value, ps_tensor* samples);
PS_API int ps_batch_device(const ps_batch*, int value); /* the GPU's number, or -1: in the host's memory */
/* All of it in one call: fills the descriptors if there are `expected` samples. Returns their number << 32 | the device
 * + 1 << 8 | the flags. */
PS_API int64_t ps_batch_show(const ps_batch*, int value, int expected, ps_tensor* samples);
/* The broken samples of one that failed, as far as it got; returns how many. The strings live as long as the batch. */
PS_API int ps_batch_broken_samples(const ps_batch*, ps_error_info* rows, int max_rows);
PS_API void ps_batch_destroy(ps_batch*);

/* Memory of a GPU, for as long as somebody uses it from outside. Samples are descriptors with device addresses; copies
 * lay them one behind the other. Streams are CUstream handles; 1 and 2 are CUDA's default streams. */
PS_API ps_gpu_memory* ps_gpu_of_batch(const ps_batch*, int value);
PS_API ps_gpu_memory* ps_gpu_join(ps_gpu_memory* const*, int n); /* n >= 1 on one device, as one */
/* Another library's; `release(owner)` is called at its end, on any thread, which holds no lock then. Its contents are
 * there when the work that `stream` has now is done; null: now. */
PS_API ps_gpu_memory* ps_gpu_borrow(int device, const uint64_t* stream, void (*release)(void*),
                                    void* owner); /* waits */
PS_API ps_gpu_memory* ps_gpu_upload(int device, const ps_tensor* samples, int n, void** data); /* waits */
PS_API ps_gpu_memory* ps_gpu_gather(ps_gpu_memory*, const ps_tensor* samples, int n, void** data); /* waits */
PS_API int ps_gpu_download(ps_gpu_memory*, const ps_tensor* samples, int n, void* to); /* to the host; waits */
PS_API int ps_gpu_copy_out(ps_gpu_memory*, const ps_tensor* samples, int n, void* to, uint64_t stream,
                           int wait);           /* waits */
PS_API int ps_gpu_passed(const ps_gpu_memory*); /* whether the contents are there */
PS_API int ps_gpu_wait(const ps_gpu_memory*);   /* for the contents; waits */
PS_API int ps_gpu_order(const ps_gpu_memory*, uint64_t stream); /* what it does from now on finds the contents there */
/* The address may be used on any stream until ps_gpu_destroy(): the memory is used again only after all work that the
 * device has been given by then. */
PS_API int ps_gpu_lend(ps_gpu_memory*);
PS_API void ps_gpu_destroy(ps_gpu_memory*);
PS_API int ps_gpu_copy_stream(int device, uint64_t* stream); /* that the copies go into; waits */
PS_API int ps_gpu_device_at(const void* data);               /* the number of the GPU that this address is on; waits */

/* A DLManagedTensor, or in DLPack 1.0's form a DLManagedTensorVersioned, which keeps (and lends) the memory until its
 * deleter is called, by any thread. Returns the name that its capsule must have. */
#define PS_DLPACK_VERSIONED 1
#define PS_DLPACK_COPIED 2
PS_API const char* ps_dlpack_export(ps_gpu_memory*, const ps_tensor*, int flags, void** managed);
PS_API void ps_dlpack_capsule_destructor(void* capsule); /* a PyCapsule_Destructor */
/* DLPack capsules of the host's memory. `list` is a list of Python's, `owner` an object: these calls need the GIL.
 * Lending puts a capsule of each sample into the list, which has a place for each; the owner is kept until the last of
 * their tensors is deleted. Taking consumes a list's capsules, whose tensors live until ps_capsules_destroy(), and
 * describes them; null: they are not all capsules of dense tensors of the host's, of one type and number of axes, and
 * none was taken. */
PS_API int ps_capsules_lend(void* list, const ps_tensor* samples, int n, void* owner);
PS_API ps_capsules* ps_capsules_take(void* list, ps_tensor* samples);
PS_API void ps_capsules_destroy(ps_capsules*);

#ifdef __cplusplus
}
#endif
#endif
