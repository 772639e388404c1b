// browser.mjs - checks of report pages in Chromium; tests/report/run starts it.
//
// Every page is opened from file:// without a network and must load nothing, write nothing to the
// console, not be wider than the window, and draw every chart with marks. Pages of hostile, empty
// and large studies are made from the data of a real one.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , program, folder, browser, modules] = process.argv;
const require = createRequire(join(modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(join(modules, "axe-core/axe.min.js"), "utf8");
const real = JSON.parse(readFileSync(join(folder, "real.study/report.json"), "utf8"));

let nfault = 0, ncheck = 0;
function check(good, what, detail) {
  ncheck++;
  if (good) return;
  nfault++;
  console.log(`FAILED ${what}${detail === undefined ? "" : ": " + (typeof detail === "string" ? detail : JSON.stringify(detail)).slice(0, 600)}`);
}

// ---------------------------------------------------------------- pages

const copy = () => structuredClone(real);

// The first n trials of the search, without confirmations; change(column, name).
function only(d, n) {
  const s = d.settings, m = s.setting.length - s.confirmations;
  for (const key of Object.keys(s)) if (Array.isArray(s[key])) s[key] = key === "values" ? s.values.map((v) => v.slice(0, Math.min(n, m))) : s[key].slice(0, Math.min(n, m));
  s.confirmations = 0;
  s.winner = n ? 0 : null;
  d.curves.trial = d.curves.trial.filter((t) => t < n);
  d.curves.mean.length = d.curves.spread.length = d.curves.trial.length;
  d.tied = [];
  if (!n) d.winner = d.hyperparameters = d.curve = d.winner_in_search = d.best_in_search = null;
  else d.winner.stage = "search";
  return d;
}

const EVIL = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">"\'`${1}&lt;\u2028\u202e';
const RTL = "درجة حرارة الخزان ‮abc";
const LONG = "x".repeat(10000);

function hostile() {
  const d = copy();
  d.name = EVIL;
  d.study = LONG;
  d.agent = EVIL;
  d.log.path = `/tmp/${EVIL}`;
  d.space[0].name = EVIL;
  d.space[1].name = LONG;
  d.space[2].name = RTL;
  d.space[0].about = EVIL;
  d.importance.parameters.forEach((p, k) => (p.name = d.space[k].name));
  d.findings.push({ severity: EVIL, id: EVIL, evidence: EVIL + LONG, remedy: RTL, count: 1 });
  d.inspected.series.forEach((s, k) => (s.name = [EVIL, LONG, RTL][k % 3]));
  d.inspected.sensors.forEach((s, k) => { s.name = [EVIL, LONG, RTL][k % 3]; s.unit = EVIL; });
  d.models.sample.labels = d.models.sample.labels.map((_, k) => [EVIL, LONG, RTL][k % 3] + k);
  d.models.compared_models = { reason: EVIL, steps: 1, stretches: 3, held_out_parts: 2, folds: 2, horizons: [1, 2, 5], models: [EVIL, LONG, RTL].map((name, k) => ({ name, kind: EVIL, representation: EVIL, tried: true, chosen: k === 0, credible: true, note: LONG, score: 0.5, stderr: 0.1, states: { score: 0.4, at: [0.1, null, 1e300] }, rewards: { score: 0.5, at: [0.2, 0.3, 0.5] }, ends: { score: null, at: [] } })) };
  d.models.replays.sensors.forEach((s, k) => { s.name = [EVIL, LONG, RTL][k % 3]; s.unit = EVIL; });
  d.models.replays.stretches[0].series[0].lo.fill(null);
  d.models.replays.stretches[1].series.length = 0;
  d.models.replays.stretches[2].steps = EVIL;
  d.today = { better: EVIL, text: `${EVIL}: ${LONG}`, learning: { score: 1e308, lo95: -1e308, hi95: null }, end: { score: null, lo95: "NaN", hi95: EVIL }, defaults: null, caught_up: EVIL, catch_up: 5e-324 };
  d.failures = { rule: { known: true, words: EVIL + LONG }, per: EVIL, first: { rate: 1e308, lo95: -1e308, hi95: 1e308 }, all: { rate: 5e-324, lo95: null, hi95: EVIL }, text: LONG, last: null, defaults: { rate: EVIL }, logged: { rate: "NaN" }, often: EVIL };
  d.findings.push({ origin: "log", severity: "error", id: EVIL, evidence: LONG, remedy: EVIL, count: 1 });
  d.trust = { level: EVIL, probability: "NaN", reasons: [{ id: EVIL, good: EVIL, text: EVIL + LONG }, { good: true, text: RTL }, null, 7], evidence: [{ name: EVIL, value: "NaN", about: LONG }, { name: null, value: 1e308 }],
    log_next: [{ action: `=1+1,"${EVIL}`, sensors: [{ name: EVIL, lo: null, hi: "NaN" }, { name: LONG, lo: -1e308, hi: 5e-324 }], steps: null, why: LONG }, { action: RTL, sensors: null }, "x"] };
  d.plan[EVIL] = EVIL;
  d.plan[LONG] = LONG;
  d.best_yaml = EVIL + "\n" + LONG;
  d.next = d.deploy = EVIL;
  d.command = LONG;
  // what is not a number is null in the file; huge and tiny numbers are
  d.settings.score = d.settings.score.map((x, i) => [null, 1e308, -1e308, x, 5e-324][i % 5]);
  d.settings.lo95.fill(null);
  d.settings.values[0] = d.settings.values[0].map((x, i) => (i % 3 ? x : null));
  d.curves.mean[0] = d.curves.mean[0].map(() => null);
  d.logged = { score: null, lo95: null, hi95: null };
  return d;
}

// A verdict as tune writes it.
const verdict = (level, probability, actions = ["open", "close"]) => ({
  level, probability,
  reasons: [
    { id: "separated", good: true, text: "The leading settings differ by more than the noise of their runs." },
    { id: "kinds-agree", good: true, text: "Both kinds of model rank the settings alike (rank correlation 0.91)." },
    { id: "out-of-coverage", good: false, text: "The winner spends 12 % of its steps where the log has no data." },
    ...[1, 2, 3].map((k) => ({ id: `more-${k}`, good: false, text: `Reason ${k}: log more` })),
  ],
  evidence: [{ name: "rank_agreement_kinds", value: 0.91, about: "rank correlation of the confirmed settings between kinds of model" }, { name: "replay_error", value: null, about: "at 50 steps; unknown here" }],
  log_next: actions.map((action, k) => ({ action, sensors: [{ name: "x", lo: 0.2 * k, hi: 0.2 * k + 0.25 }, { name: "y", lo: 0, hi: 0.5 }, { name: "level", lo: k ? null : 44.3, hi: k ? 1.18 : null }], steps: 500 + k, why: "the winner goes here and the log does not" })),
});
const brief = (d) => Object.assign(d, { models: undefined, inspected: undefined }); // axe takes long for all of a page
const trusting = (level, probability) => brief(Object.assign(copy(), { trust: verdict(level, probability) }));

function failed() {
  const d = copy();
  d.settings.score.fill(null);
  d.settings.lo95.fill(null);
  d.settings.hi95.fill(null);
  d.settings.diverged.fill(3);
  d.settings.winner = null;
  d.winner = d.hyperparameters = d.curve = d.winner_in_search = d.best_in_search = null;
  d.tied = [];
  d.importance.method = null;
  d.jackknife = null;
  d.findings = [{ severity: "error", id: "all-diverged", evidence: "every setting diverged", remedy: "search smaller step sizes", count: 24 }];
  for (const c of [d.curves.mean, d.curves.spread]) c.forEach((row) => row.fill(null));
  return d;
}

// As large as report_json.c makes it: 2,300 learning curves of 20 points.
function large(n) {
  const d = copy(), s = d.settings;
  const some = (k) => Math.abs(Math.sin(k * 12.9898) * 43758.5453) % 1, digits = (x) => Number(x.toPrecision(5));
  d.space = ["alpha", "tau", "lambda", "beta1", "beta2"].map((name, k) => ({ name, about: "a parameter", log: k < 2, names: false }));
  d.importance.parameters = d.space.map((p, k) => ({ name: p.name, main_effect: 0.3 / (k + 1), total_effect: 0.4 / (k + 1), at_bound: null }));
  d.importance.method = "gaussian_process";
  d.jackknife = null;
  s.confirmations = 0;
  s.winner = 7;
  s.setting = Array.from({ length: n }, (_, i) => i);
  s.values = d.space.map((p, k) => s.setting.map((i) => digits(p.log ? 10 ** (4 * some(i + k * n) - 3) : some(i + k * n))));
  s.score = s.setting.map((i) => digits(-400 * (Math.log10(s.values[0][i]) + 1) ** 2 - 200 * some(i)));
  s.lo95 = s.score.map((x) => digits(x - 20.5));
  s.hi95 = s.score.map((x) => digits(x + 20.5));
  s.state = s.setting.map((i) => (i % 3 ? 2 : 1));
  s.out_of_coverage = s.setting.map((i) => digits(some(i) / 10));
  s.diverged = s.setting.map(() => 0);
  s.runs = s.setting.map(() => 10);
  s.steps = s.setting.map(() => 150000);
  d.tied = [];
  d.winner.stage = "search";
  d.winner.setting = 7;
  d.curves.points = 20;
  d.curves.trial = s.setting.filter((i) => i % 4 === 3).slice(0, 2300);
  d.curves.mean = d.curves.trial.map((i) => Array.from({ length: 20 }, (_, p) => digits(s.score[i] * (1 + 1 / (p + 1)))));
  d.curves.spread = d.curves.trial.map((i) => Array.from({ length: 20 }, (_, p) => digits(10 + some(i + p))));
  return d;
}

function write(name, d) {
  const at = join(folder, name + ".study");
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "report.json"), JSON.stringify(d));
  execFileSync(program, ["report", at]);
  return join(at, "report.html");
}

// ---------------------------------------------------------------- a page in the browser

const chrome = await chromium.launch({
  executablePath: browser,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function visit(name, file, { width = 1200, scheme = "light", charts = true, most = Infinity, axes = false } = {}, more) {
  const context = await chrome.newContext({ offline: true, viewport: { width, height: 900 }, colorScheme: scheme, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage(), said = [], asked = [];
  page.on("console", (m) => said.push(`${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => said.push(`error: ${e.message}`));
  page.on("request", (r) => asked.push(r.url()));
  const begun = Date.now();
  await page.goto("file://" + file);
  const shown = Date.now() - begun;
  await page.waitForSelector("html[data-ready=yes]", { timeout: 60000, state: "attached" });
  const ready = Date.now() - begun;
  check(said.length === 0, `${name}: the console is clean`, said);
  check(asked.length === 1, `${name}: nothing else is loaded`, asked);
  const found = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - innerWidth,
    hacked: window.hacked !== undefined,
    foreign: document.querySelectorAll("main script, main img, main iframe, header script, header img").length,
    sections: document.querySelectorAll("main > section").length,
    title: document.title.length,
    charts: [...document.querySelectorAll(".chart")].map((box) => {
      const view = box.rehearseView;
      let marks = 0;
      const walk = (item) => {
        if (item.marktype && item.role === "mark" && item.marktype !== "group") marks += item.items.length;
        for (const child of item.items ?? []) walk(child);
      };
      if (view) walk(view.scenegraph().root);
      return { id: box.id, drawn: box.dataset.drawn === "yes", marks, plain: box.querySelectorAll("svg.plain").length, svg: box.querySelectorAll("svg").length, canvas: box.querySelectorAll("canvas").length };
    }),
  }));
  check(found.wide <= 0, `${name}: not wider than the window`, `by ${found.wide} px`);
  check(!found.hacked && found.foreign === 0, `${name}: names are text`, found);
  check(found.title > 0 && found.title < 400, `${name}: has a title`);
  const dull = found.charts.filter((c) => (charts ? !c.drawn || (!c.svg && !c.canvas) : c.svg && !c.plain));
  check(dull.length === 0, `${name}: every chart is drawn`, dull);
  if (charts && most === Infinity) {
    const empty = found.charts.filter((c) => c.marks === 0);
    check(empty.length === 0, `${name}: every chart has marks`, empty);
  }
  if (axes) {
    await page.evaluate(axe);
    const result = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
    check(result.violations.length === 0, `${name}: axe finds nothing (contrast included)`, result.violations.map((v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 140), v.nodes[0].any?.[0]?.message]));
  }
  await more?.(page, found);
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" })); // the header sticks to the top
  await page.screenshot({ path: join(folder, name + ".png"), fullPage: true });
  await context.close();
  console.log(`${name}: ${found.charts.length} charts, ${(statSync(file).size / 1e6).toFixed(2)} MB, shown after ${shown} ms, drawn after ${ready} ms`);
}

// ---------------------------------------------------------------- what a user does

async function use(page) {
  const about = page.locator(".selected"), before = await about.textContent();
  const curve = () => page.evaluate(() => document.getElementById("chart-curves").querySelector("svg").textContent);
  const lines = await curve();

  // a click on a mark selects its setting: one that is not drawn already
  const spot = await page.evaluate(() => {
    document.getElementById("chart-slice-0").scrollIntoView({ block: "center", behavior: "instant" });
    const shown = new Set([...document.getElementById("chart-curves").querySelector("svg").textContent.matchAll(/setting (\d+)/g)].map((m) => Number(m[1])));
    const dots = [...document.querySelectorAll("#chart-slice-0 .mark-symbol path")].filter((d) => !shown.has(d.__data__?.datum?.setting));
    const box = dots[0].getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, setting: dots[0].__data__.datum.setting };
  });
  await page.mouse.click(spot.x, spot.y);
  await page.waitForFunction((n) => document.getElementById("chart-curves").textContent.includes(`selected: setting ${n}`), spot.setting, { timeout: 10000 }).catch(() => {});
  check((await about.textContent()).includes(`Setting ${spot.setting}`) && (await about.textContent()) !== before, "a click on a mark selects its setting", spot);
  check((await curve()).includes(`selected: setting ${spot.setting}`) && (await curve()) !== lines, "the curve of the selected setting is drawn");

  // a button of the table, by keyboard
  const button = page.locator("#search button.pick").last(), trial = await button.textContent();
  await button.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((n) => document.querySelector(".selected").textContent.includes(`Setting ${n}`), trial, { timeout: 10000 }).catch(() => {});
  check((await about.textContent()).includes(`Setting ${trial}`), "Enter on a setting of the table selects it");
  check((await button.getAttribute("aria-pressed")) === "true", "the selected setting is marked in the table");

  // focus can be seen, on whatever the Tab key reaches
  await page.evaluate(() => document.activeElement.blur());
  let unseen = [];
  for (let i = 0; i < 14; i++) {
    await page.keyboard.press("Tab");
    const one = await page.evaluate(() => {
      const e = document.activeElement, s = getComputedStyle(e);
      return { tag: e.tagName, text: e.textContent.slice(0, 30), seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 };
    });
    if (!one.seen) unseen.push(one);
  }
  check(unseen.length === 0, "keyboard focus is visible", unseen);

  await page.locator("button.copy").first().click();
  await page.waitForFunction(() => [...document.querySelectorAll(".said")].some((s) => s.textContent), null, { timeout: 5000 }).catch(() => {});
  check((await page.locator(".said").allTextContents()).some((t) => /copied|selected/.test(t)), "Copy says what it did");

  await page.locator("#chart-pair").scrollIntoViewIfNeeded();
  await page.locator(".choosers select").first().selectOption("2");
  check(await page.waitForFunction(() => document.getElementById("chart-pair").textContent.includes("lambda"), null, { timeout: 10000 }).then(() => true, () => false), "the parameters of the pair can be chosen");

  // the policy refuses what a script that got in would try
  const refused = await page.evaluate(async () => {
    const s = document.createElement("script");
    s.textContent = "window.hacked = 1";
    document.body.append(s);
    s.remove();
    try { setTimeout("window.hacked = 2", 0); } catch { /* refused at once */ }
    await new Promise((go) => setTimeout(go, 100));
    return window.hacked === undefined;
  });
  check(refused, "the policy refuses other scripts and eval");
  const drawn = await page.evaluate(() => [...document.querySelectorAll("[id^=chart-replay-]")].map((box) => box.querySelectorAll(".mark-line path").length));
  check(drawn.length === real.models.replays.sensors.length + 1 && drawn.every((n) => n === 2 * real.models.replays.stretches.length), "every stretch has a logged and a replayed line for each sensor and the reward", drawn);
  check((await page.locator("#answer .copyable").first().textContent()).includes("rehearse deploy real.study/best.yaml"), "the next command deploys the setting");
  const pdf = await page.pdf({ format: "A4" });
  check(pdf.length > 20000, "prints");
}

// The verdict on a page: words, icon and colour of its level, reasons, evidence, what to log next.
const looksAt = (level, words, probability) => async (page, found) => {
  const box = page.locator("#believed"), text = (await box.textContent()) ?? "";
  check((await box.count()) === 1 && text.startsWith("Can it be believed?" + words), `${level}: the badge says it`, text);
  check(probability ? text.includes(probability) : text.includes("No probability"), `${level}: the probability`, text);
  const looks = await box.evaluate((e) => ({ colour: getComputedStyle(e.querySelector(".level")).color, path: e.querySelector("svg.icon path").getAttribute("d"), above: !!(e.compareDocumentPosition(document.querySelector("#answer .card, #answer .lead")) & 4) }));
  check(looks.above, `${level}: the verdict comes before the setting`);
  seen.set(level, looks);
  const reasons = await page.$$eval("#answer .reasons", (all) => all.map((e) => [e.className, e.children.length]));
  check(JSON.stringify(reasons) === JSON.stringify([["reasons against", 3], ["reasons for", 2], ["reasons against", 4]]), `${level}: three reasons, and all for and against`, reasons);
  const evidence = page.locator("#answer details", { hasText: "All reasons and the evidence: 2 for it, 4 against it" });
  check(!(await evidence.locator("table").isVisible()), `${level}: the evidence is folded`);
  await evidence.locator("summary").focus();
  await page.keyboard.press("Enter");
  check((await evidence.locator("tbody tr").allTextContents()).join("|").includes("rank_agreement_kinds0.91"), `${level}: the evidence opens by keyboard`);
  const next = await page.locator(".tabled", { hasText: "that would tell most" }).textContent();
  check(next.includes("x 0 to 0.25") && next.includes("level from 44.3") && next.includes("level below 1.18"), `${level}: an open side of a range is said`, next);
  await page.getByRole("button", { name: "Copy as CSV" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll(".said")].some((s) => s.textContent), null, { timeout: 5000 }).catch(() => {});
  const csv = await page.evaluate(() => navigator.clipboard.readText()).catch(() => "");
  check(csv.startsWith("action,steps,x from,x to,y from,y to,level from,level to,why\nopen,500,0,0.25,0,0.5,44.3,,the winner") && csv.split("\n").length === 4, `${level}: what to log next is copied as CSV`, csv);
};
const seen = new Map();

const page = join(folder, "real.study/report.html");
await visit("wide", page, { axes: true }, use);
await visit("dark", page, { scheme: "dark", axes: true });
await visit("narrow", page, { width: 390 });
await visit("trust-high", write("trust-high", trusting("high", 0.934)), { axes: true }, looksAt("high", "Trust: high", "93 %"));
await visit("trust-medium", write("trust-medium", trusting("medium", 0.7)), { scheme: "dark", axes: true }, looksAt("medium", "Trust: medium", "70 %"));
await visit("trust-low", write("trust-low", trusting("low", 0.004)), { width: 390, axes: true }, looksAt("low", "Trust: low", "less than 1 %"));
await visit("trust-none", write("trust-none", brief({ ...failed(), trust: verdict("cannot answer", null) })), { axes: true, most: 0 }, looksAt("cannot answer", "This log cannot answer", null));
check(new Set([...seen.values()].map((x) => x.path)).size === 4, "every level has an icon of its own");
check(new Set([seen.get("high"), seen.get("low"), seen.get("cannot answer")].map((x) => x.colour)).size === 3, "and a colour of its own", [...seen]);
await visit("trust-missing", write("trust-missing", Object.assign(copy(), { trust: undefined })), {}, async (page) =>
  check((await page.locator("#believed").count()) === 0 && (await page.locator("#answer .card").count()) === 1, "a study without a verdict has its answer"));

// The three questions: what is said, in which order, on one scale.
const TEXT = { yes: "Yes: -41.3 per episode at the end of a run, -53 by the logged controller. Learning has paid for itself after 2450 steps.", no: "No: the rest.", "not known": "Not known: -41.3 per episode at the end of a run (within the error of the models)." };
const answered = (better, often, more = {}) => brief(Object.assign(copy(), {
  logged: { score: -53, lo95: -70, hi95: -36 }, findings: [], score_per: "episode",
  today: { better, text: TEXT[better], learning: { score: -62.4, lo95: -70.2, hi95: -52.1 }, end: { score: -41.3, lo95: -47, hi95: -35 }, defaults: { score: -74.6, lo95: -80, hi95: -70 }, caught_up: 0.7, catch_up: 2450 },
  failures: { rule: { known: true, words: "an episode that ends with a reward below -30" }, text: `${often[0]?.toUpperCase()}${often.slice(1)} than the logged controller: 22 % of episodes, 45.5 % of episodes in the log (5 of 11). A failure is …`, per: "episode", first: { rate: 0.612, lo95: 0.55, hi95: 0.67 }, all: { rate: 0.22, lo95: 0.19, hi95: 0.25 }, last: { rate: 0.0851, lo95: 0.06, hi95: 0.12 }, defaults: { rate: 0.5, lo95: 0.4, hi95: 0.6 }, logged: { rate: 5 / 11, lo95: 0.21, hi95: 0.72 }, often },
}, more));
const asks = (...parts) => async (page) => {
  const all = await page.$$eval("#answer > .question", (list) => list.map((e) => e.textContent));
  check(all.length >= 2 && all[0].startsWith("Is it better than today?") && all[1].startsWith("How often does it fail?"), "the questions come in their order", all);
  for (const part of parts) check(all.join("|").includes(part), `the page says: ${part}`, all.join("|"));
  const places = await page.$$eval(".dots", (list) => list.map((e) => ({ id: e.id, dots: [...e.querySelectorAll("circle")].map((c) => c.getBoundingClientRect().x), inside: [...e.querySelectorAll("circle, .span")].every((c) => { const b = c.getBoundingClientRect(), box = c.closest(".track").getBoundingClientRect(); return b.left >= box.left - 8 && b.right <= box.right + 8; }), labels: e.querySelectorAll(".axis text").length })));
  const touching = await page.$$eval(".dots .axis", (list) => list.flatMap((e) => [...e.querySelectorAll("text")].map((t) => t.getBoundingClientRect()).filter((b, i, all) => i && b.left < all[i - 1].right + 4)).length);
  check(touching === 0, "numbers of a scale do not touch", touching);
  check(places.every((p) => p.inside && p.labels >= 2), "dots and intervals are on the scale, which has numbers", places);
  const order = places[0].dots;
  check(order[0] > order[3] && order[3] > order[1] && order[1] > order[2], "the scores lie as they are on one scale", places);
  if (page.viewportSize().width > 1000) check(await page.$eval("#believed .level", (e) => e.getBoundingClientRect().bottom <= innerHeight), "three answers without scrolling");
};

await visit("answer-yes", write("answer-yes", answered("yes", "less often")), { axes: true }, asks("today?Yes−41.3 per episode at the end of a run", "Learning has paid for itself after 2450 steps.", "22 % of episodes today 45 %", "Less often than the logged controller.", "A failure is an episode that ends with a reward below -30.", "8.5 %"));
await visit("answer-no", write("answer-no", answered("no", "far more often", { findings: [{ origin: "log", severity: "error", id: "row-shift", evidence: "energy is an effect", remedy: "move it", count: 1 }, { origin: "log", severity: "warning", id: "frozen", evidence: "temp", remedy: "look", count: 1 }, { origin: "study", severity: "warning", id: "at-bound", evidence: "alpha", remedy: "search wider", count: 1 }] })), { width: 390, scheme: "dark", axes: true }, async (page) => {
  await asks("today?NoThe rest.", "Far more often than the logged controller.")(page);
  const top = await page.$$eval("#page > *", (list) => list.slice(0, 3).map((e) => [e.className || e.id, e.textContent]));
  check(top[0][0] === "alerts error" && top[0][1].includes("The log has 1 error") && top[0][1].includes("move it") && top[1][0] === "alerts warning" && top[2][0] === "answer", "errors of the log come before everything", top);
  check((await page.locator("#answer .findings li").allTextContents()).join("|").includes("at-bound") && !(await page.locator("#answer .findings").textContent()).includes("row-shift"), "findings of the log are said once");
  check((await page.locator("#answer .card .label").textContent()).startsWith("The best setting found"), "what is worse than today is not called for deployment");
});
await visit("answer-open", write("answer-open", answered("not known", "about as often")), { width: 720, scheme: "dark", axes: true }, asks("today?Not known−41.3 per episode", "About as often than the logged controller: the intervals overlap."));
const steps = real.curves.steps / real.curves.points; // of a point
await visit("continuing", write("continuing", Object.assign(answered("yes", "less often"), { score_per: "steps", score_steps: 10 * steps, logged: { score: -530, lo95: -700, hi95: -360 }, failures: { ...answered("yes", "more often").failures, per: "1000 steps", all: { rate: 19.8, lo95: 6.7, hi95: 21.4 } } })), {}, async (page) => {
  check((await page.locator("#better").textContent()).includes(`per ${10 * steps} steps`) && (await page.locator("#curves").textContent()).includes(`Reward per ${steps} steps while learning`), "a curve of a continuing task has the unit of its points");
  check(await page.evaluate(() => document.getElementById("chart-curves").rehearseView.data("source_0").some((r) => r.name === "logged controller, today" && Math.abs(r.mean + 53) < 1e-9)), "the logged controller is in the learning curves, in their unit");
  check((await page.locator("#fails").textContent()).includes("20 in 1,000 steps") && (await page.locator("#fails").textContent()).includes("More often than the logged controller."), "failures in 1,000 steps");
  check((await page.locator("#better.medium").count()) === 1, "better, but failing more often, is no plain yes");
});
await visit("answer-old", write("answer-old", brief(Object.assign(copy(), { today: undefined, failures: undefined }))), {}, async (page) =>
  check((await page.locator("#better").count()) === 1 && (await page.locator("#fails").count()) === 0 && (await page.locator("#compared li").count()) >= 3, "a study of an older version shows what it has"));
await visit("hostile", write("hostile", hostile()), { most: 0, axes: true }, async (page) => {
  check((await page.locator("#believed .level").textContent()) === "This log cannot answer", "an unknown level is none");
  check((await page.locator("#believed").textContent()).includes("No probability"), "NaN is no probability");
  check((await page.locator("#better.none").count()) === 1, "an unknown answer is none");
  await page.getByRole("button", { name: "Copy as CSV" }).click();
  const csv = await page.evaluate(() => navigator.clipboard.readText()).catch(() => "");
  check(csv.split("\n")[1]?.startsWith(`"'=1+1,""`), "a formula is text in the CSV", csv.slice(0, 300));
});
try {
  const at = join(folder, "nan.study");
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "report.json"), JSON.stringify({ ...copy(), trust: verdict("high", 0.123456) }).replace("0.123456", "NaN"));
  execFileSync(program, ["report", at], { stdio: "pipe" });
  check(false, "NaN in report.json is refused");
} catch (fault) {
  check(fault.status === 2 && /report\.json/.test(String(fault.stderr)), "NaN in report.json is refused with its file", String(fault.stderr));
}
await visit("hostile-narrow", join(folder, "hostile.study/report.html"), { width: 390, most: 0 });
await visit("one-trial", write("one-trial", only(copy(), 1)), { most: 0 });
await visit("none", write("none", { ...only(copy(), 0), finished: false }), { most: 0 });
await visit("failed", write("failed", failed()), { most: 0 });
await visit("nothing", write("nothing", { report: 1 }), { most: 0 });
const big = write("large", large(10000));
check(statSync(big).size < 3e6, "10,000 trials are less than 3 MB", statSync(big).size);
await visit("large", big, {});
execFileSync(program, ["report", "--compare", join(folder, "real.study"), join(folder, "hostile.study"), "-o", join(folder, "compared.html")]);
await visit("compared", join(folder, "compared.html"), { most: 0 }, async (page) => {
  const heads = await page.$$eval("thead", (all) => all.map((head) => head.textContent));
  check(heads.length >= 3 && heads.every((text) => text.includes("1 real")), "every table of a comparison names the studies", heads);
});

// pages of a build without the chart library: every chart has marks, and numbers along both axes
function without(name, page) {
  const html = readFileSync(page, "utf8"), from = html.indexOf("<script>/*!"), plain = join(folder, name + ".html");
  writeFileSync(plain, html.slice(0, from) + html.slice(html.indexOf("</script>", from) + 9));
  return plain;
}
async function plainCharts(page) {
  const all = await page.$$eval("svg.plain", (list) => list.map((s) => ({
    id: s.parentNode.id, marks: s.querySelectorAll("circle, polyline").length, nan: /NaN|Infinity|undefined/.test(s.outerHTML),
    across: [...s.querySelectorAll("text[text-anchor=middle]")].length, up: [...s.querySelectorAll("text[text-anchor=end]")].length,
    outside: [...s.querySelectorAll("text")].filter((t) => { const b = t.getBBox(); return b.x < -1 || b.x + b.width > s.viewBox.baseVal.width + 14; }).map((t) => t.textContent) })));
  const poor = all.filter((s) => !s.marks || s.nan || s.across < 2 || s.up < 2 || s.outside.length);
  check(all.length > 10 && poor.length === 0, "plain charts have marks and labelled axes", poor);
}
await visit("plain", without("plain", page), { charts: false }, async (page) => {
  await plainCharts(page);
  check(await page.$eval("#chart-curves", (e) => e.querySelectorAll("polygon").length === 1 && e.querySelectorAll(".key li").length >= 3 && e.textContent.includes("steps in the environment")), "the plain learning curves have names and a band");
});
await visit("plain-dark-narrow", without("plain-dark-narrow", page), { charts: false, width: 390, scheme: "dark" }, plainCharts);
await visit("plain-hostile", without("plain-hostile", join(folder, "hostile.study/report.html")), { charts: false });
await visit("plain-large", without("plain-large", big), { charts: false }, plainCharts);

// ---------------------------------------------------------------- the paper's experiments

// The page of another paper.json: data is not part of the policy.
function paperPage(name, change) {
  const page = readFileSync(join(folder, "battery/index.html"), "utf8"), file = join(folder, name + ".html");
  const d = JSON.parse(readFileSync(join(folder, "battery/paper.json"), "utf8"));
  change(d);
  const text = JSON.stringify(d).replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  writeFileSync(file, page.replace(/(class="paper">)[^]*?(<\/script>)/, (_, a, b) => a + text + b));
  return file;
}

const some = (n) => Array.from({ length: n }, (_, i) => -100 - 50 * Math.abs(Math.sin(i * 7.7)));
const paperFigure = (draw, names) => ({ experiment: "theory", id: "x-" + draw, title: names[0], about: names[0], draw, best: -100, series: names.map((name, k) => ({ name, y: [...some(30), null, -1000 - k], released: k ? [null, null, null] : [-130, -120, -110] })) });
const kinds = (names) => ["box", "bar", "dots"].map((draw) => paperFigure(draw, names));
const claims = ["holds", "does not hold", "not decided"].map((verdict, k) => ({ id: `9.${k}`, experiment: "theory", sentence: "a sentence", rule: "a rule", measured: "a number", verdict, value: k, lo95: -k, hi95: null, logs: 30 }));
const battery = paperPage("battery-all", (d) => { d.figures.push(...kinds(["kNN", "NN", "Random"])); d.claims.push(...claims); });
await visit("paper", join(folder, "battery/index.html"), { axes: true });
await visit("paper-all", battery, { axes: true });
const far = paperPage("battery-far", (d) => { d.figures.push({ ...paperFigure("box", ["kNN", "NN", "FQI", "Random"]), id: "exp1-x", best: -100, series: [["kNN", -120, 4], ["NN", -140, 60], ["FQI", -1600, 1500], ["Random", -300, 400]].map(([name, y, spread]) => ({ name, y: some(30).map((_, i) => y - spread * Math.abs(Math.sin(i))) })) }); });
const twoAxes = async (page) => {
  const lowest = await page.evaluate(() => ["chart-exp1-x", "chart-exp1-x-near"].map((id) => Math.min(...[...document.querySelectorAll(`#${id} text`)].map((t) => Number(t.textContent.replace("−", "-").replace(",", ""))).filter((x) => x < 0))));
  check(lowest[0] < -1000 && lowest[1] > -300 && lowest[1] < -120, "boxes of good choices have a second axis", lowest);
};
await visit("paper-far", far, { axes: true }, twoAxes);
await visit("plain-paper-far", without("plain-paper-far", far), { charts: false }, twoAxes);
await visit("paper-dark", battery, { scheme: "dark", axes: true });
await visit("paper-narrow", battery, { width: 390 });
await visit("paper-hostile", paperPage("battery-hostile", (d) => {
  d.figures.push(...kinds([EVIL, LONG, RTL]), { ...paperFigure("box", [EVIL]), series: [] });
  d.claims.push({ ...claims[0], id: EVIL, sentence: LONG, rule: EVIL, measured: RTL, verdict: EVIL, value: 1e308 });
  d.facts.push({ experiment: "theory", what: EVIL, ours: null, error: 1e-300, released: 1e308, note: LONG });
  d.experiments[0].title = d.experiments[0].about = d.command = EVIL;
}), { most: 0, axes: true });

await chrome.close();
console.log(`${ncheck} checks, ${nfault} failed; pages and screenshots are in ${folder}`);
process.exit(nfault ? 1 : 0);
