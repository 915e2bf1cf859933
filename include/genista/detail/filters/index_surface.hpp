// What the filters with an index (remote/indexed.hpp) have in common: adaptive_bloom, cascade and
// broom_paper. Their calls with R are those of remote_surface.hpp, by way of index_source.hpp; and
// indexed_body holds the core, which is compiled once for all types of R, and lets no exception
// out.
//
// src/filters/indexed_body.hpp has the definitions; each filter instantiates them in its own file.
#pragma once

#include <memory>
#include <utility>

#include "genista/detail/filters/index_source.hpp"
#include "genista/detail/filters/plain_surface.hpp"
#include "genista/detail/filters/remote_surface.hpp"
#include "genista/filters/filter.hpp"

namespace genista {

struct any_indexed_map {
    template <class R>
    static constexpr bool takes = indexed_map<R>;
    template <class R>
    using source = remote_index<R>;
};

template <class Core>
class indexed_body {
  public:
    explicit indexed_body(std::unique_ptr<Core> made) noexcept;
    indexed_body(indexed_body&&) noexcept;
    indexed_body& operator=(indexed_body&&) noexcept;
    ~indexed_body();

    [[nodiscard]] bool contains(const digest& d) const noexcept;
    [[nodiscard]] result<insert_outcome> insert(const hashed_key& key, index_source& source) noexcept;
    [[nodiscard]] result<adapt_outcome> adapt(const hashed_key& key, index_source& source) noexcept;
    [[nodiscard]] result<void> rebuild(index_source& source) noexcept;
    [[nodiscard]] result<void> audit(index_source& source) const noexcept;

    [[nodiscard]] double rate() const noexcept;
    [[nodiscard]] filter_stats stats() const noexcept;
    [[nodiscard]] const hasher& hash() const noexcept;
    [[nodiscard]] const Core& core() const noexcept { return *core_; }

  protected:
    std::unique_ptr<Core> core_;
};

template <class Core>
class erasing_indexed_body : public indexed_body<Core> {
  public:
    using indexed_body<Core>::indexed_body;
    [[nodiscard]] result<erase_outcome> erase(const hashed_key& key, index_source& source) noexcept;
    [[nodiscard]] result<erase_outcome> forget(const hashed_key& key, index_source& source) noexcept;
};

// A filter around such a body. Surface is sourced_surface or erasing_surface of Derived, which has
// what is its own.
template <class Derived, class Surface, class Body>
class indexed_filter : public plain_surface<Derived>, public Surface {
  public:
    // The rate kept, at most the one asked for.
    [[nodiscard]] double rate() const noexcept { return body_.rate(); }
    [[nodiscard]] filter_stats stats() const noexcept { return body_.stats(); }
    [[nodiscard]] const hasher& hash() const noexcept { return body_.hash(); }

  protected:
    explicit indexed_filter(Body body) noexcept : body_{std::move(body)} {}
    [[nodiscard]] bool contains(const digest& d) const noexcept { return body_.contains(d); }

    Body body_;

  private:
    friend plain_surface<Derived>;
    friend Surface;
    friend typename Surface::sourced;
    [[nodiscard]] Body& body() noexcept { return body_; }
    [[nodiscard]] const Body& body() const noexcept { return body_; }
};

}  // namespace genista
