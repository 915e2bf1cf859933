# embed.cmake: a text file as a C++ function, so that a program carries it and needs no file beside it at run time.
#
#     cmake -D input=FILE -D output=FILE.cpp -D header=HEADER -D function=genista::lab::report::page_style
#           -P embed.cmake
#
# writes a source that defines `std::string_view function() noexcept` (declared in HEADER). The bytes are written as
# numbers: a string literal of this length is an extension, xxd is one more package, and .incbin is one assembler's.
# genista_embed(TARGET ...) below adds such a source to a target, made again whenever the file or this script
# changes.

if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${input} bytes HEX)
    # Lines of 32 bytes; CMake's regular expressions have no counts, so the dots are spelt.
    string(REPEAT "." 64 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    cmake_path(GET input FILENAME name)
    file(WRITE ${output}.new "// ${name} as bytes; made by cmake/embed.cmake.\n"
         "#include \"${header}\"\n\n"
         "namespace {\n\nconstexpr unsigned char bytes[] = {\n${bytes}\n0};\n\n}  // namespace\n\n"
         "std::string_view ${function}() noexcept {\n"
         "    return {reinterpret_cast<const char*>(bytes), sizeof bytes - 1};\n}\n")
    file(RENAME ${output}.new ${output})
    return()
endif()

set(genista_embed_script ${CMAKE_CURRENT_LIST_FILE})

# genista_embed(TARGET FILE FUNCTION HEADER)
function(genista_embed target file function header)
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" stem ${function})
    set(made ${CMAKE_CURRENT_BINARY_DIR}/embedded/${stem}.cpp)
    add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -D input=${file} -D output=${made} -D header=${header} -D function=${function}
                -P ${genista_embed_script}
        DEPENDS ${file} ${genista_embed_script}
        COMMENT "Embedding ${file}"
        VERBATIM)
    target_sources(${target} PRIVATE ${made})
endfunction()
