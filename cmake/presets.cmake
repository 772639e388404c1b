# presets.cmake - writes presets.c: the files of presets/ as texts.
#
#     cmake -DOUT=presets.c -DFILES=a.yaml,b.yaml -P presets.cmake

set(text "// Written by cmake/presets.cmake.\n\n#include \"study/plan.h\"\n\n")
string(APPEND text "const rh_preset__text rh_preset__file[] = {\n")
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
