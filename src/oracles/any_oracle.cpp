// any_oracle: chooses the loader of a snapshot by its kind. See any_oracle.hpp.
#include "genista/detail/oracles/any_oracle.hpp"

#include "genista/detail/format/snapshot.hpp"

namespace genista {
namespace {

template <class Oracle>
result<any_oracle> loaded(std::span<const std::byte> bytes) noexcept {
    auto oracle = Oracle::load(bytes);
    if (!oracle) return oracle.error();
    return any_oracle{*std::move(oracle)};
}

}  // namespace

result<any_oracle> any_oracle::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot(bytes);
    if (!view) return view.error();
    if (view->info.store != store_mark{})
        return error::make(error_code::corrupt, "oracle snapshot of a store, and an oracle mirrors none");
    switch (view->info.kind) {
        case snapshot_kind::score_oracle:
            return loaded<score_oracle>(bytes);
        case snapshot_kind::exact_oracle:
            return loaded<exact_oracle>(bytes);
        case snapshot_kind::count_min_oracle:
            return loaded<count_min_oracle>(bytes);
        case snapshot_kind::count_sketch_oracle:
            return loaded<count_sketch_oracle>(bytes);
        default:
            break;
    }
    const std::string_view present = to_string(view->info.kind);
    return error::make(error_code::mismatch, "snapshot of kind %u (%.*s), which is not an oracle",
                       static_cast<unsigned>(view->info.kind), static_cast<int>(present.size()), present.data());
}

}  // namespace genista
