// Accessible names for controls of ipywidgets without one: one observer per page, also for predictions
const WATCHED = "workbenchControlNames", ROWS = ".widget-inline-hbox, .widget-inline-vbox, .widget-radio, .widget-toggle-buttons";
const ICONS = {"fa-play": "Play", "fa-pause": "Pause", "fa-stop": "Stop", "fa-retweet": "Repeat"};

function nameControls() {
  if (globalThis[WATCHED]) return;
  globalThis[WATCHED] = true;
  let planned = false;
  const plan = () => {
    if (planned) return;
    planned = true;
    setTimeout(() => { planned = false; nameAll(); }, 50);
  };
  new MutationObserver(plan).observe(document.body, {childList: true, subtree: true, attributes: true, attributeFilter: ["class", "aria-valuenow"]});
  plan();
}

function give(part, values) {
  for (const [name, value] of Object.entries(values)) {
    if (part && part.getAttribute(name) !== value) part.setAttribute(name, value);
  }
}

function nameAll() {
  for (const row of document.querySelectorAll(ROWS)) {
    const text = row.querySelector(".widget-label")?.textContent.trim();
    if (text) nameRow(row, text);
  }
  for (const icon of document.querySelectorAll(".widget-play button .fa")) {
    const known = Object.keys(ICONS).find(name => icon.classList.contains(name));
    if (known) give(icon.parentNode, {"aria-label": ICONS[known]});
  }
}

function nameRow(row, text) {
  const handles = [...row.querySelectorAll("[role=slider]")];
  handles.forEach((handle, index) => {
    give(handle, {"aria-label": text + (handles.length > 1 ? [", lower end", ", upper end"][index] : "")});
  });
  const readout = row.querySelector(".widget-readout");
  if (handles.length) give(readout, {role: "textbox", "aria-label": `${text}, value`});
  if (handles.length === 1 && readout) give(handles[0], {"aria-valuetext": readout.textContent});
  if (row.matches(".widget-radio")) give(row, {role: "radiogroup", "aria-label": text});
  if (!row.matches(".widget-toggle-buttons")) return;
  give(row, {role: "group", "aria-label": text});
  for (const button of row.querySelectorAll("button")) {
    give(button, {"aria-pressed": String(button.classList.contains("mod-active"))});
  }
}
