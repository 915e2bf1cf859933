# The files that every report contains: Chart.js from Debian, our style sheet and our script, compiled into genista_lab.
#
# Include this where genista_lab exists. Only this file looks for the chart library; GENISTA_CHART_JS names
# another copy.
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/embed.cmake)

find_file(GENISTA_CHART_JS chart.min.js
    PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
    NO_DEFAULT_PATH
    DOC "Chart.js 3, minified: the chart library inside a report")
if(NOT GENISTA_CHART_JS)
    message(FATAL_ERROR "Chart.js was not found. Install Debian's package libjs-chart.js, "
        "or give -DGENISTA_CHART_JS=FILE with a chart.min.js of version 3.")
endif()
file(READ ${GENISTA_CHART_JS} chart_js_text)
if(NOT chart_js_text MATCHES "Chart[.]js v3[.]")
    message(FATAL_ERROR "${GENISTA_CHART_JS} does not say that it is Chart.js 3, to which lab/report/page.js speaks. "
        "Debian's package libjs-chart.js has it.")
endif()
# Inside an HTML page these two would end the script or start a comment.
if(chart_js_text MATCHES "</[sS][cC][rR][iI][pP][tT]|<!--")
    message(FATAL_ERROR "${GENISTA_CHART_JS} cannot stand inside a page: it contains '</script' or '<!--'.")
endif()
unset(chart_js_text)

# Objects of their own: a file that is made at build time belongs to the folder that makes it.
add_library(genista_report_assets OBJECT)
target_include_directories(genista_report_assets PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(genista_report_assets PRIVATE cxx_std_20)
set_target_properties(genista_report_assets PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_COMPILE_COMMANDS OFF)
genista_house_options(genista_report_assets)
set(assets genista::lab::report)
set(declared lab/report/assets.hpp)
genista_embed(genista_report_assets ${GENISTA_CHART_JS} ${assets}::chart_library ${declared})
genista_embed(genista_report_assets ${CMAKE_CURRENT_LIST_DIR}/page.css ${assets}::page_style ${declared})
genista_embed(genista_report_assets ${CMAKE_CURRENT_LIST_DIR}/page.js ${assets}::page_script ${declared})
target_sources(genista_lab PRIVATE $<TARGET_OBJECTS:genista_report_assets>)
