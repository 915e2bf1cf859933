// uint128: the 128-bit product of two words, named once because ISO C++ has no name for it.
#pragma once

namespace genista {

__extension__ typedef unsigned __int128 uint128;

}  // namespace genista
