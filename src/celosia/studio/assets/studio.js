// The toolkit puts the focus on a part of a slider that has neither role nor name: it gets those
// of the whole, and its values as they change.
document.addEventListener("focusin", (event) => {
  const part = event.target;
  if (!part.classList?.contains("q-slider__track-container")) return;
  const whole = part.closest("[role=slider], .celosia-slider");
  if (!whole) return;
  const copy = () => {
    for (const { name, value } of [...whole.attributes])
      if (name.startsWith("aria-")) {
        part.setAttribute(name, value);
        if (name !== "aria-label") whole.removeAttribute(name); // a group has no value
      }
  };
  part.setAttribute("role", "slider");
  whole.setAttribute("role", "group");
  whole.classList.add("celosia-slider");
  copy();
  const watch = new MutationObserver(copy);
  watch.observe(whole, { attributes: true });
  part.addEventListener("focusout", () => watch.disconnect(), { once: true });
});

// Brings a message into sight and moves the focus to it, as soon as it is drawn.
window.celosiaAttend = (id, tries = 50) => {
  const found = document.getElementById(`c${id}`);
  if (!found) {
    if (tries) setTimeout(() => window.celosiaAttend(id, tries - 1), 50);
    return;
  }
  found.scrollIntoView({ block: "center" });
  found.focus({ preventScroll: true });
};

// The focus goes to the control that the page is for: the first filled button, the likeliest way on, a
// file to take away, or the first control that neither explains nor copies.
window.celosiaMain = (event) => {
  const controls = (kind) =>
    [...document.querySelectorAll(`.celosia-main ${kind}`)].filter((each) => each.offsetParent && !each.disabled);
  const kinds = [
    "button.bg-primary:not(.q-btn-group *, .q-pagination *)", "a.celosia-way", "[data-test^=file-]",
    "button:not(.celosia-help, .celosia-copy, .celosia-rail-line)", ":is(a, input):not(nav *)", "a",
  ];
  const found = kinds.map((kind) => controls(kind)[0]).find(Boolean);
  if (!found) return;
  event.preventDefault();
  setTimeout(() => (found.scrollIntoView({ block: "center" }), found.focus({ preventScroll: true })));
};

// Tab leaves an editor, as it leaves any other field: the toolkit would put a tab into the text, and
// whoever has no mouse could not get out.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key === "Tab" && event.target.closest?.(".celosia-editor")) event.stopImmediatePropagation();
  },
  true,
);

// Letters of charts have a colour of the style sheet (see widgets/chart.py). Where colours follow the
// system, day may turn to night while a page is open: its charts are then drawn in the new colour.
{
  const ink = () => getComputedStyle(document.body).getPropertyValue("--quiet").trim();
  const paint = (option, from, to) => {
    if (typeof option !== "object" || option === null) return;
    for (const [name, value] of Object.entries(option))
      if (value === from && ["color", "borderColor", "pageIconColor"].includes(name)) option[name] = to;
      else paint(value, from, to);
  };
  let lastInk = ink();
  new MutationObserver(() => {
    const [from, to] = [lastInk, ink()];
    if (from === to) return;
    lastInk = to;
    for (const place of document.querySelectorAll(".nicegui-echart")) {
      const drawn = window.getElement?.(place);
      if (!drawn?.chart) continue;
      paint(drawn.options, from, to);
      drawn.update_chart();
    }
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

// What the toolkit draws without a name, or in colours that are hard to read, is mended as it comes.
{
  // A formula that is wider than its place is scrolled by keys, and so must be a stop of Tab.
  const sizes = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      const place = target.closest(".celosia-formula");
      if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
      else place.removeAttribute("tabindex");
    }
  });
  const mend = () => {
    for (const box of document.querySelectorAll(".q-tree__tickbox:not([aria-label])")) {
      const name = box.closest(".q-tree__node-header")?.querySelector(".q-tree__node-header-content");
      if (name?.innerText) box.setAttribute("aria-label", name.innerText);
    }
    for (const place of document.querySelectorAll(".celosia-formula:not([data-watched])")) {
      place.dataset.watched = "";
      sizes.observe(place);
      if (place.firstElementChild) sizes.observe(place.firstElementChild);
    }
    const theme = document.body.classList.contains("body--dark") ? "vscodeDark" : "vscodeLight";
    for (const place of document.querySelectorAll(".celosia-editor")) {
      const inner = place.querySelector(".cm-content"); // this has the focus, and so needs the name
      if (inner && place.ariaLabel && inner.ariaLabel !== place.ariaLabel) {
        inner.ariaLabel = place.ariaLabel;
        inner.tabIndex = 0; // it is a stop of Tab already, and now says so
      }
      const drawn = window.getElement?.(place);
      if (!drawn?.editor || place.dataset.theme === theme) continue;
      place.dataset.theme = theme;
      drawn.setTheme(theme);
    }
  };
  let waits = false;
  const soon = () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      mend();
    });
  };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  new MutationObserver(soon).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}
