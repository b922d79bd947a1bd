const TYPING = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
const PATIENCE = 5000;
const TINY = 120, SEEN = 240;

function make(parent, tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text;
  parent.append(element);
  return element;
}

function button(parent, key, text, press) {
  const made = make(parent, "button");
  made.type = "button";
  if (key) make(made, "kbd", "", key.toUpperCase());
  if (text.toUpperCase() !== key.toUpperCase()) make(made, "span", "", text).dir = "auto";
  made.addEventListener("click", press);
  return made;
}

function picture(parent, bytes, {type, alt}) {
  const image = make(parent, "img");
  const address = URL.createObjectURL(new Blob([bytes], {type}));
  image.alt = alt;
  image.addEventListener("load", () => {
    URL.revokeObjectURL(address);
    if (Math.max(image.naturalWidth, image.naturalHeight) > TINY) return;
    image.style.width = `${image.naturalWidth * Math.floor(SEEN / Math.max(image.naturalWidth, image.naturalHeight))}px`;
    image.style.imageRendering = "pixelated";
  });
  image.addEventListener("error", () => {
    URL.revokeObjectURL(address);
    image.remove();
    make(parent, "p", "trouble", "The image of this item cannot be displayed.");
  });
  image.src = address;
}

function showItem(place, model) {
  const {item, end} = model.get("page");
  place.replaceChildren();
  place.scrollTop = 0;
  if (!item) return void make(place, "p", "", end);
  make(place, "p", "name", `Item ${item.id}`).dir = "auto";
  if (item.trouble) make(place, "p", "trouble", item.trouble);
  if (item.type) picture(place, model.get("picture"), item);
  for (const [name, text] of item.columns) {
    const row = make(place, "div");
    if (name) make(row, "span", "name", `${name}: `);
    make(row, "div", "text", text).dir = "auto";
  }
}

function ask(place, {question}, item) {
  place.replaceChildren();
  if (item && item.prediction !== null) {
    make(place, "span", "name", "Prediction: ");
    make(place, "strong", "prediction", item.prediction).dir = "auto";
    make(place, "br");
  }
  place.append(question);
}

function build(el, model, act) {
  const words = model.get("words");
  const desk = make(el, "section", "workbench-desk");
  desk.tabIndex = 0;
  desk.setAttribute("aria-label", "Labeling desk");
  desk.dataset.lmSuppressShortcuts = "true";    // in JupyterLab a key of the desk would act on the cell, too
  const bar = make(desk, "progress");
  bar.setAttribute("aria-label", "Items done");
  const progress = make(desk, "p", "pace");
  const item = make(desk, "div", "item");
  item.tabIndex = 0;
  item.setAttribute("role", "region");
  item.setAttribute("aria-label", "Item");
  const question = make(desk, "p", "question");
  const labels = make(desk, "div", "buttons");
  labels.setAttribute("role", "group");
  labels.setAttribute("aria-label", words.question);
  model.get("labels").forEach(({text, key}, label) => button(labels, key, text, () => act("label", {label})));
  const others = make(desk, "div", "buttons");
  const skip = button(others, "s", "skip", () => act("skip"));
  button(others, "u", "undo", () => act("undo"));
  if (words.look) button(others, "", words.look, () => act("look"));
  const said = make(desk, "p", "said");
  said.setAttribute("role", "status");
  const look = make(desk, "div", "look");
  look.setAttribute("role", "status");
  make(desk, "p", "hint", `${words.mode} To label with keys, click the desk first or move to it with the Tab key. ` +
    "Backspace and Ctrl+Z undo the last label.");
  return {desk, bar, progress, item, question, labels, skip, said, look};
}

function render({model, el}) {
  let waiting = null;

  function tell(text, trouble) {
    parts.said.textContent = text;
    parts.said.classList.toggle("trouble", trouble);
  }

  function act(kind, more = {}) {
    if (waiting || (!model.get("page").item && ["label", "skip"].includes(kind))) return;
    waiting = setTimeout(() => tell("There is no answer yet, so this label may not be saved. If the kernel was stopped, " +
      "run the cell again or load the page again. The desk then continues with the first item without a label.", true), PATIENCE);
    parts.desk.setAttribute("aria-busy", "true");
    model.send({kind, turn: model.get("page").turn, ...more});
  }

  function key(event) {
    if (event.defaultPrevented || event.repeat || event.isComposing || event.target.closest(TYPING)) return;
    const pressed = event.key.toLowerCase();
    const control = event.ctrlKey || event.metaKey;
    const undo = control ? pressed === "z" && !event.shiftKey : pressed === "u" || pressed === "backspace";
    if (event.altKey || (control && !undo)) return;
    const label = model.get("labels").findIndex(each => each.key === pressed);
    if (undo) act("undo");
    else if (pressed === "s") act("skip");
    else if (label >= 0) act("label", {label});
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function draw() {
    const {item, progress, said, trouble, look} = model.get("page");
    clearTimeout(waiting);
    waiting = null;
    parts.desk.removeAttribute("aria-busy");
    [parts.bar.max, parts.bar.value] = [progress.budget, progress.done];
    parts.progress.textContent = progress.text;
    showItem(parts.item, model);
    ask(parts.question, model.get("words"), item);
    const gone = [parts.question, parts.labels, parts.skip];
    if (!item && gone.some(part => part.contains(document.activeElement))) parts.desk.focus({preventScroll: true});
    gone.forEach(part => { part.hidden = !item; });
    tell(said, trouble);
    parts.look.replaceChildren();
    look.forEach(line => make(parts.look, "p", "", line));
  }

  // on a page of its own the desk takes the focus that nothing has; in JupyterLab keys belong to the notebook
  const shown = new IntersectionObserver(([{isIntersecting}]) => {
    if (!isIntersecting) return;
    shown.disconnect();
    const free = document.activeElement === document.body && !parts.desk.closest(".jp-NotebookPanel");
    if (free) parts.desk.focus({preventScroll: true});
  });

  const parts = build(el, model, act);
  shown.observe(parts.desk);
  parts.desk.addEventListener("keydown", key);
  model.on("change:page", draw);
  draw();
  return () => {
    clearTimeout(waiting);
    shown.disconnect();
    model.off("change:page", draw);
  };
}

export default {render};
