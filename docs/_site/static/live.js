// A notebook's page runs in the reader's browser: conf.py adds this where the site was told an address of Pyodide.
const script = document.querySelector("script[data-pyodide]");
const { pyodide, wheel } = script.dataset;
const cells = [...document.querySelectorAll("div.cell")].filter((cell) => cell.querySelector(".cell_input pre"));

// Makes HTML of a cell's value and figures.
const SHOWN = `
def shown(value):
    import base64, html, io, sys

    parts = []
    if value is not None:
        made = getattr(value, "_repr_html_", None)
        parts.append(made() if made else f"<pre>{html.escape(repr(value))}</pre>")
    if plt := sys.modules.get("matplotlib.pyplot"):
        for number in plt.get_fignums():
            picture = io.BytesIO()
            plt.figure(number).savefig(picture, bbox_inches="tight")
            text = base64.b64encode(picture.getvalue()).decode()
            parts.append(f'<img alt="" src="data:image/png;base64,{text}">')
        plt.close("all")
    return "".join(parts)
shown`;

const pre = (text) => Object.assign(document.createElement("pre"), { textContent: text });
let started; // once: what runs a cell

async function start() {
  const { loadPyodide } = await import(new URL("pyodide.mjs", new URL(pyodide, document.baseURI)));
  const py = await loadPyodide({ env: { MPLBACKEND: "agg", PYTHONWARNINGS: "ignore" } });
  await py.loadPackage(["numpy", "gmpy2", new URL(wheel, script.src).href]);
  // Plan.count imports it, cells do not; without it that call alone says what is missing
  await py.loadPackage("narwhals").catch(() => {});
  const shown = py.runPython(SHOWN, { globals: py.toPy({}) });
  return async (cell) => {
    const code = cell.querySelector(".cell_input pre").innerText;
    const output = cell.querySelector(".cell_output") ?? cell.appendChild(document.createElement("div"));
    output.className = "cell_output";
    let text = "";
    py.setStdout({ batched: (line) => (text += `${line}\n`) });
    try {
      await py.loadPackagesFromImports(code, { messageCallback: () => {} });
      output.innerHTML = shown(py.runPython(code));
      if (text) output.prepend(pre(text));
      return true;
    } catch (error) {
      output.replaceChildren(pre(text + error.message));
      return false;
    }
  };
}

async function run(chosen) {
  button.disabled = true;
  button.textContent = "Python is running ...";
  try {
    const cell = await (started ??= start());
    for (const one of chosen) {
      await new Promise((next) => setTimeout(next)); // the page is drawn between cells
      if (!(await cell(one))) break;
    }
    button.textContent = "Run all cells again";
  } catch (error) {
    started = undefined;
    button.textContent = `Python did not start: ${error.message}`;
  }
  button.disabled = false;
}

const button = Object.assign(document.createElement("button"), {
  textContent: "Run this page here",
  title: "Python starts in your browser: some 30 MB, once. Tables and draws stay there.",
  onclick: () => run(cells),
});
if (cells.length) {
  document.querySelector("h1").after(button, " Change a cell, then Ctrl-Enter runs it: in plain Python, whose draws take a thousand times as long as installed.");
  for (const cell of cells) {
    const code = cell.querySelector(".cell_input pre");
    code.contentEditable = "plaintext-only";
    code.onkeydown = (event) => {
      if (event.key === "Enter" && event.ctrlKey && !button.disabled) run([cell]);
    };
  }
}
