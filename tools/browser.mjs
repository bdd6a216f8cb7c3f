// The plain-Python wheel in Pyodide, the Python of browsers, under Node; tools/browser runs this.
//
//     node browser.mjs PYODIDE WHEEL PACKAGES PROGRAM
//
// PYODIDE: npm's package. PACKAGES: a folder with wheels of numpy and gmpy2 for it; "": Pyodide's own, which it
// fetches. The program finds the folder where we are started at /work, and `random` in the module js: how many
// bytes were asked of the system, and `broken`, for it to have none.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [pyodide, wheel, packages, program] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const system = require("node:crypto");

// What stands in for crypto.getRandomValues under Node.
const fill = system.randomFillSync;
globalThis.random = { bytes: 0, broken: false };
system.randomFillSync = (view) => {
  if (globalThis.random.broken) throw new Error("no randomness");
  globalThis.random.bytes += view.byteLength;
  return fill(view);
};

try {
  const { loadPyodide } = require(resolve(pyodide, "pyodide.js"));
  const py = await loadPyodide();
  const wheels = packages ? readdirSync(packages).filter((name) => name.endsWith(".whl")) : [];
  const needed = packages ? wheels.map((name) => resolve(packages, name)) : ["numpy", "gmpy2"];
  await py.loadPackage(needed, { messageCallback: () => {} });
  if (!packages && !("gmpy2" in py.loadedPackages && "numpy" in py.loadedPackages)) process.exit(77);
  await py.loadPackage(resolve(wheel), { messageCallback: () => {} });
  py.FS.mkdir("/work");
  py.FS.mount(py.FS.filesystems.NODEFS, { root: process.cwd() }, "/work");
  await py.runPythonAsync(readFileSync(program, "utf8"), { filename: program });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
