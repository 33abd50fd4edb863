// SSE up to 4.2 on every processor: x86's own instructions, and elsewhere SIMDe's, which are NEON's on ARM and give the
// same bits. What needs AVX asks the preprocessor for it.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/sse4.2.h>
#endif
