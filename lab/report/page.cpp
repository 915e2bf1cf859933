// The frame of a page: head, lead, tiles, sections, footer. What a figure looks like in HTML is in
// figures.cpp.
#include "lab/report/page.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <new>
#include <span>

#include "genista/format/sink.hpp"
#include "lab/report/assets.hpp"
#include "lab/report/figures.hpp"
#include "lab/report/text.hpp"

namespace genista::lab::report {
namespace {

// The library makes its files private, because most of them hold a hash key; a page gets the user's
// usual permissions.
void open_to_all(const std::string& path) noexcept {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    (void)::chmod(path.c_str(), 0666 & ~mask);
}

// Nothing may be fetched. Inline styles and scripts are the page itself; the icon is a data:
// address.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'";

// A flower of broom. Without an icon a browser would ask the server for one.
constexpr std::string_view icon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='5' r='4' "
    "fill='%23f2c14e'/%3E%3Cpath d='M8 8v8' stroke='%233d7a35' stroke-width='2'/%3E%3C/svg%3E";

// The licence asks that it stays with every copy. Chart.js contains @kurkle/color, of the same
// licence.
constexpr std::string_view chart_notice = R"(<!--
Chart.js, (c) Chart.js Contributors, with @kurkle/color, (c) Jukka Kurkela. The MIT License:

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without
limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions
of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED
TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE.
-->
)";

// An empty line ends a paragraph. The first one may be set apart by a class.
void append_paragraphs(std::string& out, std::string_view text, std::string_view first_class = {}) {
    bool first = true;
    while (!text.empty()) {
        const std::size_t end = text.find("\n\n");
        const std::string_view paragraph = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
        if (paragraph.find_first_not_of(" \n\t") == std::string_view::npos) continue;
        out += "<p";
        if (first && !first_class.empty()) out.append(" class=\"").append(first_class).append("\"");
        out.append(">").append(escaped(paragraph)).append("</p>\n");
        first = false;
    }
}

void append_head(std::string& out, const page& content) {
    out += "<!doctype html>\n<html lang=\"en\" data-highlight=\"" + escaped(content.highlight) + "\">\n<head>\n";
    out += "<meta charset=\"utf-8\">\n";
    out.append("<meta http-equiv=\"Content-Security-Policy\" content=\"").append(policy).append("\">\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n";
    out += "<title>" + escaped(content.title) + "</title>\n";
    out.append("<link rel=\"icon\" href=\"").append(icon).append("\">\n");
    out.append("<style>\n").append(page_style()).append("</style>\n</head>\n");
}

void append_facts(std::string& out, const std::vector<fact>& facts) {
    if (facts.empty()) return;
    out += "<dl class=\"tiles\">\n";
    for (const fact& each : facts) {
        out += each.alarming ? "<div class=\"tile alarming\">" : "<div class=\"tile\">";
        out += "<dt>" + escaped(each.label) + "</dt><dd class=\"value\">" + escaped(each.value) + "</dd>";
        if (!each.note.empty()) out += "<dd class=\"note\">" + escaped(each.note) + "</dd>";
        out += "</div>\n";
    }
    out += "</dl>\n";
}

void append_section(std::string& out, const section& content, figure_writer& figures, std::size_t number) {
    const std::string id = "section-" + std::to_string(number);
    out += "<section aria-labelledby=\"" + id + "\">\n<h2 id=\"" + id + "\">" + escaped(content.heading) + "</h2>\n";
    append_paragraphs(out, content.text);
    if (!content.figures.empty()) {
        out += "<div class=\"figures\">\n";
        for (const figure& each : content.figures) figures.append(out, each);
        out += "</div>\n";
    }
    out += "</section>\n";
}

void append_footer(std::string& out, const page& content) {
    out += "<footer>\n<p>Made by genista. This file is complete: it loads nothing from the network.";
    if (!content.data.is_null())
        out += " Its numbers are inside it as JSON, in the element with the id <code>data</code>.";
    out += "</p>\n<p>Charts are drawn by Chart.js " + escaped(chart_library_version()) +
           " (MIT licence), which is part of this file.</p>\n</footer>\n";
}

}  // namespace

std::string_view chart_library_version() noexcept {
    constexpr std::string_view mark = "Chart.js v";
    const std::string_view banner = chart_library().substr(0, 400);
    const std::size_t start = banner.find(mark);
    if (start == std::string_view::npos) return "3";  // report.cmake found "Chart.js v3." in it
    const std::string_view version = banner.substr(start + mark.size());
    return version.substr(0, version.find_first_not_of("0123456789."));
}

std::string to_html(const page& content) {
    std::string out;
    out.reserve(chart_library().size() + page_script().size() + page_style().size() + (std::size_t{1} << 18U));
    append_head(out, content);
    out += "<body>\n<main>\n<header>\n<h1>" + escaped(content.title) + "</h1>\n";
    append_paragraphs(out, content.lead, "lead");
    out += "</header>\n";
    if (!content.warning.empty()) {
        out += "<div class=\"warning\" role=\"alert\">\n";
        append_paragraphs(out, content.warning);
        out += "</div>\n";
    }
    out += "<noscript><p class=\"warning\">The charts need JavaScript; the tables do not.</p></noscript>\n";
    append_facts(out, content.facts);
    figure_writer figures;
    std::size_t number = 0;
    for (const section& each : content.sections) append_section(out, each, figures, ++number);
    append_footer(out, content);
    out += "</main>\n";
    if (!content.data.is_null())
        out += "<script type=\"application/json\" id=\"data\">" + script_json(content.data) + "</script>\n";
    out.append(chart_notice).append("<script>").append(chart_library()).append("</script>\n");
    out.append("<script>\n").append(page_script()).append("</script>\n</body>\n</html>\n");
    return out;
}

result<void> write_html(std::string_view path, const page& content) {
    try {
        const std::string html = to_html(content);
        auto saved = save_file(path, [&](sink& out) { return out.write(std::as_bytes(std::span{html})); });
        if (saved) open_to_all(std::string{path});
        return saved;
    } catch (const std::bad_alloc&) {
        return error::make(error_code::out_of_memory, "no memory for the report %.*s", static_cast<int>(path.size()),
                           path.data());
    }
}

}  // namespace genista::lab::report
