/* Flame graphs, the view around a picture: zoom, search, selection by keys, tooltip. Names from outside are set as text
   only. */
(() => {
  "use strict";
  const { read, draw, callers, amount, time, percent, WHOLE } = FlamePicture;
  const STEPS_SHOWN = 6; // of the path that is zoomed to, besides the whole

  const views = new Map();
  for (const box of document.querySelectorAll(".flame-view")) {
    const canvas = box.querySelector("canvas");
    if (canvas) views.set(canvas.id, view(box, canvas));
  }
  document.querySelectorAll(".flame-side").forEach(switchOf);
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", redrawAll);
  window.matchMedia("print").addEventListener("change", redrawAll);
  window.addEventListener("resize", redrawAll);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll(".flame-view").forEach((box) => { box.hidden = false; });
    redrawAll();
  });

  function redrawAll() {
    views.forEach((view) => view.redraw());
  }

  /* One flame with everything around it. */
  function view(box, canvas) {
    const part = (name) => document.getElementById(`${canvas.id}-${name}`);
    const view = {
      box, canvas, model: read(canvas.id), zoomed: WHOLE, selected: null, hovered: null, matches: null,
      search: part("search"), status: part("status"), path: part("path"), selection: part("selected"),
      tip: box.querySelector(".flame-tip"),
      deeper: box.querySelector(".flame-deeper"),
      redraw: () => { draw(canvas, view); tellDeeper(view); },
    };
    box.querySelectorAll(".flame-tools, .flame-picture, .flame-selected").forEach((one) => { one.hidden = false; });
    box.querySelector(".flame-findings").open = false;
    view.search.addEventListener("input", () => search(view));
    part("whole").addEventListener("click", () => zoom(view, WHOLE));
    canvas.addEventListener("click", (event) => clicked(view, event));
    canvas.addEventListener("mousemove", (event) => hover(view, event));
    canvas.addEventListener("mouseleave", () => leave(view));
    canvas.addEventListener("keydown", (event) => key(view, event));
    box.addEventListener("keydown", (event) => slash(view, event));
    new ResizeObserver(() => requestAnimationFrame(view.redraw)).observe(canvas.parentElement);
    zoom(view, WHOLE);
    return view;
  }

  /* Rows that found no room are counted. */
  function tellDeeper(view) {
    const rows = (view.canvas.frames || {}).deeper || 0;
    view.deeper.hidden = rows === 0;
    view.deeper.textContent = `${rows} more ${rows === 1 ? "row" : "rows"} below: click a function to zoom in.`;
  }

  /* Shows one flame of a side at a time. */
  function switchOf(side) {
    const group = side.querySelector(".flame-switch");
    if (!group) return;
    group.hidden = false;
    const buttons = [...group.querySelectorAll("button")];
    const show = (chosen) => buttons.forEach((button) => {
      const shown = button === chosen;
      button.setAttribute("aria-pressed", String(shown));
      const view = views.get(button.dataset.flameShow);
      view.box.hidden = !shown;
      if (shown) view.redraw();
    });
    buttons.forEach((button) => button.addEventListener("click", () => show(button)));
    show(buttons[0]);
  }

  function zoom(view, node) {
    view.zoomed = node;
    view.redraw();
    view.path.hidden = node === WHOLE;
    const steps = callers(view.model, node);
    const shown = steps.length > STEPS_SHOWN ? [steps[0], null, ...steps.slice(2 - STEPS_SHOWN)] : steps;
    view.path.replaceChildren(step(view, WHOLE), ...shown.flatMap((at) => [" \u203a ", step(view, at)]));
  }

  /* A step of the path that is zoomed to. */
  function step(view, node) {
    if (node === null) return "\u2026";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = node === WHOLE ? "the whole" : view.model.name[node];
    if (node === view.zoomed) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => { zoom(view, node); view.canvas.focus(); });
    return button;
  }

  /* Highlights what matches, and tells how much it is: what lies under a match counts once. */
  function search(view) {
    const { model } = view;
    const wanted = view.search.value.trim().toLowerCase();
    view.matches = wanted ? new Array(model.count).fill(false) : null;
    if (!wanted) {
      view.status.textContent = "";
      return view.redraw();
    }
    const counted = new Array(model.count).fill(false);
    let [ns, before] = [0, 0];
    for (let node = 0; node < model.count; node++) {
      const within = model.parent[node] >= 0 && counted[model.parent[node]];
      view.matches[node] = `${model.name[node]} ${model.module[node]}`.toLowerCase().includes(wanted);
      counted[node] = within || view.matches[node];
      if (view.matches[node] && !within) {
        ns += model.ns[node];
        before += model.before ? model.before[node] : 0;
      }
    }
    const found = model.before
      ? `matched: A ${time(before)}, B ${time(ns)}`
      : `matched ${percent(ns, model.total)} (${time(ns)})`;
    view.status.textContent = view.matches.includes(true) ? found : "nothing matches";
    view.redraw();
  }

  function frameAt(view, event) {
    const { left, top } = view.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const holds = (one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height;
    return (view.canvas.frames || []).find(holds);
  }

  function clicked(view, event) {
    const frame = frameAt(view, event);
    if (!frame) return;
    select(view, frame.node);
    zoom(view, frame.node);
  }

  function hover(view, event) {
    const frame = frameAt(view, event);
    const node = frame ? frame.node : null;
    if (node !== view.hovered) {
      view.hovered = node;
      view.redraw();
    }
    view.tip.hidden = node === null || node === WHOLE;
    if (view.tip.hidden) return;
    const { model } = view;
    view.tip.replaceChildren(...[model.name[node], model.module[node], amount(model, node)].map(line));
    const box = view.canvas.parentElement.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    view.tip.style.left = `${Math.max(0, Math.min(x + 12, box.width - view.tip.offsetWidth))}px`;
    view.tip.style.top = `${y + 18}px`;
  }

  function line(text) {
    const line = document.createElement("div");
    line.textContent = text;
    return line;
  }

  function leave(view) {
    view.hovered = null;
    view.tip.hidden = true;
    view.redraw();
  }

  function select(view, node) {
    view.selected = node;
    const { model } = view;
    const name = node === WHOLE ? "the whole" : `${model.name[node]} (${model.module[node]})`;
    view.selection.textContent = `Selected: ${name}: ${amount(model, node)}`;
    view.redraw();
  }

  function key(view, event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = view.selected === null ? WHOLE : view.selected;
    const acts = {
      Enter: () => zoom(view, at),
      Escape: () => zoom(view, WHOLE),
      ArrowUp: () => select(view, at === WHOLE ? WHOLE : view.model.parent[at]),
      ArrowDown: () => below(view, at),
      ArrowLeft: () => beside(view, at, -1),
      ArrowRight: () => beside(view, at, 1),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  /* The widest of the functions called. On the way to what is zoomed to, only that way is to be seen. */
  function below(view, at) {
    const seen = new Set(view.canvas.frames.map((frame) => frame.node));
    const called = at === WHOLE ? view.model.roots : view.model.children[at];
    const widest = called.filter((node) => seen.has(node)).sort((a, b) => view.model.weight[b] - view.model.weight[a])[0];
    if (widest !== undefined) select(view, widest);
  }

  /* The next frame in the same row. */
  function beside(view, at, way) {
    const { frames } = view.canvas;
    const here = frames.find((frame) => frame.node === at);
    if (!here) return select(view, WHOLE);
    const row = frames.filter((frame) => frame.y === here.y).sort((a, b) => a.x - b.x);
    const next = row[row.indexOf(here) + way];
    if (next) select(view, next.node);
  }

  function slash(view, event) {
    if (event.key === "Escape" && event.target === view.search) return view.canvas.focus();
    if (event.key !== "/" || event.target === view.search) return;
    event.preventDefault();
    view.search.focus();
  }
})();
