/// \file
/// Size, precision and place of the links in a LIME container, from its records.
#pragma once

#include "runtime/io/formats.hpp"
#include "runtime/io/lime.hpp"

namespace quarksmith {

/// What the records of a container say together about the links in it.
struct LimeLinks {
  const LimeRecord* data = nullptr;     ///< ildg-binary-data or scidac-binary-data
  std::optional<Coordinates> extent;    ///< none: no record gives the extents
  int bits = 0, colours = 0;            ///< 0: no record gives them
  std::string bits_record;              ///< name of the record that gives `bits`
  long long site_bytes = 0;             ///< of the four links of a site; 0: no record gives them
  std::optional<std::string> checksum;  ///< as SiteChecksum::text
};

/// \throws Error there is not exactly one gauge field, a value is not a number, or two records contradict each other.
LimeLinks describe_links(const InputFile& file, const std::vector<LimeRecord>& records);

/// Completes bits and colours from the size of the data, which depends on both and the extents.
/// \throws Error no gauge field has this size; the message names the record that contradicts it.
void fit_to_size(const InputFile& file, const Coordinates& extent, LimeLinks& links);

}  // namespace quarksmith
