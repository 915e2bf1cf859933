// oracle_model: models as snapshots. See oracle_model.hpp.
#include "genista/oracles/oracle_model.hpp"

#include <array>
#include <new>

#include "genista/detail/format/snapshot.hpp"

namespace genista {
namespace {

constexpr std::uint16_t oracle_model_version = 1;

error inside(const error& why) noexcept {
    const std::string_view message = why.message();
    return error::make(why.code(), "oracle model: %.*s", static_cast<int>(message.size()), message.data());
}

}  // namespace

result<oracle_model> oracle_model::make(any_oracle oracle, odds_profile profile, const model_origin& origin) noexcept {
    try {
        return oracle_model{std::make_shared<const any_oracle>(std::move(oracle)), std::move(profile), origin};
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "oracle model: no memory for the oracle");
    }
}

result<void> oracle_model::save(sink& out) const noexcept {
    vector_sink oracle;
    if (const auto written = oracle_->save(oracle); !written) return inside(written.error());
    const auto profile = profile_.bytes();
    if (!profile) return inside(profile.error());
    field_writer fields;
    fields.u64(origin_.insert_draws).u64(origin_.query_draws).u8(origin_.is_held_out ? 1 : 0);
    const std::array<std::span<const std::byte>, 2> sections = {oracle.bytes(), *profile};
    const snapshot_info info{.kind = snapshot_kind::oracle_model, .kind_version = oracle_model_version};
    return write_snapshot(out, info, fields.view(), sections);
}

result<oracle_model> oracle_model::load(std::span<const std::byte> bytes) noexcept {
    const auto view = open_snapshot_as(snapshot_kind::oracle_model, oracle_model_version, 2, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    model_origin origin;
    origin.insert_draws = fields.u64();
    origin.query_draws = fields.u64();
    const std::uint8_t held_out = fields.u8();
    if (!fields.finished() || held_out > 1)
        return error::make(error_code::corrupt, "oracle model: its %zu bytes of parameters are not what it writes",
                           view->parameters.size());
    if (view->info != snapshot_info{.kind = snapshot_kind::oracle_model, .kind_version = oracle_model_version})
        return error::make(error_code::corrupt, "oracle model with a hash key or a store, neither of which it has");
    origin.is_held_out = held_out == 1;
    auto oracle = any_oracle::load(view->sections[0]);
    if (!oracle) return inside(oracle.error());
    auto profile = odds_profile::from_bytes(view->sections[1]);
    if (!profile) return inside(profile.error());
    return make(*std::move(oracle), *std::move(profile), origin);
}

}  // namespace genista
