
  // ---------------------------------------------------------------- scores on one scale
  //
  // A line per score: who, a dot with its 95 % interval, and the numbers. It is drawn in shares of
  // the width, with colours of the style: it needs no chart library and fits any screen and printer.
  //
  // rows: [{who, note, score, lo, hi, look}]; look: "chosen", "today" or nothing. A dashed line goes
  // down from the row that is today's. least: the axis does not begin below it.

  function dots(id, title, about, rows, { text, least: floor = -Infinity } = {}) {
    const shown = rows.filter((r) => known(r.score)).map((r) => ({ ...r, lo: known(r.lo) ? r.lo : null, hi: known(r.hi) ? r.hi : null }));
    if (!shown.length) return null;
    const every = shown.flatMap((r) => [r.score, r.lo, r.hi]).filter(known);
    const least = Math.min(...every), most = Math.max(...every), pad = 0.06 * (most - least) || Math.abs(most) / 10 || 1;
    const lo = Math.max(least - pad, floor), hi = most + pad;
    if (!Number.isFinite(hi - lo)) return null;
    const at = (x) => `${((100 * (x - lo)) / (hi - lo)).toFixed(2)}%`;
    const marks = ticks(lo, hi, 5, false), texts = text ? marks.map(text) : tickTexts(marks);
    const rule = (x, kind) => svg("line", { x1: at(x), x2: at(x), y1: 0, y2: "100%", class: kind });
    const today = shown.find((r) => r.look === "today");
    const track = (...inside) => make("div", { class: "track", "aria-hidden": "true" }, svg("svg", {}, ...inside));
    const marked = (r) => track(...marks.map((x) => rule(x, "grid")), today ? rule(today.score, "today") : "",
      r.lo === null && r.hi === null ? "" : svg("line", { x1: at(r.lo ?? lo), x2: at(r.hi ?? hi), y1: "50%", y2: "50%", class: "span" }), svg("circle", { cx: at(r.score), cy: "50%", r: 6.5 }));
    const wide = Math.max(...shown.map((r) => width(r.lo, r.hi))), fine = text ?? ((x) => rounded(x, wide)); // one scale, the same digits
    const numbers = (r) => [make("b", {}, fine(r.score)), fine(r.lo) === fine(r.hi) ? "" : make("span", {}, ` ${interval(r.lo, r.hi, fine)}`)];
    return make("figure", { id, class: "dots" }, make("figcaption", {}, make("strong", {}, title), about ? [" ", make("span", {}, about)] : null),
      make("ul", {}, shown.map((r) => make("li", { class: r.look ?? null }, make("span", { class: "who" }, named(r.who, 40), r.note ? make("small", {}, r.note) : null), marked(r), make("span", { class: "what" }, numbers(r)))),
        make("li", { class: "axis", "aria-hidden": "true" }, track(...marks.map((x, k) => svg("text", { x: at(x), y: "1em", "text-anchor": "middle" }, texts[k]))))));
  }
