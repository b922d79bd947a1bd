function render({model, el}) {
  const part = (name, more = {}) => Object.assign(document.createElement(name), more);
  const output = part("div", {className: "told"});
  output.setAttribute("aria-live", "polite");
  const form = part("form");
  const label = part("label", {textContent: model.get("label")});
  const text = part("input", {type: "text", maxLength: model.get("longest"), autocomplete: "off", spellcheck: false});
  const button = part("button", {type: "submit", textContent: "Check"});
  button.setAttribute("aria-label", `Check ${model.get("exercise")}`);
  label.append(text);
  form.append(label, button);
  const show = () => { output.innerHTML = model.get("feedback").html; };
  form.addEventListener("submit", event => {
    event.preventDefault();
    output.textContent = "working ...";
    model.send({kind: "answer", text: text.value});
  });
  // JupyterLab keeps Enter from submitting a form
  text.addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  model.on("change:feedback", show);
  show();
  el.classList.add("workbench-answer");
  el.append(output, form);
  return () => model.off("change:feedback", show);
}
export default {render};
