// The checks of options and the shuffle of perturbed_oracle.
#include "papers/perturbed_oracle.hpp"

#include "hash/key_stream.hpp"

namespace genista {
namespace {

bool are_odds(const key_odds& odds) noexcept {
    return odds.stored >= 0 && odds.stored <= 1 && odds.asked >= 0 && odds.asked <= 1;
}

}  // namespace

result<void> check_perturbed(const perturbed_options& options) noexcept {
    if (!(options.factor >= 1 && options.factor <= 0x1p64))
        return error::make(error_code::invalid_argument, "perturbed_oracle: the factor %g is not in 1..2^64",
                           options.factor);
    if (!are_odds(options.constant)) {
        return error::make(error_code::invalid_argument, "perturbed_oracle: the odds %g and %g are not in 0..1",
                           options.constant.stored, options.constant.asked);
    }
    for (std::size_t i = 0; i < options.others.size(); ++i) {
        if (are_odds(options.others[i])) continue;
        return error::make(error_code::invalid_argument,
                           "perturbed_oracle: the odds %g and %g, number %zu, are not in 0..1",
                           options.others[i].stored, options.others[i].asked, i);
    }
    if (options.mistake == oracle_mistake::shuffled && options.universe == 0 && options.others.empty())
        return error::make(error_code::invalid_argument,
                           "perturbed_oracle: to shuffle it needs a universe or a list of odds");
    return {};
}

std::uint64_t shuffled_key(std::uint64_t key, std::uint64_t universe, const hasher& hash) noexcept {
    return permutation{universe, hash}.forth(key);
}

}  // namespace genista
