// Converts between RocksDB's status and error. See status.hpp.
#include "genista/detail/stores/rocksdb/status.hpp"

#include <string>

namespace genista::rocks {
namespace {

error_code code_of(const rocksdb::Status& status) noexcept {
    if (status.IsCorruption()) return error_code::corrupt;
    if (status.IsInvalidArgument()) return error_code::invalid_argument;
    if (status.IsNotSupported()) return error_code::unsupported;
    if (status.IsMemoryLimit()) return error_code::out_of_memory;
    if (status.IsTimedOut() || status.IsBusy() || status.IsTryAgain()) return error_code::timeout;
    return error_code::io;
}

}  // namespace

error to_error(const rocksdb::Status& status, std::string_view doing) noexcept {
    const char* reason = "unknown reason (no memory for the message)";
    std::string text;
    try {
        text = status.ToString();
        reason = text.c_str();
    } catch (const std::exception&) {
        text.clear();
    }
    return error::make(code_of(status), "cannot %.*s: %s", static_cast<int>(doing.size()), doing.data(), reason);
}

rocksdb::Status to_status(const error& failure) {
    const rocksdb::Slice message{failure.message().data(), failure.message().size()};
    switch (failure.code()) {
        case error_code::invalid_argument:
        case error_code::mismatch:
            return rocksdb::Status::InvalidArgument(message);
        case error_code::corrupt:
            return rocksdb::Status::Corruption(message);
        case error_code::unsupported:
            return rocksdb::Status::NotSupported(message);
        case error_code::out_of_memory:
            return rocksdb::Status::MemoryLimit(message);
        case error_code::timeout:
            return rocksdb::Status::TimedOut(message);
        case error_code::io:
            break;
    }
    return rocksdb::Status::IOError(message);
}

}  // namespace genista::rocks
