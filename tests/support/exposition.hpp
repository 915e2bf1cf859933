// exposition: a strict reader of the text format that Prometheus scrapes (version 0.0.4), for pages
// that Genista writes. It accepts less than Prometheus does: no time stamps, no comments but HELP
// and TYPE, one space where one is enough, and counters end in _total.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace genista::test {

struct exposition {
    using label_set = std::map<std::string, std::string>;
    struct family {
        std::string help, kind;
        std::map<std::string, std::map<label_set, double>> samples;  // by full name
    };
    std::map<std::string, family> families;
    std::string trouble;  // empty: the page is valid

    [[nodiscard]] std::optional<double> value(const std::string& name, const label_set& labels = {}) const {
        for (const auto& [family_name, each] : families) {
            const auto of = each.samples.find(name);
            if (of == each.samples.end()) continue;
            const auto at = of->second.find(labels);
            if (at != of->second.end()) return at->second;
        }
        return std::nullopt;
    }

    [[nodiscard]] static exposition read(std::string_view page);
};

class exposition_reader {
  public:
    using family = exposition::family;
    using label_set = exposition::label_set;

    explicit exposition_reader(std::string_view page) : rest_{page} {}

    exposition run() {
        while (!rest_.empty() && read_.trouble.empty()) {
            const std::size_t end = rest_.find('\n');
            if (end == std::string_view::npos) {
                fail("the last line has no end");
                break;
            }
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(end + 1);
            read_line();
        }
        end_family();
        return std::move(read_);
    }

  private:
    void fail(const std::string& what) {
        if (read_.trouble.empty()) read_.trouble = what + ": " + std::string{line_};
    }
    bool take(std::string_view text) {
        if (!at_.starts_with(text)) return false;
        at_.remove_prefix(text.size());
        return true;
    }
    std::string name(bool colons) {
        std::size_t size = 0;
        for (; size < at_.size(); ++size) {
            const char c = at_[size];
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colons && c == ':');
            if (!letter && (size == 0 || c < '0' || c > '9')) break;
        }
        if (size == 0) fail("no name");
        std::string taken{at_.substr(0, size)};
        at_.remove_prefix(size);
        return taken;
    }
    // Reads up to `end` (or the end of the line if 0) and resolves the escapes; `escapes` are the
    // letters that may follow \.
    std::string escaped(char end, std::string_view escapes) {
        std::string text;
        while (true) {
            if (at_.empty()) {
                if (end != 0) fail("a text without its end");
                return text;
            }
            const char c = at_.front();
            at_.remove_prefix(1);
            if (end != 0 && c == end) return text;
            if (c != '\\') {
                text += c;
                continue;
            }
            if (at_.empty() || escapes.find(at_.front()) == std::string_view::npos) {
                fail("an unknown escape");
                return text;
            }
            text += at_.front() == 'n' ? '\n' : at_.front();
            at_.remove_prefix(1);
        }
    }

    void read_line() {
        at_ = line_;
        if (take("# HELP ")) {
            end_family();
            name_ = name(true);
            if (!take(" ")) fail("no help");
            const std::string help = escaped(0, "\\n");
            if (read_.families.contains(name_)) fail("a second HELP, or the samples of a name in two pieces");
            read_.families[name_].help = help;
        } else if (take("# TYPE ")) {
            if (name(true) != name_ || name_.empty()) fail("a TYPE without its HELP before it");
            family& of = read_.families[name_];
            if (!of.kind.empty() || !take(" ")) fail("a second TYPE, or none");
            of.kind = std::string{at_};
            if (of.kind != "counter" && of.kind != "gauge" && of.kind != "histogram") fail("an unknown type");
            if ((of.kind == "counter") != name_.ends_with("_total")) fail("counters end in _total, others do not");
        } else {
            read_sample();
        }
    }

    void read_sample() {
        const std::string full = name(true);
        if (!read_.families.contains(name_)) return fail("a sample before its HELP");
        family& of = read_.families[name_];
        if (of.kind.empty()) return fail("a sample before its TYPE");
        const std::string suffix = full.starts_with(name_) ? full.substr(name_.size()) : "?";
        const bool is_part = suffix == "_bucket" || suffix == "_sum" || suffix == "_count";
        if (of.kind == "histogram" ? !is_part : !suffix.empty()) return fail("a sample of another name");
        label_set labels;
        if (take("{")) {
            do {
                const std::string label = name(false);
                if (!take("=\"")) return fail("a label without a value");
                if (!labels.emplace(label, escaped('"', "\\\"n")).second) return fail("a label twice");
                if (!read_.trouble.empty()) return;
            } while (take(","));
            if (!take("}")) return fail("labels without their end");
        }
        if (!take(" ") || at_.empty()) return fail("no value");
        const std::string digits{at_};
        char* end = nullptr;
        const double value = std::strtod(digits.c_str(), &end);
        if (*end != '\0' || digits.find_first_not_of("0123456789+-.e") != std::string::npos) return fail("no number");
        if (of.kind != "gauge" && value < 0) fail("a negative count");
        if (!of.samples[full].emplace(labels, value).second) fail("a sample twice");
    }

    void end_family() {
        if (name_.empty() || !read_.trouble.empty()) return;
        const family& of = read_.families[name_];
        if (of.kind.empty() || of.samples.empty()) return fail("a name without samples: " + name_);
        if (of.kind == "histogram") check_histogram(of);
    }

    // Each set of labels needs ascending ends, cumulative counts, a +Inf that equals _count, and a
    // _sum.
    void check_histogram(const family& of) {
        std::map<label_set, std::map<double, double>> buckets;
        const auto part = [&](const char* suffix) -> std::map<label_set, double> {
            const auto at = of.samples.find(name_ + suffix);
            return at == of.samples.end() ? std::map<label_set, double>{} : at->second;
        };
        for (const auto& [labels, value] : part("_bucket")) {
            label_set others = labels;
            const auto end = others.find("le");
            if (end == others.end()) return fail("a bucket without le: " + name_);
            const double le = std::strtod(end->second.c_str(), nullptr);
            others.erase(end);
            buckets[others].emplace(le, value);
        }
        const auto sums = part("_sum"), counts = part("_count");
        if (sums.size() != buckets.size() || counts.size() != buckets.size())
            return fail("buckets without _sum or _count: " + name_);
        for (const auto& [labels, ends] : buckets) {
            double before = 0;
            for (const auto& [le, value] : ends) {
                if (value < before) return fail("buckets that are not cumulative: " + name_);
                before = value;
            }
            const auto count = counts.find(labels);
            const bool is_whole = std::prev(ends.end())->first == std::strtod("inf", nullptr);
            if (!is_whole || count == counts.end() || count->second != before)
                return fail("+Inf is not _count: " + name_);
        }
    }

    std::string_view rest_, line_, at_;
    std::string name_;
    exposition read_;
};

inline exposition exposition::read(std::string_view page) {
    return exposition_reader{page}.run();
}

}  // namespace genista::test
