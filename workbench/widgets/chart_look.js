// Width and font size of a chart: the same rules as in sized, scaled and widest of charts/theme.py
const HEADING = "heading", LARGER = "workbench-larger-type";
const WIDEST = 1000, NARROW = 520, TYPE = 14, LARGE = 20, HEIGHT = 260, TRIES = 7, TOLERANCE = 4, LABELS = 150;
const VIEWS = ["layer", "concat", "hconcat", "vconcat", "spec"];
const DATA = ["data", "datasets", "values"];

const isLarge = () => localStorage.getItem(LARGER) === "true";
const isObject = value => value?.constructor === Object;

function lookOf(figure) {
  return {dark: isDark(), width: Math.min(figure.clientWidth, WIDEST), size: isLarge() ? LARGE : TYPE};
}

function sameLook(one, other) {
  return one.dark === other.dark && one.size === other.size && Math.abs(one.width - other.width) <= TOLERANCE;
}

function onLook(figure, looked) {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const body = new MutationObserver(looked), size = new ResizeObserver(looked);
  body.observe(document.body, {attributes: true, attributeFilter: ["data-jp-theme-light"]});
  size.observe(figure);
  scheme.addEventListener("change", looked);
  for (const kind of [LARGER, "storage"]) addEventListener(kind, looked);
  return () => {
    body.disconnect();
    size.disconnect();
    scheme.removeEventListener("change", looked);
    for (const kind of [LARGER, "storage"]) removeEventListener(kind, looked);
  };
}

function overlay(base, top) {
  const merged = {...base};
  for (const key of Object.keys(top)) {
    merged[key] = isObject(base?.[key]) && isObject(top[key]) ? overlay(base[key], top[key]) : top[key];
  }
  return merged;
}

function rewritten(part, rule) {
  if (Array.isArray(part)) return part.map(entry => rewritten(entry, rule));
  if (!isObject(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, entry]) => {
    const [key, value] = (DATA.includes(name) ? null : rule(name, entry)) ?? [name, entry];
    return [key, DATA.includes(name) ? value : rewritten(value, rule)];
  }));
}

function lettered(spec, least) {
  return rewritten(spec, (name, entry) => /fontsize$/i.test(name) && typeof entry === "number"
    ? [name, Math.max(least, Math.round(entry * least / TYPE))] : null);
}

function evened(views) {
  const whole = widest({hconcat: views});
  return views.map(view => scaled(view, whole / widest(view)));
}

function narrowed(spec) {
  return rewritten(spec, (name, entry) => name === "hconcat" ? ["vconcat", evened(entry)]
    : ["axis", "header"].includes(name) && entry?.labelLimit ? [name, {...entry, labelLimit: Math.min(entry.labelLimit, LABELS)}]
      : name === "legend" && isObject(entry) ? [name, {...entry, orient: "top"}] : null);
}

function legended(spec, columns) {
  const fewer = rewritten(spec, (name, entry) => name === "legend" && isObject(entry)
    ? [name, {...entry, columns: Math.min(entry.columns ?? columns, columns)}] : null);
  return overlay(fewer, {config: {legend: {columns, layout: {top: {direction: "vertical", anchor: "start"}}}}});
}

function sized(spec, look) {
  const fit = look.width < NARROW ? narrowed(spec) : spec;
  const axis = {labelSeparation: 4, ...look.width < NARROW ? {labelLimit: LABELS} : {}};
  return overlay(lettered(fit, look.size), {config: {axis}});
}

function scaled(part, factor) {
  const changed = {...part};
  for (const name of VIEWS.filter(name => name in part)) {
    changed[name] = Array.isArray(part[name]) ? part[name].map(view => scaled(view, factor)) : scaled(part[name], factor);
  }
  if (typeof part.width === "number") changed.width = Math.round(part.width * factor);
  return changed;
}

function widest(part) {
  if (typeof part.width === "number") return part.width;
  const found = VIEWS.filter(name => name in part && name !== "spec").map(name => {
    const widths = part[name].map(widest);
    return name === "hconcat" ? widths.reduce((sum, width) => sum + width, 0) : Math.max(...widths);
  });
  return found.length ? Math.max(...found) : part.config?.view?.continuousWidth ?? 560;
}

function lines(text, room, size) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px sans-serif`;
  return text.split(/\s+/).reduce((found, word) => {
    const longer = [...found.slice(-1), word].join(" ");
    return found.length && pen.measureText(longer).width <= room ? [...found.slice(0, -1), longer] : [...found, word];
  }, []);
}

function titled(part, size, width, height) {
  const [wide, high] = [part.width ?? width, part.height ?? height].map((side, i) =>
    typeof side === "number" ? side : [width, height][i]);
  const broken = (title, room) => typeof title === "string" && title ? lines(title, room, size) : title;
  const changed = {...part};
  for (const name of VIEWS.filter(name => name in part)) {
    const inside = view => titled(view, size, wide, high);
    changed[name] = Array.isArray(part[name]) ? part[name].map(inside) : inside(part[name]);
  }
  if (isObject(part.encoding)) changed.encoding = {...part.encoding};
  for (const [channel, room] of [["x", wide], ["y", high]]) {
    const entry = part.encoding?.[channel];
    if (!isObject(entry)) continue;
    const axis = isObject(entry.axis) && "title" in entry.axis ? {axis: {...entry.axis, title: broken(entry.axis.title, room)}} : {};
    changed.encoding[channel] = {...entry, ...axis, ..."title" in entry ? {title: broken(entry.title, room)} : {}};
  }
  return changed;
}

// where legends end; a picture wider than its frame is shown shrunk
function legendsEnd(svg) {
  const frame = svg.getBoundingClientRect(), shrunk = frame.width / Number(svg.getAttribute("width"));
  const ends = [...svg.querySelectorAll(".role-legend")].map(part => part.getBoundingClientRect().right - frame.left);
  return Math.max(0, ...ends) / shrunk;
}

async function fitted(stage, spec, look, last, make) {
  const whole = sized(spec, look), full = widest(whole), wanted = look.width;
  let factor = last?.wanted === wanted && last.size === look.size ? last.factor : wanted / (full + 80);
  for (let tries = TRIES, columns = Infinity; ; tries--) {
    const some = columns < Infinity ? legended(whole, columns) : whole;
    const made = await make(titled(scaled(some, factor), look.size, wanted, HEIGHT));
    const svg = stage.querySelector("svg"), off = wanted - Number(svg.getAttribute("width"));
    const crowded = legendsEnd(svg) > wanted && columns > 1;
    const next = Math.max(0.2, factor + (off - TOLERANCE / 2) / full);
    if (!tries || (!crowded && ((off >= 0 && off <= TOLERANCE) || next === factor))) {
      return {view: made.view, vgSpec: made.vgSpec, finalize: () => made.finalize(), stage,
        fit: {factor, wanted, size: look.size}};
    }
    made.finalize();
    if (crowded) columns = columns === Infinity ? 3 : columns - 1;
    else factor = next;
  }
}

// A view keeps the size of its first rows: more of them would be cut off
function cut({view, stage}) {
  const {x1, y1, x2, y2} = view.scenegraph().root.bounds, [left, top] = view.origin(), around = view.padding();
  const [wide, high] = ["width", "height"].map(side => Number(stage.querySelector("svg").getAttribute(side)));
  return x1 < -left - 1 || y1 < -top - 1 || x2 > wide - around.left - around.right - left + 1
    || y2 > high - around.top - around.bottom - top + 1;
}

function tooWide({stage, look, fit}) {
  return fit.factor > 0.2
    && Number(stage.querySelector("svg").getAttribute("width")) > look.width + 2 * TOLERANCE;
}
