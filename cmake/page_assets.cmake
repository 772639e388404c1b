# page_assets.cmake - writes assets.c: the files of the report page, and their SHA-256.
#
#     cmake -DOUT=assets.c -DCHARTS=charts.js -DSCRIPT=page.js -DSTYLE=style.css -P page_assets.cmake
#
# The files are included by the assembler: a C array of a megabyte takes a compiler seconds.

set(text "// Written by cmake/page_assets.cmake.\n\n#include \"report/report_internal.h\"\n")
foreach(name CHARTS SCRIPT STYLE)
  string(TOLOWER ${name} part)
  file(SHA256 ${${name}} hash)
  string(APPEND text "
__asm__(\".section .rodata\\n\"
        \".hidden rh_asset__${part}_begin\\n.hidden rh_asset__${part}_end\\n\"
        \".global rh_asset__${part}_begin\\n.global rh_asset__${part}_end\\n\"
        \"rh_asset__${part}_begin:\\n.incbin \\\"${${name}}\\\"\\n\"
        \"rh_asset__${part}_end:\\n.byte 0\\n.previous\\n\");
extern const char rh_asset__${part}_begin[], rh_asset__${part}_end[];
const rh_asset rh_asset__${part} = {rh_asset__${part}_begin, rh_asset__${part}_end,
                                    \"${hash}\"};
")
endforeach()
file(WRITE ${OUT} "${text}")
