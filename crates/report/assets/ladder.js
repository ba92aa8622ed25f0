/* The sequence ladder: what is pointed at is shown with its arrow; a link to a ladder chooses its tab; the arrow keys walk
   through the steps. Everything is on the page without this. */
(() => {
  const light = (ladder, step) => {
    for (const one of ladder.querySelectorAll(".lit")) one.classList.remove("lit");
    if (step === null) return;
    const lit = new Set([step]);
    for (const flight of ladder.querySelectorAll(".flight")) {
      const { step: leaves, arrives } = flight.dataset;
      if (leaves !== step && arrives !== step) continue;
      flight.classList.add("lit");
      lit.add(leaves).add(arrives);
    }
    for (const one of ladder.querySelectorAll(".step[data-step], tr[data-step]")) {
      one.classList.toggle("lit", lit.has(one.dataset.step));
    }
  };
  const walk = (ladder, direction) => {
    const steps = Array.from(ladder.querySelectorAll(".step[data-step]"));
    if (!steps.length) return;
    const current = Number(ladder.dataset.current ?? (direction > 0 ? -1 : steps.length));
    const next = Math.min(Math.max(current + direction, 0), steps.length - 1);
    ladder.dataset.current = next;
    light(ladder, steps[next].dataset.step);
    steps[next].scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const choose = () => {
    const ladder = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!ladder || !ladder.classList.contains("ladder")) return;
    const choice = document.getElementById("choose-" + ladder.id);
    if (choice) choice.checked = true;
    centre();
    ladder.scrollIntoView();
  };
  for (const ladder of document.querySelectorAll(".ladder")) {
    ladder.addEventListener("pointerover", (event) => {
      const step = event.target.closest("[data-step]");
      light(ladder, step ? step.dataset.step : null);
    });
    ladder.addEventListener("pointerleave", () => light(ladder, null));
    const box = ladder.querySelector(".ladder-box");
    box.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      walk(ladder, event.key === "ArrowDown" ? 1 : -1);
    });
    box.addEventListener("blur", () => { delete ladder.dataset.current; light(ladder, null); });
  }
  /* A drawing wider than its box shows first what lies between both ends. */
  const centre = () => {
    for (const box of document.querySelectorAll(".ladder-box")) {
      if (!box.clientWidth || box.scrollLeft || box.scrollWidth < 1.2 * box.clientWidth) continue;
      const lines = Array.from(box.querySelectorAll(".life line"), (line) => line.getBoundingClientRect().x);
      if (!lines.length) continue;
      const middle = (Math.min(...lines) + Math.max(...lines)) / 2 - box.getBoundingClientRect().x;
      box.scrollLeft = middle - box.clientWidth / 2;
    }
  };
  /* A tab that was clicked stays chosen: the address no longer points at another ladder. */
  for (const choice of document.querySelectorAll(".ladder-choice")) {
    choice.addEventListener("change", () => {
      centre();
      if (document.querySelector(".ladder:target")) location.replace("#ladder");
    });
  }
  addEventListener("hashchange", choose);
  choose();
  centre();
})();
