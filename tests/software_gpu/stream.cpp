#include "stream.h"

#include <cstdlib>
#include <thread>

namespace software_gpu {
namespace {

unsigned delay_of_environment() {
  const char* text = std::getenv("SOFTWARE_GPU_DELAY_US");
  return text ? unsigned(std::strtoul(text, nullptr, 10)) : 0;
}

std::atomic<unsigned> delay_us{delay_of_environment()};

}  // namespace

void set_delay(unsigned microseconds) { delay_us = microseconds; }

Mark::Mark(int streams) : left_(streams), time_(Clock::now()) {}

void Mark::arrive() {
  std::lock_guard lock(mutex_);
  if (--left_) return;
  time_ = Clock::now();
  changed_.notify_all();
}

bool Mark::passed() const {
  std::lock_guard lock(mutex_);
  return left_ == 0;
}

void Mark::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return left_ == 0; });
}

Clock::time_point Mark::time() const {
  std::lock_guard lock(mutex_);
  return time_;
}

StreamRef Stream::start(Context& context) {
  StreamRef stream(new Stream(context));
  std::thread([stream] { stream->work(); }).detach();    // holds the stream until its work is done
  return stream;
}

void Stream::submit(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    if (!ended_) {
      queue_.push_back(std::move(work));
      submitted_++;
      changed_.notify_all();
      return;
    }
  }
  work();                                          // a mark that finds a destroyed stream with all its work done
}

bool Stream::idle() const {
  std::lock_guard lock(mutex_);
  return done_ == submitted_;
}

void Stream::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&, end = submitted_] { return done_ >= end; });
}

void Stream::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) {
      ended_ = true;
      return;
    }
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (const unsigned us = delay_us) std::this_thread::sleep_for(std::chrono::microseconds(us));
    work();
    work = nullptr;                                // what it held is freed before it counts as done
    lock.lock();
    done_++;
    changed_.notify_all();
  }
}

StreamRef Context::add_stream() {
  StreamRef stream = Stream::start(*this);
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& s) { return s.expired(); });
  streams_.push_back(stream);
  return stream;
}

StreamRef Context::default_stream(bool per_thread) {
  std::call_once(defaults_made_, [&] { legacy_ = add_stream(), per_thread_ = add_stream(); });
  return per_thread ? per_thread_ : legacy_;
}

std::vector<StreamRef> Context::live_streams() {
  std::lock_guard lock(mutex_);
  std::vector<StreamRef> live;
  for (const auto& weak : streams_)
    if (StreamRef s = weak.lock()) live.push_back(std::move(s));
  return live;
}

MarkRef Context::mark_all() {
  const std::vector<StreamRef> all = live_streams();
  auto mark = std::make_shared<Mark>(int(all.size()));
  for (const StreamRef& s : all) s->submit([mark] { mark->arrive(); });
  return mark;
}

void Context::wait_for_all() {
  for (const StreamRef& s : live_streams()) s->wait();
}

}  // namespace software_gpu
