# texts.cmake - writes a C file with the texts of files, by name without ending.
#
#     cmake -DOUT=presets.c -DHEADER=study/plan.h -DTYPE=rh_preset__text -DARRAY=rh_preset__file
#         -DFILES=a.yaml,b.yaml -P texts.cmake

set(text "// Written by cmake/texts.cmake.\n\n#include \"${HEADER}\"\n\n")
string(APPEND text "const ${TYPE} ${ARRAY}[] = {\n")
string(REPLACE "," ";" FILES "${FILES}")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(REPLACE "\\" "\\\\" content "${content}")
  string(REPLACE "\"" "\\\"" content "${content}")
  string(REPLACE "\n" "\\n\"\n     \"" content "${content}")
  string(APPEND text "    {\"${name}\",\n     \"${content}\"},\n")
endforeach()
string(APPEND text "    {0},\n};\n")
file(WRITE ${OUT} "${text}")
