# Tests of lab/report. The browser ones open pages in a real headless Chromium (Debian's chromium-headless-shell;
# without it they fail and say so). A page does not depend on the compiler, so they carry the label native: the
# release preset runs them.
file(GLOB report_test_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*_test.cpp)
set(report_browser_sources ${CMAKE_CURRENT_LIST_DIR}/browser_test.cpp)
list(REMOVE_ITEM report_test_sources ${report_browser_sources})

add_executable(report_tests ${report_test_sources})
target_link_libraries(report_tests PRIVATE genista_test_support genista_experiments)
genista_house_options(report_tests)
target_compile_options(report_tests PRIVATE ${light_optimisation})
genista_unity(report_tests 8)
gtest_discover_tests(report_tests TEST_PREFIX report. NO_PRETTY_TYPES DISCOVERY_MODE PRE_TEST PROPERTIES LABELS report)

add_executable(report_browser_tests ${report_browser_sources})
target_link_libraries(report_browser_tests PRIVATE genista_test_support genista_experiments)
genista_house_options(report_browser_tests)
target_compile_options(report_browser_tests PRIVATE ${light_optimisation})
gtest_discover_tests(report_browser_tests TEST_PREFIX report. NO_PRETTY_TYPES DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS native)
