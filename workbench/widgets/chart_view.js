const MEMORY = "workbenchVega";
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

function memory() {
  if (!globalThis[MEMORY]) {
    const entry = {page: crypto.getRandomValues(new Uint32Array(2)).join("-"), next: 0, settled: false};
    entry.ready = new Promise((resolve, reject) => Object.assign(entry, {resolve, reject}));
    entry.ready.then(() => { entry.settled = true; }, () => { delete globalThis[MEMORY]; });
    globalThis[MEMORY] = entry;
  }
  return globalThis[MEMORY];
}

async function unpack(buffer) {
  const stream = new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"));
  const source = await new Response(stream).text();
  const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
  try {
    const vegaEmbed = (await import(url)).default;
    const empty = {mark: "point", data: {values: []}};
    const probe = await vegaEmbed(document.createElement("div"), empty, {actions: false});
    probe.finalize();
    return {vegaEmbed, View: probe.view.constructor};
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function library(model, gone) {
  const entry = memory();
  for (let wait = 500; !entry.settled && !gone(); wait = Math.min(2 * wait, 8000)) {
    if (performance.now() >= entry.next) {
      entry.next = performance.now() + wait;
      model.send({kind: "bundle", page: entry.page});
    }
    await Promise.race([entry.ready, pause(wait)]);
  }
  return entry.ready;
}

function isDark() {
  const light = document.body.dataset.jpThemeLight;
  return light ? light === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function overlay(base, top) {
  const both = (key) => [base?.[key], top[key]].every(value => value?.constructor === Object);
  const merged = {...base};
  for (const key of Object.keys(top)) merged[key] = both(key) ? overlay(base[key], top[key]) : top[key];
  return merged;
}

function specification(model, dark) {
  const spec = structuredClone(model.get("spec"));
  const {data, params} = structuredClone(model.get("picture"));
  const look = dark ? overlay(spec.config, model.get("dark")) : spec.config;
  spec.config = {...look, aria: false, background: "transparent"};
  spec.datasets = data;
  for (const param of spec.params ?? []) {
    if (param.name in params) param.value = params[param.name];
  }
  return spec;
}

function recording(View) {
  const failures = [];
  const log = {level: () => log, info: () => log, debug: () => log,
    warn: (...text) => { console.warn(...text); return log; },
    error: (...text) => { failures.push(text.map(part => part.message ?? part).join(" ")); return log; }};
  class RecordingView extends View {
    constructor(spec, options) { super(spec, {...options, logger: log}); }
  }
  const check = () => { if (failures.length) throw new Error(failures.splice(0).join("; ")); };
  return {RecordingView, check};
}

function feed(view, picture) {
  for (const [name, rows] of Object.entries(structuredClone(picture.data))) {
    view.change(name, view.changeset().remove(() => true).insert(rows));
  }
  for (const [name, value] of Object.entries(picture.params)) view.signal(name, value);
  return view.runAsync();
}

function name(element, alternative) {
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", alternative);
}

function label(picture, alternative) {
  for (const part of picture.querySelectorAll("[aria-label], [aria-roledescription]")) {
    for (const key of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(key);
  }
  name(picture, alternative);
  picture.querySelectorAll("svg").forEach(svg => name(svg, alternative));
}

function outermost(el) {
  for (let box = el; ;) {
    const next = box.parentElement?.closest(".widget-box");
    if (!next) return box;
    box = next;
  }
}

function nameSliders(box) {
  for (const row of box.querySelectorAll(".widget-inline-hbox")) {
    const text = row.querySelector(".widget-label")?.textContent.trim();
    const handles = text ? [...row.querySelectorAll("[role=slider]")] : [];
    handles.forEach((handle, index) => {
      const end = handles.length > 1 ? [", lower end", ", upper end"][index] : "";
      if (handle.getAttribute("aria-label") !== text + end) handle.setAttribute("aria-label", text + end);
    });
  }
}

async function watchSliders(el, observer, gone) {
  while (!el.isConnected && !gone()) await pause(50);
  if (gone()) return;
  const box = outermost(el);
  nameSliders(box);
  observer.observe(box, {childList: true, subtree: true, characterData: true});
}

function build(el) {
  const [figure, picture, line] = ["div", "div", "p"].map(tag => document.createElement(tag));
  figure.className = "workbench-chart";
  line.setAttribute("aria-live", "polite");
  figure.append(picture, line);
  el.append(figure);
  return {picture, line};
}

function initialize({model}) {
  model.on("msg:custom", (content, buffers) => {
    if (content.kind === "bundle") unpack(buffers[0]).then(memory().resolve, memory().reject);
    if (content.kind === "trouble") memory().reject(new Error(content.text));
  });
}

function render({model, el}) {
  const {picture, line} = build(el);
  let result = null, dark = null, busy = false, again = false, ended = false;
  const gone = () => ended;

  async function embed({vegaEmbed, View}) {
    const wanted = isDark();
    const stage = document.createElement("div");
    stage.className = "next";
    picture.append(stage);
    const {RecordingView, check} = recording(View);
    const options = {renderer: "svg", actions: false, viewClass: RecordingView};
    const made = await vegaEmbed(stage, specification(model, wanted), options);
    if (ended) return made.finalize();
    result?.finalize();
    stage.classList.remove("next");
    picture.replaceChildren(stage);
    [result, dark] = [{...made, check}, wanted];
  }

  async function drawOnce() {
    const vega = await library(model, gone);
    if (ended) return;
    const {alternative} = model.get("picture");
    if (result && dark === isDark()) await feed(result.view, model.get("picture"));
    else await embed(vega);
    if (ended) return;
    result.check();
    label(picture, alternative);
    if (line.textContent !== alternative) line.textContent = alternative;
  }

  function complain(error) {
    console.error(error);
    result?.finalize();
    result = null;
    picture.removeAttribute("role");
    picture.removeAttribute("aria-label");
    const text = document.createElement("p");
    text.className = "trouble";
    text.setAttribute("role", "alert");
    text.textContent = `This chart could not be drawn. ${error.message ?? error}`;
    picture.replaceChildren(text);
    line.textContent = model.get("picture").alternative;
  }

  async function draw() {
    again = true;
    if (busy) return;
    busy = true;
    while (again && !ended) {
      again = false;
      try {
        await drawOnce();
      } catch (error) {
        if (!ended) complain(error);
      }
    }
    busy = false;
  }

  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const body = new MutationObserver(() => { if (dark !== isDark()) draw(); });
  const sliders = new MutationObserver(() => nameSliders(outermost(el)));
  body.observe(document.body, {attributes: true, attributeFilter: ["data-jp-theme-light"]});
  scheme.addEventListener("change", draw);
  model.on("change:picture", draw);
  line.textContent = "The chart is being drawn …";
  watchSliders(el, sliders, gone);
  draw();

  return () => {
    ended = true;
    model.off("change:picture", draw);
    scheme.removeEventListener("change", draw);
    body.disconnect();
    sliders.disconnect();
    result?.finalize();
  };
}

export default {initialize, render};
