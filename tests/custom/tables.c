/* A library of operators in C whose table, or whose functions, may be wrong: -DPATCH="op.size = 8;" changes it. */
#include <penstock/operator.h>
#include <stdio.h>
#include <string.h>

#ifndef PATCH
#define PATCH
#endif
#ifndef NAME
#define NAME "broken"
#endif

/* What setup() does wrong is the argument `mistake`; that run() fails for a sample, the argument `fails`. */
static int setup(void* self, const penstock_sample* s, penstock_error* error) {
  penstock_tensor* out = s->outputs[0];
  (void)self, (void)error;
  if (s->inputs[0]->data) return PENSTOCK_FAILED; /* there is nothing to see yet */
  out->dtype = s->inputs[0]->dtype;
  out->ndim = s->inputs[0]->ndim;
  memcpy(out->shape, s->inputs[0]->shape, sizeof out->shape);
  memcpy(out->layout, s->inputs[0]->layout, sizeof out->layout);
  switch (s->arguments[0]->integers[0]) {
    case 1: out->ndim = -1; break;
    case 2: out->ndim = 13; break;
    case 3: out->shape[0] = -5; break;
    case 4: out->shape[0] = (int64_t)1 << 60; break;
    case 5: out->dtype = 77; break;
    case 6: memcpy(out->layout, "HW", 3); break;
    case 7: memset(out->layout, 'A', sizeof out->layout); break;
    case 8: out->dtype = PENSTOCK_NO_TYPE; break;
    case 9: return PENSTOCK_FAILED;
    case 10: strcpy(error->text, "not with me"); return PENSTOCK_WRONG_INPUT;
    case 11: memset(error->text, 'x', sizeof error->text); return PENSTOCK_FAILED;
    case 12: return PENSTOCK_NO_MEMORY;
    case 13: strcpy(error->text, "who knows"); return 12345;
    case 14: out->shape[0] = out->shape[1] = out->shape[2] = (int64_t)1 << 31; break;
    default: break;
  }
  return PENSTOCK_OK;
}

static int run(void* self, const penstock_sample* s, penstock_error* error) {
  const penstock_tensor* in = s->inputs[0];
  int64_t n = 1;
  int i;
  (void)self;
  for (i = 0; i < in->ndim; i++) n *= in->shape[i];
  if (s->arguments[1]->given && s->arguments[1]->integers[0] == s->index) {
    snprintf(error->text, sizeof error->text, "sample %d is not to my taste", (int)s->index);
    return PENSTOCK_FAILED;
  }
  if (s->scratch(s, (uint64_t)1 << 62)) return PENSTOCK_FAILED; /* nobody has so much */
  memcpy(s->scratch(s, (uint64_t)n), in->data, (size_t)n);
  memcpy(s->outputs[0]->data, in->data, (size_t)n);
  return PENSTOCK_OK;
}

static void row(const void* params, const float* from, float* to, int64_t n) {
  (void)params;
  memcpy(to, from, (size_t)n * sizeof(float));
}

static int64_t zero = 0;
static penstock_value value = {sizeof(penstock_value), 1, "mistake", 1, &zero, 0, 0};
static penstock_argument mistake = {
    sizeof(penstock_argument), PENSTOCK_INTEGER, 0, 0, "mistake", "What goes wrong.", &value};
static penstock_argument fails = {sizeof(penstock_argument), PENSTOCK_INTEGER, 0, 0, "fails", "Which sample.", 0};
static const penstock_argument* arguments[] = {&mistake, &fails};

/* Newer than Penstock: the struct has a member more. */
static struct {
  penstock_operator op;
  uint64_t future;
} newer;
static const penstock_operator* operators[] = {&newer.op, &newer.op};
static penstock_library library = {PENSTOCK_OPERATOR_ABI, sizeof(penstock_library), 1, 0, operators};
static const penstock_library* given = &library;

const penstock_library* penstock_operators(void) {
  penstock_operator op;
  memset(&op, 0, sizeof op);
  op.size = sizeof op;
  op.kind = PENSTOCK_GENERAL;
  op.name = NAME;
  op.doc = "Copies.";
  op.least_inputs = op.most_inputs = op.num_outputs = 1;
  op.num_arguments = 2;
  op.arguments = arguments;
  op.setup = setup;
  op.run = run;
  op.params_align = 4;
  (void)row;
  PATCH
  newer.op = op;
  return given;
}
