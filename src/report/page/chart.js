
  // ---------------------------------------------------------------- charts
  //
  // A chart is a figure: a box for the drawing, and a caption. Vega-Lite draws it, or plain.js where
  // the build has no chart library. Charts are drawn one after the other when the page is there, and
  // again when the colours change. A chart of many marks is drawn on a canvas: 10,000 elements
  // would make the page slow.

  const library = globalThis.rehearseCharts ?? null;
  const charts = []; // { box, spec(colours), view, plain }
  const MANY = 1500;

  const PALETTE = {
    light: { ink: "#1c2430", quiet: "#576173", grid: "#e3e7ee", accent: "#0b62c4", second: "#b8500a", good: "#0d7a4f", faint: "#8a94a6", ramp: ["#cbd5e4", "#7fb0dc", "#2f7fc2", "#0a3a75"],
      set: ["#0b62c4", "#b8500a", "#0d7a4f", "#8a3ffc", "#a3195b", "#00707c", "#6b5d00", "#555e6d"] },
    dark: { ink: "#e8ecf3", quiet: "#a9b4c6", grid: "#2b3444", accent: "#6cb0ff", second: "#ff9f5a", good: "#5bd6a0", faint: "#7d8899", ramp: ["#3b4a63", "#3f7fb5", "#6cc3ea", "#e9fbff"],
      set: ["#6cb0ff", "#ff9f5a", "#5bd6a0", "#c4a1ff", "#ff8fc0", "#4fd0dd", "#e0cf5c", "#b3bccb"] },
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const printing = matchMedia("print");
  const colours = () => (dark.matches && !printing.matches ? PALETTE.dark : PALETTE.light);

  const SHORT = "datum.value === 0 ? '0' : format(datum.value, '~s')"; // 15k, and 0 without a k

  const config = (c) => ({
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { labelColor: c.quiet, titleColor: c.ink, gridColor: c.grid, domainColor: c.grid, tickColor: c.grid, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, titlePadding: 8, labelLimit: 140, titleLimit: 260, labelSeparation: 4 },
    axisQuantitative: { labelOverlap: true },
    legend: { labelColor: c.ink, titleColor: c.quiet, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, labelLimit: 220, symbolStrokeWidth: 3 },
    title: { color: c.ink },
    text: { color: c.ink },
    range: { category: c.set, ramp: c.ramp },
  });

  // title: what the chart shows; about: how to read it. spec: a function of the colours. plain: what
  // plainChart() draws, or null for nothing. pick: a click on a mark selects its setting.
  function chart({ id, title, about, spec, plain, height = 220, pick = true, small = false }) {
    const box = make("div", { class: small ? "chart small" : "chart", id: id ?? null });
    if (library) box.style.minHeight = `${height + 40}px`; // the page does not move while charts are drawn
    const figure = make("figure", {}, make("figcaption", {}, make("strong", {}, named(title, 90)), about ? [" ", make("span", {}, about)] : null), box);
    figure.hidden = !library && !plain; // a table has the numbers
    charts.push({ box, spec, plain, height, pick, title });
    return figure;
  }

  // The colours of several charts, once for all of them.
  function colourKey(names) {
    const items = names.map((name) => make("li", {}, make("i", { class: "swatch" }), cut(name, 50)));
    charts.push({ title: "", paint: (c) => items.forEach((item, k) => (item.firstChild.style.background = c.set[k % c.set.length])) });
    return make("ul", { class: "key" }, items);
  }

  async function draw(one) {
    const c = colours();
    if (one.paint) return one.paint(c);
    if (!library) {
      if (one.plain) one.box.replaceChildren(...plainChart(one.plain(c), c, cut(one.title, 90), one.box.clientWidth || 640, one.height + 40));
      return;
    }
    one.view?.finalize();
    const spec = one.spec(c);
    const many = (spec.rehearseMarks ?? 0) > MANY;
    delete spec.rehearseMarks;
    const result = await library.embed(one.box, {
      $schema: "https://vega.github.io/schema/vega-lite/v6.json",
      description: cut(one.title, 90),
      width: "container",
      height: one.height,
      autosize: { type: "fit-x", contains: "padding" },
      ...spec,
    }, {
      mode: "vega-lite", actions: false, renderer: many ? "canvas" : "svg", ast: true,
      expr: library.expressionInterpreter, defaultStyle: false, config: config(c),
      tooltip: { disableDefaultStyle: true, sanitize: (x) => String(x).replaceAll("&", "&amp;").replaceAll("<", "&lt;") },
    });
    one.view = result.view;
    one.box.dataset.drawn = "yes";
    one.box.rehearseView = result.view;
    if (one.pick) one.view.addEventListener("click", (event, item) => {
      const trial = item?.datum?.trial ?? item?.datum?.datum?.trial;
      if (known(trial)) select(trial);
    });
    mark(one);
  }

  // Put a ring around the selected setting in charts that have one.
  function mark(one) {
    if (!one.view || !one.picked) return;
    try {
      one.view.data("picked", one.picked()).runAsync();
    } catch {
      /* the chart has no such data */
    }
  }

  async function drawAll() {
    for (const one of charts) {
      try {
        await draw(one);
      } catch (fault) {
        console.error(fault);
        one.box?.replaceChildren(make("p", { class: "quiet" }, "This chart could not be drawn."));
      }
      await new Promise((go) => setTimeout(go));
    }
    document.documentElement.dataset.ready = "yes";
  }

  // fill: puts the sections into the page.
  function build(fill) {
    fill();
    if (!library) document.getElementById("page").prepend(make("p", { class: "note" }, "This build of rehearse has no chart library: the page has tables and plain charts. docs/report.md says how to build with it."));
    drawAll();
    const again = () => drawAll();
    dark.addEventListener("change", again);
    printing.addEventListener("change", again);
  }
