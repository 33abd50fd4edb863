/* The C ABI of Penstock's native library: all that Python calls, through ctypes.
 *
 * Functions that return int give a negative number where they fail; ps_error() then tells why, for the calling
 * thread. Handles are destroyed by the function of that name. Calls marked "waits" may block and are made without
 * the GIL; all others return at once.
 */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PS_API __attribute__((visibility("default")))
#define PS_ABI_VERSION 2
#define PS_MAX_DIMS 12

typedef struct ps_plan ps_plan;
typedef struct ps_executor ps_executor;
typedef struct ps_batch ps_batch;

typedef struct {
  void* data;
  int32_t dtype, ndim;
  int64_t shape[PS_MAX_DIMS];
  char layout[16];
  const char* source; /* the file it came from, or null */
} ps_tensor;

typedef struct {
  int32_t kind;       /* ErrorKind in core/error.h */
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
PS_API int ps_plan_source(ps_plan*);                          /* a value that each iteration is fed with */
PS_API int ps_plan_constant(ps_plan*, const ps_tensor*);      /* copied */
/* Arguments of the node that is added next. */
PS_API int ps_arg_integers(ps_plan*, const char* name, const int64_t*, int n);
PS_API int ps_arg_numbers(ps_plan*, const char* name, const double*, int n);
PS_API int ps_arg_strings(ps_plan*, const char* name, const char* const*, int n);
PS_API int ps_arg_bytes(ps_plan*, const char* name, const char*, int64_t n); /* one string, of any bytes */
PS_API int ps_arg_value(ps_plan*, const char* name, int value);
/* flags: 1 early, 2 alias, 4 waits for files. Returns its first output's value; nodes are numbered from 0. */
PS_API int ps_plan_node(ps_plan*, const char* kernel, const int32_t* inputs, int num_inputs, int num_outputs,
                        uint64_t key, int flags);
/* Nodes between two barriers, as groups that are fused: node numbers, one group behind the other. */
PS_API int ps_plan_segment(ps_plan*, const int32_t* nodes, const int32_t* group_sizes, int num_groups, int io);
PS_API int ps_plan_outputs(ps_plan*, const int32_t* values, int n);

/* Execution. The plan is the executor's from then on. */
PS_API ps_executor* ps_executor_create(ps_plan*, int threads, int io_threads, int depth, const int32_t* cpus,
                                       int num_cpus, const char* name);
PS_API void ps_executor_destroy(ps_executor*); /* waits for the samples in hand */
/* Samples of a source for the iteration scheduled next; their memory must live as long as its batch, or be copied. */
PS_API int ps_executor_feed(ps_executor*, int value, const ps_tensor*, int n, int copy);
PS_API int ps_executor_feed_integers(ps_executor*, int value, const int64_t*, int n); /* scalars, copied */
PS_API int ps_executor_schedule(ps_executor*, int size, const int64_t* ids, const int64_t* epochs);
/* Waits for the oldest iteration. The answer is written, not returned: a caller that is interrupted on its way back
 * still has it. */
typedef struct {
  int32_t state; /* 0: not yet, 1: here it is, -1: it failed */
  ps_batch* batch;
} ps_answer;
PS_API void ps_executor_wait(ps_executor*, int timeout_ms, ps_answer*); /* waits */
PS_API int ps_executor_pending(ps_executor*);
PS_API int ps_executor_cancel(ps_executor*); /* waits for the samples in hand */
/* Per node: setup ns, run ns, samples. Per thread: ns at work, ns since start. Returns how many rows there are. */
PS_API int ps_executor_node_stats(ps_executor*, int64_t* rows, int max_rows);
PS_API int ps_executor_thread_stats(ps_executor*, int64_t* rows, int max_rows);
PS_API int ps_executor_memory(ps_executor*, int64_t* held, int64_t* peak);
PS_API int ps_executor_release_unused(ps_executor*);

/* A finished iteration. */
PS_API int ps_batch_size(const ps_batch*);
/* Fills ps_batch_size() descriptors; returns flags: the samples lie one behind the other; they have one shape. */
#define PS_CONTIGUOUS 1
#define PS_UNIFORM 2
PS_API int ps_batch_output(const ps_batch*, int output, ps_tensor* samples);
PS_API void ps_batch_destroy(ps_batch*);

#ifdef __cplusplus
}
#endif
#endif
