#include "runs/configuration_writer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "runs/checkpoints.hpp"
#include "runtime/clock.hpp"

namespace quarksmith::runs {

ConfigurationWriter::ConfigurationWriter(Session& session, std::string prefix, Existing existing, Report report)
    : session_(session), prefix_(std::move(prefix)), existing_(existing), report_(std::move(report)) {}

void ConfigurationWriter::write(std::uint64_t number, std::uint64_t end, HostGauge gauge,
                                std::vector<ExtraRecord> records) {
  wait();
  const bool last = number == end, alone = session_.ranks().size() == 1;
  const auto work = [this, path = configuration_name(prefix_, number), last, gauge = std::move(gauge),
                     records = std::move(records)] {
    const double begun = now();
    if (last) {
      write_gauge(session_.output(path), gauge, "ildg", 64, records);
    } else {
      Output output(path, existing_, session_.ranks());
      write_gauge(output, gauge, "ildg", 64, records);
    }
    return now() - begun;
  };
  writing_ = {number, std::async(alone && !last ? std::launch::async : std::launch::deferred, work)};
  if (last || !alone) wait();
}

void ConfigurationWriter::look() {
  if (writing_ && writing_->seconds.wait_for(std::chrono::seconds(0)) == std::future_status::ready) wait();
}

void ConfigurationWriter::wait() {
  if (!writing_) return;
  Writing written = std::move(*writing_);
  writing_.reset();
  const double seconds = written.seconds.get();
  session_.info(fmt::format("wrote {}", configuration_name(prefix_, written.number).string()));
  report_(written.number, seconds);
}

}  // namespace quarksmith::runs
