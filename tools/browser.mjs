// Run the plain-Python wheel in Pyodide, the Python of browsers, under Node; tools/browser calls this.
//
//     node browser.mjs PYODIDE WHEEL PACKAGES PROGRAM
//
// PYODIDE is npm's package. PACKAGES is a folder with wheels of numpy and gmpy2 for it; if it is "", Pyodide fetches
// its own. The program finds the current folder at /work. `random` of the module js has the number of bytes that the
// system was asked for, and `broken`, which makes the system fail.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [pyodide, wheel, packages, program] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const system = require("node:crypto");

// A counting crypto.getRandomValues for Node.
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
