# The instruction-set levels of this processor family, lowest first, and the compiler's flags for each.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(PENSTOCK_LEVELS x86-64-v2 x86-64-v3 x86-64-v4)
else()
  set(PENSTOCK_LEVELS baseline)
endif()

function(penstock_level_flags level result)
  if(level STREQUAL "baseline")
    set(${result} "" PARENT_SCOPE)
  else()
    set(${result} -march=${level} PARENT_SCOPE)
  endif()
endfunction()
