// Reads of R for the filters with an index. See index_read.hpp.
#include "filters/index_read.hpp"

#include "genista/detail/remote/record_check.hpp"

namespace genista {

result<std::vector<index_member>> members_from(std::uint64_t position, const hasher& hash, index_source& remote) {
    std::vector<index_member> found;
    bool starved = false, fits = true;
    remote_detail::record_order order;
    const auto read = remote.each_member(
        {position, ~std::uint64_t{0}}, never_throwing(starved, [&](const digest& where, key_view key) {
            if (found.size() >= members_at_once && found.back().d.position != where.position) return false;
            fits = where.position >= position && hash(key) == where && order.ascends(where, key);
            if (!fits) return false;
            found.push_back({where, std::string{key.text()}});
            return true;
        }));
    if (starved) throw std::bad_alloc{};
    if (!read) return read.error();
    if (!fits)
        return error::make(error_code::corrupt, "the remote map gave a record that does not belong where it stands");
    return found;
}

}  // namespace genista
