  // ---------------------------------------------------------------- text and elements
  //
  // Names and messages come from logs and are only ever set as text. A long name is cut where it
  // is shown; its title has all of it up to 500 characters.

  const LONGEST = 60;

  // <tag class="..."> with attributes and children: elements, texts, arrays; null is left out.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "onclick") element.addEventListener("click", value);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(3)) {
      if (child === null || child === undefined) continue;
      element.append(child instanceof Node ? child : String(child));
    }
    return element;
  }

  const cut = (text, most = LONGEST) => {
    const all = [...String(text ?? "")];
    return all.length > most ? all.slice(0, most - 1).join("") + "…" : all.join("");
  };

  // A name of a log or plan: isolated, because it may be right to left.
  const named = (text, most) =>
    make("bdi", { title: [...String(text ?? "")].length > (most ?? LONGEST) ? cut(text, 500) : null }, cut(text, most));

  const known = (x) => typeof x === "number" && Number.isFinite(x);

  // Up to `digits` digits that count, with a real minus sign and thousands apart.
  function number(x, digits = 4) {
    if (!known(x)) return "–";
    if (x === 0) return "0";
    const size = Math.floor(Math.log10(Math.abs(x)));
    let text;
    if (size < -4 || size >= 9) text = x.toExponential(Math.max(digits - 1, 0)).replace(/\.?0+e/, "e").replace("e+", "e");
    else {
      text = x.toFixed(Math.min(Math.max(digits - 1 - size, 0), 12));
      if (text.includes(".")) text = text.replace(/\.?0+$/, "");
      const [whole, rest] = text.split(".");
      text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? "." + rest : "");
    }
    return text.replace("-", "−");
  }

  // A score with the digits that the width of its interval leaves: -72 of -89 to -33.
  const width = (lo, hi) => (known(lo) && known(hi) ? hi - lo : 0);
  function rounded(x, wide) {
    if (!known(x) || !(wide > 0)) return number(x);
    const decimals = Math.min(Math.max(-Math.floor(Math.log10(wide / 10)), 0), 8);
    return number(Number(x.toFixed(decimals)), 15);
  }

  const count = (n) => number(n, 15);
  const share = (x) => (known(x) ? number(100 * x, x < 0.1 ? 2 : 3) + " %" : "–");
  const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
  const value = (x) => (typeof x === "string" ? cut(x, 24) : number(x, 4));
  // An open end is said in words.
  const interval = (lo, hi, text = number) => (known(lo) ? (known(hi) ? `${text(lo)} to ${text(hi)}` : `from ${text(lo)}`) : known(hi) ? `below ${text(hi)}` : "–");

  // A score and its 95 % interval, as cells of a table.
  function scoreCells(x, lo, hi) {
    const fine = (y) => rounded(y, width(lo, hi));
    return [fine(x), interval(lo, hi, fine)];
  }

  function section(id, title, ...children) {
    return make("section", { id, "aria-labelledby": id + "-title" }, make("h2", { id: id + "-title" }, title), children);
  }

  // A table that scrolls sideways on a narrow screen, below its caption, which does not. columns:
  // [title, align]; rows of cells.
  function table(caption, columns, rows, attributes) {
    const right = (k) => (columns[k][1] === "right" ? "number" : null);
    return make("div", { class: "tabled" }, make("p", { class: "caption", "aria-hidden": "true" }, caption),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, make("table", attributes,
        make("caption", { class: "unseen" }, caption),
        make("thead", {}, make("tr", {}, columns.map(([title], k) => make("th", { scope: "col", class: right(k) }, title)))),
        make("tbody", {}, rows.map((row) =>
          row instanceof Node ? row : make("tr", {}, row.map((cell, k) => make(k ? "td" : "th", { scope: k ? null : "row", class: right(k) }, cell))))))));
  }

  // Pairs of a term and what it is.
  const facts = (pairs) =>
    make("dl", { class: "facts" }, pairs.filter((p) => p && p[1] !== null && p[1] !== undefined).map(([term, what]) =>
      make("div", {}, make("dt", {}, term), make("dd", {}, what))));

  const SEVERITY = { error: "Error", warning: "Warning", notice: "Notice" };

  function findings(list, none) {
    if (!list?.length) return none ? make("p", { class: "quiet" }, none) : null;
    const shown = list.slice(0, 30);
    return [
      make("ul", { class: "findings" }, shown.map((f) =>
        make("li", { class: SEVERITY[f.severity] ? f.severity : "notice" },
          make("p", {}, make("strong", { class: "badge" }, SEVERITY[f.severity] ?? "Notice"), " ",
            make("code", {}, cut(f.id, 40)), " ", named(f.evidence, 600)),
          f.remedy ? make("p", { class: "remedy" }, make("span", {}, "What to do: "), named(f.remedy, 600)) : null))),
      list.length > shown.length ? make("p", { class: "quiet" }, `… ${list.length - shown.length} more.`) : null,
    ];
  }

  // A button that copies a text, and what it says. The clipboard needs a secure context, which file://
  // is in most browsers; where it is not, the text is shown as `code` and selected.
  function copier(label, text, code) {
    const said = make("span", { role: "status", class: "said" });
    const button = make("button", {
      type: "button", class: "copy",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          said.textContent = "copied";
        } catch {
          code.hidden = false;
          const range = document.createRange();
          range.selectNodeContents(code);
          getSelection().removeAllRanges();
          getSelection().addRange(range);
          said.textContent = "selected: copy it with Ctrl+C";
        }
        setTimeout(() => (said.textContent = ""), 4000);
      },
    }, label);
    return [said, button];
  }

  // Text to copy. An open one is a command, whose lines are broken.
  function copyable(label, text, open) {
    const code = make("pre", { tabindex: "0", "aria-label": label, class: open ? "wrap" : null }, make("code", {}, cut(text, 20000)));
    const body = make("div", { class: "copyable" }, make("div", { class: "bar" }, make("span", {}, label), copier("Copy", text, code)), code);
    return open ? body : make("details", {}, make("summary", {}, label), body);
  }
