// Building from sorted digests. See bulk.hpp.
#include "filters/broom/bulk.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace GENISTA_BROOM_NAMESPACE {
namespace broom {

result<void> digest_source::read(position_range range, population& into) {
    const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), range.first,
                                        [](const digest& d, std::uint64_t position) { return d.position < position; });
    auto last = first;
    while (last != sorted_.end() && last->position <= range.last) ++last;
    try {
        into.members.clear();
        std::unique_copy(first, last, std::back_inserter(into.members));
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "broom: no memory for the keys of one bin");
    }
    into.holds_key = false;
    return {};
}

}  // namespace broom
}  // namespace GENISTA_BROOM_NAMESPACE
