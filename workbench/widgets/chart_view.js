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

function isHeading(title) {
  return title?.text?.expr === HEADING;
}

function specification(model, dark) {
  const spec = structuredClone(model.get("spec"));
  const {data, params} = structuredClone(model.get("picture"));
  const look = dark ? overlay(spec.config, model.get("dark")) : spec.config;
  spec.config = {...look, aria: false, background: "transparent"};
  spec.datasets = data;
  if (isHeading(spec.title)) delete spec.title;
  for (const param of spec.params ?? []) {
    if (param.name in params) param.value = params[param.name];
  }
  return spec;
}

function headingOf(model) {
  const {params, title} = model.get("spec");
  if (!isHeading(title)) return "";
  const first = params.find(param => param.name === HEADING).value;
  return (model.get("picture").params[HEADING] ?? first).join(" ");
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

async function feed(result, picture) {
  const {view} = result;
  for (const [name, rows] of Object.entries(structuredClone(picture.data))) {
    view.change(name, view.changeset().remove(() => true).insert(rows));
  }
  for (const [name, value] of Object.entries(picture.params)) view.signal(name, value);
  await view.runAsync();
  if (cut(result)) await view.resize().runAsync();
}

function label(picture, alternative) {
  for (const part of picture.querySelectorAll("[aria-label], [aria-roledescription]")) {
    for (const key of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(key);
  }
  for (const part of [picture, picture.querySelector("svg")]) {
    part.setAttribute("role", "img");
    part.setAttribute("aria-label", alternative);
  }
}

function unlabel(picture) {
  for (const key of ["role", "aria-label"]) picture.removeAttribute(key);
}

function say(line, text) {
  if (line.textContent !== text) line.textContent = text;
}

function element(tag, name) {
  const made = document.createElement(tag);
  made.className = name;
  return made;
}

function build(el) {
  const figure = element("div", "workbench-chart");
  const tags = {heading: "p", picture: "div", words: "p", pinned: "p", tools: "div"};
  const parts = Object.fromEntries(Object.entries(tags).map(([name, tag]) => [name, element(tag, name)]));
  for (const name of ["words", "pinned"]) parts[name].setAttribute("aria-live", "polite");
  figure.dataset.lmSuppressShortcuts = "true";      // JupyterLab's: arrow keys would leave the cell
  figure.append(...Object.values(parts));
  el.append(figure);
  return {figure, ...parts};
}

function initialize({model}) {
  model.on("msg:custom", (content, buffers) => {
    if (content.kind === "bundle") unpack(buffers[0]).then(memory().resolve, memory().reject);
    if (content.kind === "trouble") memory().reject(new Error(content.text));
  });
}

function render({model, el}) {
  const parts = build(el), {figure, heading, picture, words} = parts;
  let result = null, running = null, again = false, ended = false, unseen = false;
  const gone = () => ended;
  const touch = touching(picture, model, () => result, () => running);
  const pin = pinning(parts, model);

  async function embed({vegaEmbed, View}, look) {
    const stage = element("div", "next");
    picture.append(stage);
    const {RecordingView, check} = recording(View);
    const options = {renderer: "svg", actions: false, viewClass: RecordingView};
    const made = await fitted(stage, specification(model, look.dark), look, result?.fit,
      spec => vegaEmbed(stage, spec, options));
    if (ended) return made.finalize();
    result?.finalize();
    stage.classList.remove("next");
    picture.replaceChildren(stage);
    picture.style.minHeight = "";
    result = {...made, check, look};
  }

  async function drawOnce() {
    const vega = await library(model, gone);
    if (ended) return;
    const shown = model.get("picture"), look = lookOf(figure);
    // JupyterLab hides everything for a moment when its theme changes
    look.width ||= result?.look.width ?? 0;
    unseen = !look.width;
    if (unseen) return setTimeout(looked, 1000);
    figure.classList.toggle("blank", shown.blank);
    if (shown.blank) return blank();
    touch.remember();
    if (result && picture.contains(result.stage) && sameLook(result.look, look)) await feed(result, shown);
    else await embed(vega, look);
    if (!ended && tooWide(result)) await embed(vega, look);
    if (ended) return;
    result.check();
    label(picture, shown.alternative);
    touch.renew();
    pin.renew(shown.alternative);
    say(heading, headingOf(model));
    say(words, shown.alternative);
  }

  function blank() {
    picture.style.minHeight = `${picture.offsetHeight}px`;
    forget();
    for (const line of [heading, words]) say(line, "");
  }

  function forget() {
    result?.finalize();
    result = null;
    unlabel(picture);
    picture.replaceChildren();
  }

  function complain(error) {
    console.error(error);
    forget();
    const text = element("p", "trouble");
    text.setAttribute("role", "alert");
    text.textContent = `This chart could not be drawn. ${error.message ?? error}`;
    picture.append(text);
    say(heading, headingOf(model));
    say(words, model.get("picture").alternative);
  }

  async function drawAll() {
    while (again && !ended) {
      again = false;
      try {
        await drawOnce();
      } catch (error) {
        if (!ended) complain(error);
      }
    }
    running = null;
  }

  function draw() {
    again = true;
    running ??= drawAll();
  }

  function looked() {
    const look = lookOf(figure);
    if (unseen || (result && !sameLook(result.look, {...look, width: look.width || result.look.width}))) draw();
  }

  words.textContent = "The chart is being drawn …";
  const endings = [touch.end, addTools(parts, model, pin), onLook(figure, looked)];
  nameControls();
  model.on("change:picture", draw);
  draw();

  return () => {
    ended = true;
    model.off("change:picture", draw);
    endings.forEach(end => end());
    result?.finalize();
  };
}

export default {initialize, render};
