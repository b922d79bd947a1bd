// The buttons below a chart: Pin keeps the outlines of its marks; Larger type applies to all charts
const OTHER_AXES = "The axes changed, so the pinned chart was removed.";

function tool(text, press) {
  const button = element("button", "tool");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-pressed", "false");
  button.addEventListener("click", press);
  return button;
}

function addTools({tools}, model, pin) {
  const larger = tool("Larger type", () => {
    localStorage.setItem(LARGER, String(!isLarge()));
    dispatchEvent(new Event(LARGER));
  });
  const follow = () => {
    larger.setAttribute("aria-pressed", String(isLarge()));
    document.body.classList.toggle("workbench-larger", isLarge());
  };
  const known = {pin: pin.button, type: larger};
  tools.append(...model.get("tools").map(name => known[name]));
  for (const kind of [LARGER, "storage"]) addEventListener(kind, follow);
  follow();
  return () => { for (const kind of [LARGER, "storage"]) removeEventListener(kind, follow); };
}

// Ticks, their labels and the positions of views, which must be equal to lay two charts over each other
function frame(svg) {
  const places = [...svg.querySelectorAll(".role-scope > g, .role-axis-tick line, .role-axis-label text")];
  return JSON.stringify(places.map(part => [part.getAttribute("transform"), part.tagName === "text" ? part.textContent : ""]));
}

function isUnseen(part) {
  const none = name => ["none", "transparent", null].includes(part.getAttribute(name));
  return part.getAttribute("opacity") === "0" || (none("fill") && none("stroke"));
}

function ghostOf(svg) {
  const ghost = svg.querySelector(":scope > g").cloneNode(true);
  ghost.querySelectorAll(".role-axis, .role-legend, .role-title, .mark-text, .background, .foreground").forEach(part => part.remove());
  ghost.querySelectorAll("path, line, rect").forEach(part => { if (isUnseen(part)) part.remove(); });
  for (const part of [ghost, ...ghost.querySelectorAll("*")]) {
    for (const key of ["class", "id", "role", "tabindex", "aria-label"]) part.removeAttribute(key);
  }
  ghost.setAttribute("class", "ghost");
  ghost.setAttribute("aria-hidden", "true");
  return ghost;
}

function pinning({picture, pinned}, model) {
  let kept = null, words = "";
  const svg = () => picture.querySelector("svg");
  const button = tool("Pin", () => kept ? drop("") : keep());

  function keep() {
    if (!svg()) return;
    kept = {ghost: ghostOf(svg()), frame: frame(svg())};
    button.setAttribute("aria-pressed", "true");
    say(pinned, `Pinned: ${words}`);
    svg().append(kept.ghost);
  }

  function drop(text) {
    kept.ghost.remove();
    kept = null;
    button.setAttribute("aria-pressed", "false");
    say(pinned, text);
  }

  function renew(alternative) {
    words = alternative;
    if (!kept) return;
    if (kept.frame !== frame(svg())) return drop(OTHER_AXES);
    kept.ghost.setAttribute("transform", svg().querySelector(":scope > g:not(.ghost)").getAttribute("transform"));
    if (kept.ghost.parentNode !== svg()) svg().append(kept.ghost);
  }

  return {button, renew};
}
