// A container of samples that is open.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/foresees.h"
#include "core/operator.h"
#include "read/storage.h"

namespace ps {

// `place` is where the last range that was read of it ended.
struct Open {
  int64_t container = 0, place = 0;
  std::unique_ptr<StoredFile> file;
};

// Tells what is going to be read of the samples whose numbers these are, as far as it is far away: `work` gets each
// number that there is, and adds its ranges to the list. What is far away is all of one class of storages.
template <class F>
void foresee_samples(std::span<const Tensor> numbers, int64_t samples, Foreseen& kept, F work) {
  std::vector<ByteRange> ranges;
  for (const Tensor& number : numbers) {
    if (number.dtype == DType::none || !number.data || number.shape.volume() != 1) continue;
    const int64_t sample = element_i64(number, 0);
    if (sample >= 0 && sample < samples) work(sample, ranges);
  }
  if (ranges.empty()) return;
  std::erase_if(ranges, [](const ByteRange& e) { return !storage_of(e.name).is_far(); });
  if (!ranges.empty()) storage_of(ranges.front().name).foresee(ranges, kept);
}

}  // namespace ps
