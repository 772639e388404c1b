// charts.js - the chart library as the page uses it: Vega-Lite without eval().

import embed from "vega-embed";
import { expressionInterpreter } from "vega-interpreter";

globalThis.rehearseCharts = { embed, expressionInterpreter };
