// The trials together, the comparison, and the drawing. See acf_figures.hpp.
#include <algorithm>
#include <cmath>
#include <set>

#include "lab/experiments/acf_figures.hpp"

namespace genista::lab {

double figure_point::mean_rate() const noexcept {
    double sum = 0;
    for (const replayed& each : trials) sum += each.rate();
    return sum / static_cast<double>(trials.size());
}

double figure_point::standard_error() const noexcept {
    if (trials.size() < 2) return 0;
    const double mean = mean_rate();
    double squares = 0;
    for (const replayed& each : trials) squares += (each.rate() - mean) * (each.rate() - mean);
    const auto count = static_cast<double>(trials.size());
    return std::sqrt(squares / (count - 1) / count);
}

double figure_point::reads_per_repair() const noexcept {
    double reads = 0, repairs = 0;
    for (const replayed& each : trials) {
        reads += static_cast<double>(each.remote_reads);
        repairs += static_cast<double>(each.false_positives);
    }
    return repairs == 0 ? 0 : reads / repairs;
}

double figure_point::nanoseconds_per_query() const noexcept {
    double seconds = 0, queries = 0;
    for (const replayed& each : trials) {
        seconds += each.seconds;
        queries += static_cast<double>(each.queries);
    }
    return 1e9 * seconds / queries;
}

const figure_point* figure_data::find(const figure_place& at) const noexcept {
    const auto found = points_.find(at);
    return found == points_.end() ? nullptr : &found->second;
}

nlohmann::json figure_data::series() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& [at, point] : points_) {
        rows.push_back({{"trace", at.trace},
                        {"slot_bits", at.slot_bits},
                        {"filter", at.filter},
                        {"ratio", at.ratio},
                        {"queries", point.trials.front().queries},
                        {"rate", point.mean_rate()},
                        {"standard_error", point.standard_error()},
                        {"bits_per_key", point.trials.front().bits_per_key},
                        {"remote_reads_per_repair", point.reads_per_repair()},
                        {"nanoseconds_per_query", point.nanoseconds_per_query()}});
    }
    return rows;
}

namespace {

std::string shown_times(double factor) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", factor);
    return text;
}

constexpr double standard_errors_drawn = 2;

constexpr std::array cuckooing_rivals{"cyclic1", "cyclic2", "cyclic3", "swapping"};

}  // namespace

figure_verdict judge_figures(const figure_data& data, const std::vector<std::string>& traces) {
    figure_verdict verdict;
    verdict.least_control_ratio = 1e9;
    std::size_t compared = 0, worse = 0;
    double largest = 0, least = 1e9;
    std::string worst;
    for (const auto& [at, ours] : data.points()) {
        if (at.filter != "cuckooing" || at.slot_bits > 12) continue;
        if (std::find(traces.begin(), traces.end(), at.trace) == traces.end()) continue;
        figure_place other = at;
        for (const char* rival : cuckooing_rivals) {
            other.filter = rival;
            const figure_point* const theirs = data.find(other);
            if (theirs == nullptr) continue;
            ++compared;
            const double noise = 2 * std::hypot(ours.standard_error(), theirs->standard_error());
            const double factor = theirs->mean_rate() / ours.mean_rate();
            if (std::isfinite(factor)) largest = std::max(largest, factor);
            if (factor < least) {
                least = factor;
                worst = std::string{rival}
                            .append(" on ")
                            .append(at.trace)
                            .append(", ")
                            .append(std::to_string(at.slot_bits))
                            .append(" bits, |A|/|S| = ")
                            .append(std::to_string(static_cast<int>(at.ratio)));
            }
            if (ours.mean_rate() > theirs->mean_rate() + noise) ++worse;
        }
        other.filter = "cuckoo";
        if (const figure_point* const plain = data.find(other); plain != nullptr && ours.mean_rate() > 0) {
            verdict.least_control_ratio = std::min(verdict.least_control_ratio, plain->mean_rate() / ours.mean_rate());
        }
    }
    verdict.kept = worse == 0 && compared > 0;
    verdict.control_failed = verdict.least_control_ratio > 1;
    verdict.text = std::string{"cuckooing is beaten beyond 2 standard errors in "}
                       .append(std::to_string(worse))
                       .append(" of ")
                       .append(std::to_string(compared))
                       .append(" comparisons; rivals have from ")
                       .append(shown_times(least))
                       .append(" (")
                       .append(worst)
                       .append(") to ")
                       .append(shown_times(largest))
                       .append(" times its false positives");
    return verdict;
}

std::vector<std::string> traces_of_networks(const std::vector<const trace*>& all) {
    std::vector<std::string> networks, others;
    for (const trace* each : all) {
        if (!each->is_synthetic) (each->is_network ? networks : others).push_back(each->name);
    }
    return networks.empty() ? others : networks;
}

std::vector<scalar_comparison> judge_by_scalar(const figure_data& data, const std::string& filter) {
    struct sums {
        double ours = 0, scalar = 0, our_variance = 0, scalar_variance = 0;
    };
    std::map<std::pair<std::string, unsigned>, sums> all;
    for (const auto& [at, point] : data.points()) {
        if (at.filter != filter || at.slot_bits > 12) continue;
        figure_place other = at;
        other.filter = scalar_name;
        const figure_point* const scalar = data.find(other);
        if (scalar == nullptr) continue;
        const auto queries = static_cast<double>(point.trials.front().queries);
        sums& into = all[{at.trace, at.slot_bits}];
        into.ours += queries * point.mean_rate();
        into.scalar += queries * scalar->mean_rate();
        into.our_variance += std::pow(queries * point.standard_error(), 2);
        into.scalar_variance += std::pow(queries * scalar->standard_error(), 2);
    }
    std::vector<scalar_comparison> compared;
    for (const auto& [at, sum] : all) {
        const double error = 4 * std::sqrt(sum.our_variance + sum.scalar_variance) / sum.scalar;
        scalar_comparison made{at.first, at.second, sum.ours / sum.scalar};
        made.most = 1 + 1 / (std::exp2(at.second) - 1) + error;
        made.smallest_defect = made.most + error - 1;
        compared.push_back(made);
    }
    return compared;
}

std::vector<report::section> draw_figures(const figure_data& data) {
    std::set<std::string> traces;
    std::set<unsigned> slot_bits;
    std::set<double> ratios;
    for (const auto& [at, point] : data.points()) {
        traces.insert(at.trace);
        slot_bits.insert(at.slot_bits);
        ratios.insert(at.ratio);
    }
    const auto line_of = [&](const figure_place& from, const std::string& name, const figure_place* normal) {
        report::series line{name, {}};
        for (const double ratio : ratios) {
            figure_place at = from;
            at.ratio = ratio;
            const figure_point* const point = data.find(at);
            double value = point == nullptr ? std::nan("") : point->mean_rate();
            if (normal == nullptr) {  // a single trial has no error
                const double error = point == nullptr || point->trials.size() < 2
                                         ? std::nan("")
                                         : standard_errors_drawn * point->standard_error();
                line.low.push_back(std::max(0.0, value - error));
                line.high.push_back(value + error);
            } else {
                figure_place under = *normal;
                under.ratio = ratio;
                const figure_point* const unit = data.find(under);
                value = unit == nullptr ? std::nan("") : value / unit->mean_rate();
            }
            line.y.push_back(value);
        }
        return line;
    };
    std::vector<report::section> sections;
    report::line_chart normalized;
    normalized.title = "False positives divided by those of cuckooing";
    normalized.caption =
        "As in Figure 1, bottom right: cyclic with one selector bit, and swapping. Above 1 cuckooing is better.";
    normalized.x = {"|A|/|S|", false, report::unit::number};
    normalized.y = {"times cuckooing", false, report::unit::number};
    normalized.at.assign(ratios.begin(), ratios.end());
    for (const std::string& trace : traces) {
        report::section section{trace, "", {}};
        for (const unsigned bits : slot_bits) {
            report::line_chart chart;
            chart.title = trace + ", " + std::to_string(bits) + " bits a slot";
            chart.caption =
                "False positives among the queries, mean over the trials, with two standard errors each way.";
            chart.x = {"|A|/|S|", false, report::unit::number};
            chart.y = {"false positive rate", true, report::unit::percent};
            chart.at.assign(ratios.begin(), ratios.end());
            for (const char* filter : {"cuckoo", "cuckooing", "cyclic1", "cyclic2", "cyclic3", "swapping", "broom"}) {
                chart.lines.push_back(line_of({trace, bits, filter, 0}, filter, nullptr));
            }
            section.figures.emplace_back(std::move(chart));
            const figure_place ours{trace, bits, "cuckooing", 0};
            for (const char* filter : {"cyclic1", "swapping"}) {
                normalized.lines.push_back(line_of(
                    {trace, bits, filter, 0},
                    std::string{filter}.append(" ").append(trace).append(" ").append(std::to_string(bits)), &ours));
            }
        }
        sections.push_back(std::move(section));
    }
    sections.push_back({"Against cuckooing", "", {std::move(normalized)}});
    return sections;
}

}  // namespace genista::lab
