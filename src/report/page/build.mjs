// build.mjs - bundles charts.js with the chart library into one minified file, which begins with
// the licences of the packages in it.
//
//     node build.mjs OUT.js

import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const result = await build({
  entryPoints: [join(here, "charts.js")],
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  write: false,
  logLevel: "warning",
});

// "node_modules/@scope/name" of every package in the bundle
const inputs = Object.keys(result.metafile.inputs);
const folders = new Set(inputs.map((path) => path.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0]));
folders.delete(undefined);

const byText = new Map();
for (const folder of [...folders].sort()) {
  const about = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
  const file = readdirSync(join(here, folder)).find((name) => /^licen[cs]e/i.test(name));
  const text = file ? readFileSync(join(here, folder, file), "utf8").trim() : about.license;
  byText.set(text, [...(byText.get(text) ?? []), `${about.name} ${about.version}`]);
}
const notices = [...byText].map(([text, names]) => `${names.join(", ")}:\n\n${text}`);
const banner = `/*!\n${notices.join("\n\n----\n\n").replaceAll("*/", "* /").replaceAll("</", "< /")}\n*/\n`;
const code = result.outputFiles[0].text;
if (/<\/script|<!--/i.test(banner + code)) throw new Error("the bundle cannot stand in a script element");
writeFileSync(process.argv[2], banner + code);
