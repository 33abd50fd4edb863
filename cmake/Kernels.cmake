# One translation unit per kernel header that registers an operator: the same header is compiled by NVRTC for the GPU,
# so it stays a header, and an operator needs no .cpp file of its own.
function(penstock_kernel_units result)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/penstock/kernels/*.h)
  # A header that starts to register an operator changes the list, so CMake looks again when one is edited.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(units "")
  foreach(header IN LISTS headers)
    file(STRINGS ${header} registrations REGEX "^ *PS_OPERATOR\\(" LIMIT_COUNT 1)
    if(registrations)
      get_filename_component(name ${header} NAME_WE)
      set(unit ${PROJECT_BINARY_DIR}/kernels/${name}.cpp)
      file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"kernels/${name}.h\"\n" @ONLY)
      list(APPEND units ${unit})
    endif()
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

# A unit that knows which headers of kernels the library was built with: it shares their structs with what NVRTC makes of
# the headers that lie beside it. The digest is that of penstock/run/kernels.py.
function(penstock_kernel_digest result)
  set(folder ${PROJECT_SOURCE_DIR}/penstock)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/kernels/*.h)
  list(SORT headers)
  set(all "")
  foreach(header IN LISTS headers)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${header})
    file(SHA256 ${folder}/${header} digest)
    string(APPEND all "${header} ${digest}\n")
  endforeach()
  string(SHA256 digest "${all}")
  set(unit ${PROJECT_BINARY_DIR}/kernels/digest.cpp)
  file(CONFIGURE OUTPUT ${unit} @ONLY
    CONTENT "#include \"penstock.h\"\n\nconst char* ps_gpu_headers() { return \"${digest}\"; }\n")
  set(${result} ${unit} PARENT_SCOPE)
endfunction()
