# page_assets.cmake - writes assets.c: files of a page as rh_asset__<name>, and their SHA-256.
#
#     cmake -DOUT=assets.c -DASSETS=charts=charts.js,script=page.js,style=style.css -P page_assets.cmake
#
# The files are included by the assembler: a C array of a megabyte takes a compiler seconds.

set(text "// Written by cmake/page_assets.cmake.\n\n#include \"report/report_internal.h\"\n")
string(REPLACE "," ";" ASSETS "${ASSETS}")
foreach(asset ${ASSETS})
  string(REGEX REPLACE "=.*" "" part ${asset})
  string(REGEX REPLACE "^[^=]*=" "" file ${asset})
  file(SHA256 ${file} hash)
  string(APPEND text "
__asm__(\".section .rodata\\n\"
        \".hidden rh_asset__${part}_begin\\n.hidden rh_asset__${part}_end\\n\"
        \".global rh_asset__${part}_begin\\n.global rh_asset__${part}_end\\n\"
        \"rh_asset__${part}_begin:\\n.incbin \\\"${file}\\\"\\n\"
        \"rh_asset__${part}_end:\\n.byte 0\\n.previous\\n\");
extern const char rh_asset__${part}_begin[], rh_asset__${part}_end[];
const rh_asset rh_asset__${part} = {rh_asset__${part}_begin, rh_asset__${part}_end,
                                    \"${hash}\"};
")
endforeach()
file(WRITE ${OUT} "${text}")
