# The child of the kill harness, and the tests that start it.
add_executable(crash_child ${CMAKE_CURRENT_LIST_DIR}/crash_child.cpp)
target_link_libraries(crash_child PRIVATE genista::rocksdb)
target_include_directories(crash_child PRIVATE ${PROJECT_SOURCE_DIR})
genista_house_options(crash_child)
add_dependencies(crash_sweep_tests crash_child)
