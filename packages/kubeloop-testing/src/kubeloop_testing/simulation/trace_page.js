// Filters of the page of a failed run: by process, by kind and by text. Everything that is shown
// is in the document; this only hides lines.

const lines = [...document.querySelectorAll(".timeline li")].map((element) => ({
  element,
  text: element.textContent.toLowerCase(),
}));
const buttons = [...document.querySelectorAll("button[aria-pressed]")];
const search = document.querySelector("input[type=search]");
const count = document.getElementById("count");

function apply() {
  const on = new Set(
    buttons
      .filter((button) => button.getAttribute("aria-pressed") === "true")
      .map((button) => `${button.dataset.filter} ${button.dataset.value}`),
  );
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { element, text } of lines) {
    const { lane, kind } = element.dataset;
    const fits = on.has(`lane ${lane}`) && on.has(`kind ${kind}`) && words.every((word) => text.includes(word));
    element.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  count.textContent = `${shown} of ${lines.length} lines`;
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    apply();
  });
}
search.addEventListener("input", apply);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== search) {
    event.preventDefault();
    search.focus();
  }
});
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
apply();
