// Names for those controls of ipywidgets that have none
function outermost(el) {
  for (let box = el; ;) {
    const next = box.parentElement?.closest(".widget-box");
    if (!next) return box;
    box = next;
  }
}

function nameControls(el, gone) {
  const observer = new MutationObserver(() => nameAll(outermost(el)));
  watch(el, observer, gone);
  return () => observer.disconnect();
}

async function watch(el, observer, gone) {
  while (!el.isConnected && !gone()) await pause(50);
  if (gone()) return;
  nameAll(outermost(el));
  observer.observe(outermost(el), {childList: true, subtree: true, characterData: true});
}

function give(part, values) {
  for (const [name, value] of Object.entries(values)) {
    if (part && part.getAttribute(name) !== value) part.setAttribute(name, value);
  }
}

function nameAll(box) {
  for (const row of box.querySelectorAll(".widget-inline-hbox, .widget-inline-vbox")) {
    const text = row.querySelector(".widget-label")?.textContent.trim();
    if (text) nameRow(row, text);
  }
  for (const play of box.querySelectorAll(".widget-play")) namePlay(play);
}

function nameRow(row, text) {
  const handles = [...row.querySelectorAll("[role=slider]")];
  handles.forEach((handle, index) => {
    give(handle, {"aria-label": text + (handles.length > 1 ? [", lower end", ", upper end"][index] : "")});
  });
  if (handles.length) give(row.querySelector(".widget-readout[contenteditable]"), {role: "textbox", "aria-label": `${text}, value`});
  for (const group of row.querySelectorAll(".widget-radio-box")) give(group, {role: "radiogroup", "aria-label": text});
  if (row.matches(".widget-toggle-buttons")) {
    give(row, {role: "group", "aria-label": text});
    row.querySelectorAll(".widget-toggle-button").forEach(button =>
      give(button, {"aria-pressed": String(button.classList.contains("mod-active"))}));
  }
}

function namePlay(play) {
  const names = {play: "Play", pause: "Pause", stop: "Stop", repeat: "Repeat"};
  for (const button of play.querySelectorAll("button")) {
    const icon = Object.keys(names).find(name => button.querySelector(`.fa-${name}`) || button.classList.contains(name));
    give(button, {"aria-label": names[icon] ?? "Play"});
  }
}
