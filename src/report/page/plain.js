
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
  // Points and lines in SVG, for a build without the chart library.
  //
  // p: { x: title, y: title, log: the x axis is one, points: [{x, y, trial}], lines: [{name, points, shade}] }

  function plainChart(p, c, title, W, height) {
    const left = 64, bottom = 34, top = 8, right = 12, H = height;
    const svg = (tag, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, x] of Object.entries(attributes)) element.setAttribute(name, x);
      element.append(...children);
      return element;
    };
    const points = (p.points ?? []).filter((q) => known(q.x) && known(q.y));
    const lines = (p.lines ?? []).map((l) => ({ ...l, points: l.points.filter((q) => known(q.x) && known(q.y)) }));
    const all = [...points, ...lines.flatMap((l) => l.points)];
    if (!all.length) return [make("p", { class: "quiet" }, "Nothing to draw.")];
    const fx = p.log && all.every((q) => q.x > 0) ? Math.log10 : (x) => x;
    const range = (list) => {
      const lo = Math.min(...list), hi = Math.max(...list);
      return lo === hi ? [lo - 1, hi + 1] : [lo, hi];
    };
    const xs = all.map((q) => q.x);
    const [xlo, xhi] = range(xs.map(fx)), [ylo, yhi] = robust(all.map((q) => q.y));
    const X = (x) => left + ((fx(x) - xlo) / (xhi - xlo)) * (W - left - right);
    const Y = (y) => H - bottom - ((Math.min(Math.max(y, ylo), yhi) - ylo) / (yhi - ylo)) * (H - bottom - top);
    const text = (x, y, anchor, what) => svg("text", { x, y, "text-anchor": anchor, fill: c.quiet, "font-size": 11 }, cut(what, 50));
    const drawing = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": title, class: "plain" },
      svg("line", { x1: left, y1: H - bottom, x2: W - right, y2: H - bottom, stroke: c.faint }),
      svg("line", { x1: left, y1: top, x2: left, y2: H - bottom, stroke: c.faint }),
      text(left, H - bottom + 15, "start", number(Math.min(...xs), 3)), text(W - right, H - bottom + 15, "end", number(Math.max(...xs), 3)),
      text((left + W - right) / 2, H - 4, "middle", p.x),
      text(left - 6, top + 10, "end", number(yhi, 3)), text(left - 6, H - bottom, "end", number(ylo, 3)));
    lines.forEach((l, k) => {
      drawing.append(svg("polyline", { points: l.points.map((q) => `${X(q.x)},${Y(q.y)}`).join(" "), fill: "none", stroke: c.set[(l.shade ?? k) % c.set.length], "stroke-width": 2 }));
    });
    for (const q of points.slice(0, 3000)) {
      const dot = svg("circle", { cx: X(q.x), cy: Y(q.y), r: 3.5, fill: c.accent, "fill-opacity": 0.6 });
      if (known(q.trial)) dot.addEventListener("click", () => select(q.trial));
      drawing.append(dot);
    }
    const names = lines.map((l, k) => {
      const item = l.name ? make("li", {}, cut(l.name, 40)) : null;
      if (item) item.style.color = c.set[(l.shade ?? k) % c.set.length];
      return item;
    });
    return [drawing, names.some(Boolean) ? make("ul", { class: "names" }, names) : null].filter(Boolean);
  }
