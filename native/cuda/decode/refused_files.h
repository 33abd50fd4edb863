// Files that a decoder on the GPU was given and has refused: the CPU decodes them instead, or says what is wrong.
#pragma once

#include <functional>
#include <vector>

#include "core/operator.h"
#include "cuda/driver/device.h"

namespace ps::gpu {

// The CPU's decoder, of one file into memory of the host's. Called by several threads at a time.
using DecodeOnCpu = std::function<void(const Context&, uint8_t*)>;

// Decodes the files on several threads, and puts the copies of their pictures into the stream. Throws Errors.
void decode_refused(Device& device, const std::vector<Context>& files, const DecodeOnCpu& decode, CUstream stream);

}  // namespace ps::gpu
