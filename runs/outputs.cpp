// The files that a command will write: checked and taken before its work.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "runs/session.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

/// The absolute path of a file, without symbolic links and `..`.
std::string place_of(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored).string();
}

/// \throws UsageError two outputs are the same file, or one is an input: the later would replace the earlier.
void require_distinct(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  std::map<std::string, const NamedFile*> written;
  for (const NamedFile& out : outputs) {
    if (out.path.empty()) continue;
    const auto [other, is_first] = written.emplace(place_of(out.path), &out);
    if (!is_first)
      throw UsageError(fmt::format("{} and {} both write {}; give each a file of its own", other->second->label,
                                   out.label, out.path.string()));
  }
  for (const NamedFile& in : inputs) {
    if (in.path.empty() || !std::filesystem::exists(in.path)) continue;
    if (const auto out = written.find(place_of(in.path)); out != written.end())
      throw UsageError(fmt::format("{} would replace {}, which {} reads; choose another name", out->second->label,
                                   in.path.string(), in.label));
  }
}

std::set<std::string> configuration_endings() {
  std::set<std::string> all;
  for (const GaugeFormatInfo& f : writable_formats()) all.insert(f.endings.begin(), f.endings.end());
  all.erase("");
  return all;
}

/// \throws UsageError the ending of a file belongs to another kind of content than is written to it.
void check_ending(const NamedFile& file) {
  static const std::map<std::string, std::set<std::string>> kinds = {{"JSON", {".json"}},
                                                                     {"CSV", {".csv"}},
                                                                     {"a propagator (HDF5)", {".h5", ".hdf5"}},
                                                                     {"a configuration", configuration_endings()},
                                                                     {"a plot", {".png", ".pdf", ".svg"}},
                                                                     {"a parameter file", {".toml", ".py"}}};
  static const std::map<std::string_view, std::set<std::string>> written = {{"json", {"JSON"}},
                                                                            {"correlators", {"JSON", "CSV"}},
                                                                            {"csv", {"CSV"}},
                                                                            {"history", {"CSV"}},
                                                                            {"propagator", {"a propagator (HDF5)"}}};
  const auto found = written.find(file.locks_itself ? "propagator" : std::string_view(file.member));
  if (found == written.end()) return;
  const std::set<std::string>& own = found->second;
  for (const auto& [kind, endings] : kinds)
    if (endings.contains(file.path.extension().string()) && !own.contains(kind))
      throw UsageError(fmt::format("{} {}: the ending is that of {}, but {} is written; choose another name",
                                   file.label, file.path.string(), kind, fmt::join(own, " or ")));
}

}  // namespace

void Session::claim(const std::vector<NamedFile>& files, std::vector<NamedFile> inputs, Existing of_json,
                    std::vector<NamedFile> later) {
  std::vector<NamedFile> all = files;
  all.push_back({"json", json, false,
                 of_json == Existing::refuse &&
                     std::any_of(files.begin(), files.end(), [](const auto& f) { return f.made_again; }),
                 of_json});
  const auto name = [this](NamedFile& file) {  // arguments by their place are written in capitals, tables in brackets
    file.label = std::islower(static_cast<unsigned char>(file.member[0])) ? called(file.member) : file.member;
  };
  std::ranges::for_each(all, name);
  inputs.insert(inputs.end(), read_.begin(), read_.end());
  std::ranges::for_each(inputs, name);
  std::ranges::for_each(later, name);
  std::string names;
  bool any = false;
  for (const NamedFile& file : all) {
    names += (names.empty() ? "" : ", ") + file.label;
    any = any || !file.path.empty();
  }
  if (overwrite && !any)
    throw UsageError(
        fmt::format("{} belongs to a run that writes a file ({}); leave it out", called("overwrite"), names));
  later.insert(later.end(), all.begin(), all.end());
  require_distinct(later, inputs);
  written_ = later;
  for (const NamedFile& file : all) check_ending(file);
  for (const NamedFile& file : all)
    if (!file.path.empty() && !file.locks_itself) {
      const Existing found = overwrite ? existing() : file.made_again ? Existing::same : file.existing;
      outputs_.emplace(std::piecewise_construct, std::forward_as_tuple(file.path),
                       std::forward_as_tuple(file.path, found, ranks()));
    }
}

void Session::reading(const std::string& member, const std::filesystem::path& path) const {
  read_.push_back({.member = member, .path = path, .label = called(member)});
  require_distinct(written_, {read_.back()});
}

Output& Session::output(const std::filesystem::path& path) {
  const auto found = outputs_.find(path);
  if (found == outputs_.end()) throw Error(fmt::format("{}: was not claimed before the work", path.string()));
  return found->second;
}

}  // namespace quarksmith::runs
