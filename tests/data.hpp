/// \file
/// Reference configurations and results of other codes, where they are at hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/fields/field.hpp"

namespace data {

/// The folder: environment variable QUARKSMITH_DATA, else what the build was told; empty if there is none.
inline std::filesystem::path folder() {
  const char* variable = std::getenv("QUARKSMITH_DATA");
  const std::filesystem::path path = variable != nullptr ? variable : QUARKSMITH_DATA_FOLDER;
  return std::filesystem::is_directory(path) ? path : std::filesystem::path();
}

inline nlohmann::json read_json(const std::string& name) {
  std::ifstream file(folder() / name);
  return nlohmann::json::parse(file);
}

/// Complex doubles of a .npy file of version 1, C order.
inline std::vector<quarksmith::Complex64> read_npy(const std::string& name) {
  std::ifstream file(folder() / name, std::ios::binary);
  char head[10];
  file.read(head, 10);
  const int length = static_cast<unsigned char>(head[8]) + 256 * static_cast<unsigned char>(head[9]);
  std::string header(length, ' ');
  file.read(header.data(), length);
  EXPECT_NE(header.find("'<c16'"), std::string::npos) << name;
  EXPECT_NE(header.find("'fortran_order': False"), std::string::npos) << name;
  std::vector<quarksmith::Complex64> values;
  quarksmith::Complex64 z;
  while (file.read(reinterpret_cast<char*>(&z), sizeof z)) values.push_back(z);
  return values;
}

}  // namespace data

/// Leaves a test that needs data which are not here; the last line of the run counts those.
#define REQUIRE_DATA() \
  if (data::folder().empty()) GTEST_SKIP() << "set QUARKSMITH_DATA to the folder of reference data"
