const SPACE = "http://www.w3.org/2000/svg";
const [TOP, BOTTOM, LEFT, RIGHT, HEIGHT] = [34, 44, 52, 56, 320];
const percent = share => `${(100 * share).toFixed(1)}%`;

function make(kind, attributes, parent, text) {
  const made = document.createElementNS(SPACE, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function scales({low, high, truth}, width) {
  const across = index => LEFT + index * (width - LEFT - RIGHT) / (truth.length - 1);
  const up = share => HEIGHT - BOTTOM - (share - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
  const back = (x, y) => [(x - LEFT) * (truth.length - 1) / (width - LEFT - RIGHT),
    low + (HEIGHT - BOTTOM - y) / (HEIGHT - TOP - BOTTOM) * (high - low)];
  return {across, up, back, path: line => line.map((share, index) => `${across(index)},${up(share)}`).join(" ")};
}

function ground(svg, setting, width) {
  const {across, up, path} = scales(setting, width);
  make("text", {x: 8, y: 16}, svg, setting.title);
  for (let share = setting.low; share < setting.high + 1e-9; share += 0.05) {
    make("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: up(share), y2: up(share)}, svg);
    make("text", {x: LEFT - 8, y: up(share) + 5, "text-anchor": "end"}, svg, `${Math.round(100 * share)}%`);
  }
  setting.truth.forEach((_, index) => make("text", {x: across(index), y: HEIGHT - BOTTOM + 20,
    "text-anchor": "middle"}, svg, index + 1));
  make("text", {x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle"}, svg,
    setting.period.toLowerCase());
  make("polyline", {class: "truth", points: path(setting.truth)}, svg);
  const last = setting.truth.length - 1;
  make("text", {x: across(last) + 8, y: up(setting.truth[last]) + 5}, svg, "truth");
}

function within(share, {low, high, step}) {
  const stepped = low + Math.round((share - low) / step) * step;
  return Number(Math.min(high, Math.max(low, stepped)).toFixed(6));
}

function said(line, {period, start}, touched) {
  const low = period.toLowerCase();
  if (!touched) {
    return `Now it is a flat line at ${percent(start)}. Drag it into your shape, or press Tab and use the arrow keys: `
      + `left and right choose a ${low}, up and down move it, with Shift all later ones too.`;
  }
  const middle = Math.floor(line.length / 2);
  return `Your line: ${[0, middle - 1, line.length - 1].map(k => `${percent(line[k])} in ${low} ${k + 1}`).join(", ")}.`;
}

function render({model, el}) {
  const setting = model.get("setting"), count = setting.truth.length;
  const box = document.createElement("div"), note = document.createElement("p");
  box.className = "workbench-line";
  box.dataset.lmSuppressShortcuts = "true";
  note.setAttribute("aria-live", "polite");
  const svg = make("svg", {role: "group", height: HEIGHT}, box);
  box.append(note);
  el.append(box);
  let line = [], width = 0, drawn = null, points = [], chosen = 0, pressed = null;

  function show() {
    const {across, up, path} = scales(setting, width), off = model.get("disabled");
    const touched = model.get("value") !== null || pressed !== null;
    drawn.setAttribute("points", path(line));
    drawn.setAttribute("class", touched ? "drawn" : "drawn untouched");
    svg.setAttribute("aria-disabled", off);
    points.forEach((point, index) => {
      point.setAttribute("cy", up(line[index]));
      point.setAttribute("cx", across(index));
      point.setAttribute("aria-valuenow", (100 * line[index]).toFixed(2));
      point.setAttribute("aria-valuetext", percent(line[index]));
      point.setAttribute("aria-disabled", off);
      point.setAttribute("tabindex", index === chosen ? 0 : -1);
    });
    const text = off ? said(line, setting, true) : said(line, setting, touched);
    svg.setAttribute("aria-label", text);
    if (note.textContent !== text) note.textContent = text;
  }

  function build() {
    width = Math.max(300, box.clientWidth || 640);
    const focused = points.indexOf(svg.contains(document.activeElement) ? document.activeElement : null);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    ground(svg, setting, width);
    drawn = make("polyline", {class: "drawn"}, svg);
    points = line.map((_, index) => make("circle", {r: 8, role: "slider", "aria-orientation": "vertical",
      "aria-label": `${setting.period} ${index + 1}`, "aria-valuemin": 100 * setting.low,
      "aria-valuemax": 100 * setting.high}, svg));
    show();
    if (focused >= 0) points[focused].focus();
  }

  function keep() {
    model.set("value", [...line]);
    model.save_changes();
    show();
  }

  function place(event) {
    const frame = svg.getBoundingClientRect(), {back} = scales(setting, width);
    const [at, share] = back((event.clientX - frame.left) * width / frame.width,
      (event.clientY - frame.top) * HEIGHT / frame.height);
    return [Math.min(count - 1, Math.max(0, Math.round(at))), within(share, setting)];
  }

  function draw(event) {
    const [index, share] = place(event), [from, old] = pressed;
    for (let k = Math.min(from, index); k <= Math.max(from, index); k += 1) {
      const part = from === index ? 1 : (k - from) / (index - from);
      line[k] = within(old + part * (share - old), setting);
    }
    pressed = [index, share];
    chosen = index;
    show();
  }

  function release() {
    if (pressed === null) return;
    pressed = null;
    keep();
  }

  function move(event) {
    const ways = {ArrowUp: setting.step, ArrowDown: -setting.step, PageUp: 4 * setting.step,
      PageDown: -4 * setting.step};
    const places = {ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: count - 1};
    if (!(event.key in ways) && !(event.key in places)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key in places) {
      chosen = Math.min(count - 1, Math.max(0, places[event.key]));
      show();
      points[chosen].focus();
    } else if (!model.get("disabled")) {
      const last = event.shiftKey ? count - 1 : chosen;
      for (let k = chosen; k <= last; k += 1) line[k] = within(line[k] + ways[event.key], setting);
      keep();
    }
  }

  function take() {
    line = [...(model.get("value") ?? Array(count).fill(setting.start))];
    if (drawn) show();
  }

  svg.addEventListener("pointerdown", event => {
    if (model.get("disabled")) return;
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    pressed = place(event);
    draw(event);
    points[chosen].focus();
  });
  svg.addEventListener("pointermove", event => { if (pressed !== null) draw(event); });
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("keydown", move);
  svg.addEventListener("focusin", event => {
    const index = points.indexOf(event.target);
    if (index >= 0 && index !== chosen) {
      chosen = index;
      show();
    }
  });
  model.on("change:value", take);
  model.on("change:disabled", show);
  take();
  build();
  const sized = new ResizeObserver(() => { if (Math.max(300, box.clientWidth) !== width) build(); });
  sized.observe(box);

  return () => {
    sized.disconnect();
    model.off("change:value", take);
    model.off("change:disabled", show);
  };
}

export default {render};
