// uint128: an unsigned integer of 128 bits, named in one place because ISO C++ has no name for it.
#pragma once

namespace genista {

__extension__ typedef unsigned __int128 uint128;

}  // namespace genista
