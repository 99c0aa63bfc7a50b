// The toolkit puts the focus on a part of a slider that has neither role nor name: it gets those
// of the whole, and its values as they change.
document.addEventListener("focusin", (event) => {
  const part = event.target;
  if (!part.classList?.contains("q-slider__track-container")) return;
  const whole = part.closest("[role=slider], .celosia-slider");
  if (!whole) return;
  const copy = () => {
    for (const { name, value } of whole.attributes)
      if (name.startsWith("aria-")) part.setAttribute(name, value);
  };
  part.setAttribute("role", "slider");
  whole.setAttribute("role", "group");
  whole.classList.add("celosia-slider");
  copy();
  const watch = new MutationObserver(copy);
  watch.observe(whole, { attributes: true });
  part.addEventListener("focusout", () => watch.disconnect(), { once: true });
});
