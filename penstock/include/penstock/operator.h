/* Operators of one's own: what a shared library hands to Penstock. Plain C, linked with nothing; operator.hpp beside it
 * makes it comfortable in C++, and docs/custom-operators.md shows both.
 *
 * A library exports one function, penstock_operators(), which gives its table of operators. What load_library() of
 * penstock.plugin_manager loads must stay as it is, with all that it points to, to the end of the process.
 *
 * Every struct begins with its size, as sizeof gives it to whoever fills it in. New members come at the end, so an
 * older library goes on working with a newer Penstock, and a newer one with an older Penstock as long as it leaves at
 * zero what that does not know. Arrays of structs are arrays of pointers for that reason. PENSTOCK_OPERATOR_ABI changes
 * only where that is not enough.
 *
 * Functions are called on any thread, for any number of samples at a time. They return PENSTOCK_OK, or else write into
 * `error` what is wrong; nothing may be thrown out of them.
 */
#ifndef PENSTOCK_OPERATOR_H
#define PENSTOCK_OPERATOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENSTOCK_OPERATOR_ABI 1
#define PENSTOCK_MAX_DIMS 12
#define PENSTOCK_EXPORT __attribute__((visibility("default")))

/* Types of elements: the numbers of DALI's types. */
enum {
  PENSTOCK_NO_TYPE = -1,
  PENSTOCK_UINT8 = 0,
  PENSTOCK_UINT16 = 1,
  PENSTOCK_UINT32 = 2,
  PENSTOCK_UINT64 = 3,
  PENSTOCK_INT8 = 4,
  PENSTOCK_INT16 = 5,
  PENSTOCK_INT32 = 6,
  PENSTOCK_INT64 = 7,
  PENSTOCK_FLOAT16 = 8,
  PENSTOCK_FLOAT = 9,
  PENSTOCK_FLOAT64 = 10,
  PENSTOCK_BOOL = 11
};

/* What functions return. */
enum {
  PENSTOCK_OK = 0,
  PENSTOCK_FAILED = 1,      /* an OperatorError */
  PENSTOCK_WRONG_INPUT = 2, /* the sample or an argument is not what the operator takes: an InputError, a ValueError */
  PENSTOCK_NO_MEMORY = 3    /* an OutOfMemoryError */
};

/* One sample of an input or output: dense, the last axis varies fastest. */
typedef struct penstock_tensor {
  uint32_t size;
  int32_t dtype;
  int32_t ndim;
  int32_t reserved;
  int64_t shape[PENSTOCK_MAX_DIMS];
  char layout[16];    /* a letter per axis, such as "HWC"; or "" */
  void* data;         /* on a GPU in its memory. Null in setup(), but for inputs that `setup_reads` names */
  const char* source; /* the file that it came from, or null */
} penstock_tensor;

/* The value of an argument, for one sample: that of the three arrays which its kind tells. */
typedef struct penstock_value {
  uint32_t size;
  int32_t given; /* 0: there is none, and no default */
  const char* name;
  int64_t count;
  const int64_t* integers; /* of booleans and types, too */
  const double* numbers;
  const char* const* strings;
} penstock_value;

/* Kinds of arguments, as what calls take. */
enum {
  PENSTOCK_BOOLEAN = 0,
  PENSTOCK_INTEGER = 1,
  PENSTOCK_NUMBER = 2,
  PENSTOCK_STRING = 3,
  PENSTOCK_DTYPE = 4,
  PENSTOCK_INTEGERS = 5, /* one or several */
  PENSTOCK_NUMBERS = 6,
  PENSTOCK_STRINGS = 7
};

/* Flags of arguments. */
enum {
  PENSTOCK_REQUIRED = 1,
  PENSTOCK_PER_SAMPLE = 2 /* may be a node, too: of booleans and numbers */
};

typedef struct penstock_argument {
  uint32_t size;
  int32_t kind;
  uint32_t flags;
  uint32_t reserved;
  const char* name;
  const char* doc;                      /* a sentence */
  const penstock_value* default_value;  /* null: None */
} penstock_argument;

/* What a function writes to tell what is wrong. */
typedef struct penstock_error {
  uint32_t size;
  int32_t sample;  /* of run_gpu(): which one is at fault, or -1, which it is at first */
  char text[2040]; /* in UTF-8, ends with a 0 */
} penstock_error;

/* One sample on its way through an operator. */
typedef struct penstock_sample {
  uint32_t size;
  int32_t index, batch;   /* its place in the batch, and how many samples that has */
  int32_t num_inputs, num_outputs, num_arguments;
  int64_t id, epoch;      /* which sample of the data set, and how often that was gone through before */
  uint64_t random;        /* of PENSTOCK_RANDOM: a seed for this sample's random numbers, the same on every run */
  const penstock_tensor* const* inputs;
  penstock_tensor* const* outputs;
  const penstock_value* const* arguments; /* in the order in which they are declared */
  void* params;           /* `params_bytes` for this sample: setup() writes them, the other functions read them */
  /* Memory until the call returns, aligned to 64; it gives null where none is left. Null in a batch on a GPU. */
  void* (*scratch)(const struct penstock_sample*, uint64_t bytes);
  void* context;          /* Penstock's */
} penstock_sample;

/* A batch on a GPU. */
typedef struct penstock_batch {
  uint32_t size;
  int32_t num_samples;
  int32_t device;         /* its number; its primary context is current */
  int32_t reserved;
  void* stream;           /* a CUstream, or cudaStream_t: all work goes into it */
  const penstock_sample* const* samples;
  /* Memory of the GPU until that has done what it is given by this call; it gives null where none is left. */
  void* (*scratch)(const struct penstock_batch*, uint64_t bytes);
  void* context;          /* Penstock's */
} penstock_batch;

/* Kinds of operators. */
enum {
  PENSTOCK_GENERAL = 0,   /* anything: it runs alone */
  PENSTOCK_PIXEL = 1,     /* each pixel, or element, by itself: it joins others in one pass over the data */
  PENSTOCK_SAMPLER = 2    /* moves pixels: says where in the input each one is found; it joins others, too */
};

/* Flags of operators. */
enum {
  PENSTOCK_RANDOM = 1     /* draws random numbers, and so has the argument `seed` */
};

typedef struct penstock_operator {
  uint32_t size;
  int32_t kind;
  const char* name;       /* in `fn`: "sepia", or "mine.sepia" */
  const char* doc;        /* the docstring */
  uint32_t flags;
  int32_t least_inputs, most_inputs; /* both 1, but of PENSTOCK_GENERAL */
  int32_t num_outputs;               /* likewise */
  int32_t num_arguments;
  uint32_t params_bytes;             /* at most 65536 */
  const penstock_argument* const* arguments;
  uint64_t setup_reads;   /* bits: inputs whose elements setup() looks at; these are on the CPU */
  uint64_t cpu_inputs;    /* bits: inputs that are on the CPU even where the operator runs on a GPU */

  /* Null, or makes what the other functions get as `self`, once for each use of the operator in a pipeline.
   * `arguments`: as for a sample; those that are given per sample have count -1. */
  int (*create)(const penstock_value* const* arguments, int32_t num_arguments, void** self, penstock_error* error);
  void (*destroy)(void* self);

  /* Writes type, shape and layout of the outputs, and the parameters. On the CPU, whatever the operator runs on.
   * PENSTOCK_PIXEL, PENSTOCK_SAMPLER: the output is filled in as the input is, and only the type of pixels may be
   * changed. */
  int (*setup)(void* self, const penstock_sample* sample, penstock_error* error);

  /* PENSTOCK_GENERAL: computes one sample on the CPU; a whole batch on the GPU. One of them may be null. */
  int (*run)(void* self, const penstock_sample* sample, penstock_error* error);
  int (*run_gpu)(void* self, const penstock_batch* batch, penstock_error* error);

  /* PENSTOCK_PIXEL. Pictures have the types UINT8, INT16, INT32, FLOAT16 or FLOAT; functions see floats, and what they
   * give is rounded to the output's type. */
  int32_t channels;           /* of a pixel, channels last; 0: each element by itself, of tensors of any shape */
  uint32_t params_align;      /* of the parameters' struct: a power of two, at most 16 */
  /* n pixels, of `channels` floats each (or n elements). Must not fail. The two do not overlap. */
  void (*row)(const void* params, const float* from, float* to, int64_t n);
  /* Null (no GPU), or C++ for NVRTC with a struct of this name that has the fields of the parameters, and a member
   *   __device__ void operator()(const float* from, float* to) const        for one pixel, or
   *   __device__ float operator()(float v) const                            where `channels` is 0. */
  const char* device_source;
  const char* device_type;

  /* PENSTOCK_SAMPLER. Pictures are HWC, of the types UINT8, INT16, INT32 or FLOAT. The operator has the arguments
   * `interp_type`, `fill_value` and `mask` besides its own, as fn.sphere has them. `params_bytes` is at most 256, and
   * `params_align` goes with it. Writes for n pixels of the output, from (x, y) to the right, where they are in the
   * input: (0.5, 0.5) is the middle of its first pixel. Must not fail. The struct of `device_source` has a member
   *   __device__ void operator()(float x, float y, float& from_x, float& from_y) const
   * which gets the middle of a pixel of the output; `from_x` and `from_y` are the same at first. */
  void (*positions)(const void* params, int64_t x, int64_t y, int64_t n, float* from_x, float* from_y);
} penstock_operator;

/* A library's table. */
typedef struct penstock_library {
  uint32_t abi;               /* PENSTOCK_OPERATOR_ABI: the first member for ever */
  uint32_t size;
  int32_t num_operators;
  int32_t reserved;
  const penstock_operator* const* operators;
} penstock_library;

/* What a library exports. */
PENSTOCK_EXPORT const penstock_library* penstock_operators(void);

#ifdef __cplusplus
}
#endif
#endif
