// Marks that can be picked or dragged, by pointer and by keyboard
const SLOP = 3, REACH = {mouse: 6, pen: 10, touch: 16};
const ARROWS = {ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowUp: ["y", -1], ArrowDown: ["y", 1]};
const LINES = ["line", "area", "trail", "group"];

const picks = datum => Boolean(datum?.pick);
const drags = datum => datum?.drag !== undefined && datum?.drag !== null && datum?.drag !== false;

function touchables(picture) {
  const found = [], counts = {};
  for (const part of picture.querySelectorAll("svg :is(path, text, image, line, rect)")) {
    const item = part.__data__, datum = item?.datum;
    if (!item?.mark || LINES.includes(item.mark.marktype) || !(picks(datum) || drags(datum))) continue;
    const kind = drags(datum) ? "drag" : "pick", id = JSON.stringify([kind, datum[kind]]);
    const turn = counts[id] = (counts[id] ?? -1) + 1;
    found.push({part, item, datum, first: datum[kind] === true || turn === 0, key: datum[kind] === true ? `${id}${turn}` : id});
  }
  return found;
}

function scaleOf({view, vgSpec}, item, channel) {
  const known = (vgSpec.scales ?? []).map(scale => scale.name);
  const names = (item.mark.name ?? "").replace(/marks$/, "").split("_");
  for (names.pop(); ; names.pop()) {
    const name = [...names, channel].join("_");
    if (known.includes(name)) return view.scale(name);
    if (!names.length) return null;
  }
}

const isNamed = scale => !scale.invert || Boolean(scale.bandwidth);
const middle = (scale, value) => scale(value) + (scale.bandwidth?.() ?? 0) / 2;

function valueAt(scale, pixel, step) {
  if (!scale) return null;
  if (isNamed(scale)) {
    const far = value => Math.abs(middle(scale, value) - pixel);
    return scale.domain().reduce((best, value) => far(value) < far(best) ? value : best);
  }
  const ends = scale.range(), inside = Math.min(Math.max(pixel, Math.min(...ends)), Math.max(...ends));
  const value = Number(scale.invert(inside));
  return Number((step ? Math.round(value / step) * step : value).toPrecision(12));
}

function placeOf(item, x, y) {
  const {width = 0, height = 0} = item;
  const across = x && isNamed(x) ? 0.5 : y && isNamed(y) ? 1 : 0.5;
  const down = y && isNamed(y) ? 0.5 : x && isNamed(x) ? 0 : 0.5;
  return {x: valueAt(x, item.x + across * width), y: valueAt(y, item.y + down * height)};
}

function stepped(scale, value, way, step) {
  if (isNamed(scale)) {
    const names = scale.domain(), onward = middle(scale, names.at(-1)) >= middle(scale, names[0]) ? way : -way;
    return names[Math.min(Math.max(names.indexOf(value) + onward, 0), names.length - 1)];
  }
  const [low, high] = [scale.range()[0], scale.range().at(-1)], onward = high >= low ? way : -way;
  return valueAt(scale, step ? scale(value + onward * step) : scale(value) + way * Math.abs(high - low) / 100, step);
}

// The kernel answers each message before the next one is sent; of those between, only the last one counts
function courier(model, calm) {
  const from = crypto.getRandomValues(new Uint32Array(2)).join("-");
  let flying = false, waiting = null;
  const post = () => {
    flying = waiting !== null;
    if (flying) model.send({kind: "drag", from, place: waiting});
    else calm();
    waiting = null;
  };
  const answered = content => { if (content.kind === "dragged" && content.from === from) post(); };
  model.on("msg:custom", answered);
  return {drag: place => { waiting = place; if (!flying) post(); }, flying: () => flying,
    end: () => model.off("msg:custom", answered)};
}

function touching(picture, model, result, running) {
  let marks = [], held = null, ahead = null, kept = null;
  const post = courier(model, async () => {
    await running();
    if (!post.flying()) ahead = null;
  });
  const scales = mark => ["x", "y"].map(channel => scaleOf(result(), mark.item, channel));
  const pick = mark => model.send({kind: "pick", datum: {...mark.datum}});
  const focused = () => marks.find(mark => mark.part === document.activeElement);

  function near(event) {
    const reach = REACH[event.pointerType] ?? REACH.mouse;
    const hit = marks.find(mark => mark.part === event.target);
    if (hit) return hit;
    const far = ({part}) => {
      const box = part.getBoundingClientRect();
      return Math.hypot(Math.max(box.left - event.clientX, 0, event.clientX - box.right),
        Math.max(box.top - event.clientY, 0, event.clientY - box.bottom));
    };
    const best = marks.map(mark => [far(mark), mark]).sort(([a], [b]) => a - b)[0];
    return best && best[0] <= reach ? best[1] : null;
  }

  function dragTo(event) {
    const mark = marks.find(({key}) => key === held.key);
    if (!mark) return;
    const point = new DOMPoint(event.clientX, event.clientY)
      .matrixTransform(mark.part.parentNode.getScreenCTM().inverse());
    const [x, y] = scales(mark), {drag, step} = mark.datum;
    post.drag({drag, x: valueAt(x, point.x, step), y: valueAt(y, point.y, step)});
  }

  function press(event) {
    const mark = event.button === 0 && near(event);
    if (!mark) return;
    held = {key: mark.key, x: event.clientX, y: event.clientY, moved: false, drags: drags(mark.datum)};
    marks.find(({key, first}) => first && key === mark.key).part.focus({preventScroll: true});
    event.preventDefault();
    if (held.drags) picture.setPointerCapture(event.pointerId);
  }

  function move(event) {
    if (!held) {
      const mark = near(event);
      picture.style.cursor = !mark ? "" : drags(mark.datum) ? "grab" : "pointer";
      return;
    }
    held.moved ||= Math.hypot(event.clientX - held.x, event.clientY - held.y) > SLOP;
    if (held.moved && held.drags) dragTo(event);
  }

  function release(event) {
    if (!held) return;
    const mark = marks.find(({key}) => key === held.key);
    if (held.moved && held.drags) dragTo(event);
    else if (!held.moved && mark && picks(mark.datum)) pick(mark);
    held = null;
  }

  function key(event) {
    const mark = focused();
    if (!mark || event.ctrlKey || event.metaKey || event.altKey) return;
    const [channel, way] = ARROWS[event.key] ?? [];
    if ([" ", "Enter"].includes(event.key) && picks(mark.datum)) pick(mark);
    else if (channel && drags(mark.datum)) dragBy(mark, channel, way);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function dragBy(mark, channel, way) {
    const [x, y] = scales(mark), scale = channel === "x" ? x : y;
    if (!scale) return;
    const place = ahead?.key === mark.key ? ahead.place : placeOf(mark.item, x, y);
    ahead = {key: mark.key, place: {...place, [channel]: stepped(scale, place[channel], way, mark.datum.step)}};
    post.drag({drag: mark.datum.drag, ...ahead.place});
  }

  // A redraw makes new elements, so the focus would be lost
  function remember() {
    kept = focused()?.key ?? null;
  }

  function renew() {
    marks = touchables(picture);
    for (const {part, datum} of marks.filter(mark => mark.first)) {
      const say = {tabindex: 0, role: "button", "aria-label": datum.label ?? `${datum.drag ?? datum.pick}`};
      for (const [name, value] of Object.entries(say)) part.setAttribute(name, value);
    }
    if (!marks.length) return;
    for (const part of [picture, picture.querySelector("svg")]) part.setAttribute("role", "group");
    for (const part of picture.querySelectorAll(".role-axis, .role-legend, .role-title")) {
      part.setAttribute("aria-hidden", "true");
    }
    if (document.activeElement !== document.body) return;
    marks.find(mark => mark.first && mark.key === kept)?.part.focus({preventScroll: true});
  }

  function still(event) {
    const {clientX, clientY} = event.touches[0];
    if (drags(near({target: event.target, clientX, clientY, pointerType: "touch"})?.datum)) event.preventDefault();
  }

  const drop = () => { held = null; };
  const heard = {pointerdown: press, pointermove: move, pointerup: release, pointercancel: drop, keydown: key};
  for (const [kind, listener] of Object.entries(heard)) picture.addEventListener(kind, listener);
  picture.addEventListener("touchstart", still, {passive: false});
  return {remember, renew, end: post.end};
}
