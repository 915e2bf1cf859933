// metrics_page: figures of one or several stores in the text format that Prometheus scrapes
// (version 0.0.4).
//
//     genista::metrics_page page;
//     users->add_metrics(page, {{"store", "users"}});
//     orders->add_metrics(page, {{"store", "orders"}});
//     answer(page.text());
//
// The format wants all samples of a name in one piece behind one `# HELP` and one `# TYPE`. So the
// page keeps samples by name, and writes them when text() is asked for. Every page begins with
// genista_build_info.
//
//   I1  Every text() is valid: labels are checked when they are given, and their values escaped.
//       (After an add_metrics that had no memory some samples of its store may be missing: throw
//       the page away.)
//   I2  No two samples have the same name and labels, as long as add_metrics is called once for a
//       set of labels: a second call is refused.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "genista/base/result.hpp"
#include "genista/detail/guard/latency_histogram.hpp"

namespace genista {

// Names: a letter or _ first, then letters, digits and _; not two _ first, which are Prometheus's
// own. Values: UTF-8 without NUL; anything else is escaped where the format needs it.
struct metric_label {
    std::string name;
    std::string value;
};
using metric_labels = std::vector<metric_label>;

class metrics_page {
  public:
    // The samples that follow are of a store with these labels; `le` and `origin` are genista's
    // own. Nothing is added if labels are refused, or the page has a store with the same ones
    // already: the error names the label.
    [[nodiscard]] result<void> begin_store(const metric_labels& labels);

    // Names and helps are literals; a name keeps the help of its first use.
    void counter(const char* name, const char* help, std::uint64_t value);
    void gauge(const char* name, const char* help, std::uint64_t value);
    void gauge(const char* name, const char* help, double value);
    // One sample for each state, with the label `label`: 1 for the present one, 0 for the others.
    void state(const char* name, const char* help, const char* label, std::initializer_list<std::string_view> all,
               std::string_view now);
    void histogram(const char* name, const char* help, const latency_histogram& times);

    [[nodiscard]] std::string text() const;

  private:
    struct family {
        const char* name;
        const char* kind;
        const char* help;
        std::string samples;
    };
    family& family_of(const char* name, const char* kind, const char* help);
    void sample(family& of, std::string_view suffix, std::string_view extra, std::string_view value);

    std::vector<family> families_;     // in the order of their first use
    std::vector<std::string> stores_;  // labels, sorted by name and written out, of each begin_store()
    std::string labels_;               // of the present store, as they go into braces
};

}  // namespace genista
