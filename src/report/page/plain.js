
  // From the lowest to the highest, without values so far off that the others would look alike.
  function robust(list) {
    const x = list.filter(known).sort((a, b) => a - b);
    if (!x.length) return [0, 1];
    const at = (q) => x[Math.round(q * (x.length - 1))];
    const spread = at(0.9) - at(0.25) || Math.abs(at(0.5)) || 1;
    let lo = Math.max(x[0], at(0.25) - 4 * spread), hi = Math.min(x[x.length - 1], at(0.9) + 4 * spread);
    if (lo === hi) [lo, hi] = [lo - 1, hi + 1];
    return [lo, hi];
  }

  // ---------------------------------------------------------------- plain charts
  //
  // Points, lines and bands in SVG, for a build without the chart library.
  //
  // p: { x: title, y: title, log: the x axis is one, xnames, ynames: labels of whole numbers on an axis,
  //      points: [{x, y, lo, hi, faint, trial, setting}], lines: [{name, shade, dash, points}] }
  // lo and hi are ends of an interval: a bar of a point, the band of a line.

  function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, x] of Object.entries(attributes)) if (x !== null && x !== undefined) element.setAttribute(name, x);
    element.append(...children);
    return element;
  }

  // About n round numbers from lo to hi; of a log axis powers of ten, or what lies between them.
  function ticks(lo, hi, n, log) {
    if (log) {
      const from = Math.floor(Math.log10(lo)), to = Math.ceil(Math.log10(hi)), every = Math.max(Math.ceil((to - from) / n), 1);
      const list = [];
      for (let k = from; k <= to; k += every) list.push(...(to - from > 2 ? [1] : [1, 2, 5]).map((m) => m * 10 ** k));
      return list.filter((x) => x >= lo && x <= hi);
    }
    const raw = (hi - lo) / n, size = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((m) => m * size >= raw) * size;
    if (!(step > 0) || !Number.isFinite(step)) return [lo, hi];
    return Array.from({ length: Math.floor(hi / step) - Math.ceil(lo / step) + 1 }, (_, i) => (Math.ceil(lo / step) + i) * step);
  }

  // The numbers of an axis as texts, with as many decimals as tell them apart.
  function tickTexts(list) {
    const step = list.length > 1 ? Math.min(...list.slice(1).map((x, i) => Math.abs(x - list[i]))) : Math.abs(list[0]);
    return list.map((x) => (Math.abs(x) < step / 1e6 ? "0" : number(x, Math.min(Math.max(Math.floor(Math.log10(Math.abs(x))) - Math.floor(Math.log10(step)) + 1, 1), 12))));
  }

  function plainChart(p, c, title, W, H) {
    const bottom = 40, top = p.y ? 24 : 10, right = 16;
    const good = (list) => list.filter((q) => known(q.x) && known(q.y));
    const points = good(p.points ?? []).slice(0, 3000);
    const lines = (p.lines ?? []).map((l) => ({ ...l, points: good(l.points) }));
    const all = [...points, ...lines.flatMap((l) => l.points)];
    if (!all.length) return [make("p", { class: "quiet" }, "Nothing to draw.")];
    const log = Boolean(p.log) && all.every((q) => q.x > 0);
    const fx = log ? Math.log10 : (x) => x;
    const wider = ([lo, hi], by) => (lo === hi ? [lo - 1, hi + 1] : [lo - by, hi + by]);
    const xs = all.map((q) => q.x), ends = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))];
    const [xlo, xhi] = wider(ends.map(fx), p.xnames ? 0.5 : 0);
    const [ylo, yhi] = p.ynames ? [-0.5, p.ynames.length - 0.5] : wider(robust(all.flatMap((q) => [q.y, q.lo, q.hi])), 0);
    if (!known(xhi - xlo) || !known(yhi - ylo)) return [make("p", { class: "quiet" }, "These numbers are too far apart to be drawn.")];
    const names = (list, most) => list.map((name, k) => [k, cut(name, most)]);
    const marked = (lo, hi, n, isLog) => {
      const list = ticks(lo, hi, n, isLog), texts = isLog ? list.map((x) => number(x, 2)) : tickTexts(list);
      return list.map((x, k) => [x, texts[k]]);
    };
    const yTicks = p.ynames ? names(p.ynames, 12) : marked(ylo, yhi, Math.max(H / 50, 2), false);
    const left = 14 + 7 * Math.max(...yTicks.map(([, text]) => text.length), 2);
    const xTicks = p.xnames ? names(p.xnames, Math.max(Math.floor((W - left) / p.xnames.length / 8), 3)) : marked(log ? ends[0] : xlo, log ? ends[1] : xhi, Math.max(W / (log ? 70 : 110), 2), log);
    const X = (x) => left + ((fx(x) - xlo) / (xhi - xlo)) * (W - left - right);
    const Y = (y) => H - bottom - ((Math.min(Math.max(y, ylo), yhi) - ylo) / (yhi - ylo)) * (H - bottom - top);
    const text = (x, y, anchor, what, fill) => svg("text", { x, y, "text-anchor": anchor, fill: fill ?? c.quiet, "font-size": 12 }, cut(what, 60));
    const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title, class: "plain" },
      ...yTicks.flatMap(([y, what]) => [svg("line", { x1: left, x2: W - right, y1: Y(y), y2: Y(y), stroke: c.grid }), text(left - 6, Y(y) + 4, "end", what)]),
      ...xTicks.flatMap(([x, what]) => [svg("line", { x1: X(x), x2: X(x), y1: H - bottom, y2: H - bottom + 4, stroke: c.faint }), text(X(x), H - bottom + 17, "middle", what)]),
      svg("line", { x1: left, y1: H - bottom, x2: W - right, y2: H - bottom, stroke: c.faint }),
      text((left + W - right) / 2, H - 5, "middle", p.x, c.ink), p.y ? text(2, 13, "start", p.y, c.ink) : "");
    const colour = (l, k) => c.set[(l.shade ?? k) % c.set.length], dash = (l) => (l.dash ? "6 4" : null);
    lines.forEach((l, k) => {
      const band = l.points.filter((q) => known(q.lo) && known(q.hi));
      if (band.length > 1) drawing.append(svg("polygon", { points: [...band.map((q) => `${X(q.x)},${Y(q.lo)}`), ...band.reverse().map((q) => `${X(q.x)},${Y(q.hi)}`)].join(" "), fill: colour(l, k), "fill-opacity": 0.15 }));
      drawing.append(svg("polyline", { points: l.points.map((q) => `${X(q.x)},${Y(q.y)}`).join(" "), fill: "none", stroke: colour(l, k), "stroke-width": 2, "stroke-dasharray": dash(l) }));
    });
    for (const q of points) {
      if (known(q.lo) && known(q.hi)) drawing.append(svg("line", { x1: X(q.x), x2: X(q.x), y1: Y(q.lo), y2: Y(q.hi), stroke: c.accent, "stroke-width": 2 }));
      const dot = svg("circle", { cx: X(q.x), cy: Y(q.y), r: q.faint ? 2 : 3.5, fill: q.faint ? c.faint : c.accent, "fill-opacity": q.faint ? 0.3 : 0.6 });
      if (known(q.setting)) dot.append(svg("title", {}, `setting ${q.setting}: ${number(q.y)}`));
      if (known(q.trial)) dot.addEventListener("click", () => select(q.trial));
      drawing.append(dot);
    }
    const key = lines.map((l, k) => (l.name ? make("li", {}, svg("svg", { viewBox: "0 0 26 8", width: 26, height: 8, "aria-hidden": "true" },
      svg("line", { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colour(l, k), "stroke-width": 3, "stroke-dasharray": dash(l) })), " ", cut(l.name, 40)) : null));
    return [drawing, key.some(Boolean) ? make("ul", { class: "key" }, key) : null].filter(Boolean);
  }
