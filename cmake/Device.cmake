# A unit that knows which headers of penstock/device the library was built with: it shares their structs with what NVRTC
# makes of the headers that lie beside it. The digest is that of penstock/machine/kernels.py. Runs as a script, too,
# when a header has changed: cmake -DFOLDER=penstock -DUNIT=digest.cpp -P Device.cmake
function(penstock_write_digest folder unit)
  file(GLOB_RECURSE headers RELATIVE ${folder} ${folder}/device/*.h)
  list(SORT headers)
  set(all "")
  foreach(header IN LISTS headers)
    file(SHA256 ${folder}/${header} digest)
    string(APPEND all "${header} ${digest}\n")
  endforeach()
  string(SHA256 digest "${all}")
  file(WRITE ${unit} "#include \"penstock.h\"\n\nconst char* ps_gpu_headers() { return \"${digest}\"; }\n")
endfunction()

function(penstock_device_digest result)
  set(folder ${PROJECT_SOURCE_DIR}/penstock)
  set(unit ${PROJECT_BINARY_DIR}/device_digest.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${folder}/device/*.h)
  add_custom_command(OUTPUT ${unit} DEPENDS ${headers} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DUNIT=${unit} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  set(${result} ${unit} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  penstock_write_digest(${FOLDER} ${UNIT})
endif()
