/* Flame graphs, the picture: reads the columns beside a canvas, lays frames out and draws them. Callers stand on top of
   what they called, and a frame is as wide as its time. What happens on a click or a key is in flame_view.js. */
const FlamePicture = (() => {
  "use strict";
  const ROW = 20;          // CSS pixels from one row to the next
  const LEAST_WIDTH = 0.8; // narrower frames cannot be seen
  const LEAST_TEXT = 28;   // narrower frames hold no word
  const WHOLE = -1;        // the row above all programs
  const MOST_ROWS = 26;    // below what is zoomed to; deeper ones are counted, and seen once something is zoomed to

  /* The model of a flame: columns by node, callers before their callees. */
  function read(id) {
    const columns = JSON.parse(document.getElementById(id + "-data").textContent);
    const count = columns.parent.length;
    const model = {
      count, parent: columns.parent, ns: columns.ns, before: columns.before || null, sample: columns.sample,
      name: columns.function.map((index) => columns.strings[index]),
      module: columns.module.map((index) => columns.strings[index]),
      depth: new Array(count), weight: new Array(count).fill(0), left: new Array(count),
      children: Array.from({ length: count }, () => []), roots: [], whole: 0, total: 0, totalBefore: 0, largest: 0,
    };
    weigh(model);
    place(model);
    return model;
  }

  /* How wide each node is: its time; where two sides are compared the larger of its own times, and what it called. */
  function weigh(model) {
    const own = model.ns.slice();
    const ownBefore = model.before ? model.before.slice() : new Array(model.count).fill(0);
    for (let node = 0; node < model.count; node++) {
      const parent = model.parent[node];
      (parent < 0 ? model.roots : model.children[parent]).push(node);
      if (parent < 0) {
        model.total += model.ns[node];
        model.totalBefore += model.before ? model.before[node] : 0;
      } else {
        own[parent] -= model.ns[node];
        ownBefore[parent] -= model.before ? model.before[node] : 0;
      }
      model.largest = Math.max(model.largest, Math.abs(change(model, node)));
    }
    for (let node = model.count - 1; node >= 0; node--) {
      model.weight[node] += Math.max(own[node], ownBefore[node], 0);
      if (model.parent[node] >= 0) model.weight[model.parent[node]] += model.weight[node];
      else model.whole += model.weight[node];
    }
  }

  /* Where each node begins, and in which row. */
  function place(model) {
    let end = 0;
    const next = new Array(model.count);
    for (let node = 0; node < model.count; node++) {
      const parent = model.parent[node];
      model.left[node] = parent < 0 ? end : next[parent];
      model.depth[node] = parent < 0 ? 1 : model.depth[parent] + 1;
      next[node] = model.left[node];
      if (parent < 0) end += model.weight[node];
      else next[parent] += model.weight[node];
    }
  }

  /* How much more B takes than A. */
  function change(model, node) {
    return model.before ? model.ns[node] - model.before[node] : 0;
  }

  /* Whether counting samples alone makes such a difference: within two standard deviations. */
  function isChance(model, node) {
    const variance = model.ns[node] * model.sample[0] + model.before[node] * model.sample[1];
    return Math.abs(change(model, node)) <= 2 * Math.sqrt(variance);
  }

  function callers(model, node) {
    const path = [];
    for (let at = node; at >= 0; at = model.parent[at]) path.unshift(at);
    return path;
  }

  /* The frames to see at a zoom, in CSS pixels. */
  function layout(model, zoomed, width) {
    const frames = [frame(WHOLE, 0, 0, width, "the whole")];
    const deepest = (zoomed < 0 ? 0 : model.depth[zoomed]) + MOST_ROWS;
    frames.deeper = 0;
    const above = new Set(callers(model, zoomed));
    const start = zoomed < 0 ? 0 : model.left[zoomed];
    const scale = width / ((zoomed < 0 ? model.whole : model.weight[zoomed]) || 1);
    const below = new Array(model.count).fill(false);
    const inside = (node) => zoomed < 0 || (model.parent[node] >= 0 && below[model.parent[node]]);
    for (let node = 0; node < model.count; node++) {
      below[node] = node === zoomed || inside(node);
      const isAbove = above.has(node);
      if (!isAbove && !below[node]) continue;
      const x = isAbove ? 0 : (model.left[node] - start) * scale;
      const wide = isAbove ? width : model.weight[node] * scale;
      if (wide < LEAST_WIDTH) continue;
      if (model.depth[node] > deepest) frames.deeper = Math.max(frames.deeper, model.depth[node] - deepest);
      else frames.push(frame(node, x, model.depth[node] * ROW, wide, model.name[node]));
    }
    return frames;
  }

  function frame(node, x, y, width, name) {
    return { node, x, y, width, height: ROW, name };
  }

  /* Draws a view: { model, zoomed, selected, hovered, matches } on its canvas, as wide as its box. */
  function draw(canvas, view) {
    const width = canvas.parentElement.clientWidth;
    if (!width) return;
    const frames = layout(view.model, view.zoomed, width);
    const height = Math.max(...frames.map((one) => one.y)) + ROW;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    canvas.frames = frames;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px " + getComputedStyle(document.body).fontFamily;
    context.textBaseline = "middle";
    const color = colors(canvas);
    for (const one of frames) drawFrame(context, view, one, color);
  }

  /* The page's colours, as they are now: light or dark. */
  function colors(canvas) {
    const style = getComputedStyle(canvas);
    const of = (name) => [name, style.getPropertyValue("--" + name).trim()];
    const names = ["raised", "ink", "faint", "line", "accent", "more", "less", "flame-saturation", "flame-lightness"];
    return Object.fromEntries(names.map(of));
  }

  function drawFrame(context, view, one, color) {
    const dimmed = view.matches && !view.matches[one.node];
    const [x, y, width, height] = [one.x, one.y, Math.max(one.width - 1, 0.5), one.height - 1];
    context.fillStyle = color.raised;
    context.fillRect(x, y, width, height);
    context.globalAlpha = dimmed ? 0.2 : 1;
    fill(context, view.model, one, color, [x, y, width, height]);
    if (view.matches && !dimmed) outline(context, color.ink, 1, [x, y, width, height]);
    context.fillStyle = color.ink;
    context.globalAlpha = dimmed ? 0.55 : 1;
    if (width > LEAST_TEXT) context.fillText(fitted(context, label(view.model, one), width - 8), x + 4, y + height / 2 + 1);
    context.globalAlpha = 1;
    if (one.node === view.hovered) outline(context, color.faint, 1, [x, y, width, height]);
    if (one.node === view.selected) outline(context, color.accent, 2, [x, y, width, height]);
  }

  /* By module; what the kernel did, and rows that are no functions, without a hue. Differences by side and size. */
  function fill(context, model, one, color, box) {
    if (one.node === WHOLE) return;
    if (model.before) {
      const more = change(model, one.node);
      const chance = isChance(model, one.node);
      context.globalAlpha *= chance ? 0.5 : 0.12 + 0.43 * Math.sqrt(Math.abs(more) / (model.largest || 1));
      context.fillStyle = chance ? color.line : more > 0 ? color.more : color.less;
    } else if (model.parent[one.node] < 0 || model.module[one.node] === "kernel") {
      context.fillStyle = color.line;
    } else {
      context.fillStyle = `hsl(${hue(model.module[one.node])} ${color["flame-saturation"]} ${color["flame-lightness"]})`;
    }
    context.fillRect(...box);
  }

  function outline(context, style, width, [x, y, wide, high]) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.strokeRect(x + width / 2, y + width / 2, Math.max(wide - width, 0), high - width);
  }

  /* A hue that a name always has (FNV-1a). */
  function hue(name) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
    return (hash % 24) * 15;
  }

  function label(model, one) {
    if (one.node === WHOLE) return "the whole: " + amount(model, WHOLE);
    return model.before ? `${one.name}  ${signed(change(model, one.node))}` : one.name;
  }

  /* A text cut to a width. */
  function fitted(context, text, width) {
    const measured = context.measureText(text).width;
    if (measured <= width) return text;
    let length = Math.floor((text.length * width) / measured);
    while (length > 1 && context.measureText(text.slice(0, length) + "\u2026").width > width) length--;
    return length > 1 ? text.slice(0, length) + "\u2026" : "";
  }

  /* Three significant digits and a unit. */
  function time(ns) {
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([size]) => ns >= size * 0.9995) || [1, "ns"];
    const value = ns / size;
    const digits = ns === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return `${value.toFixed(digits)} ${unit}`;
  }

  function signed(ns) {
    return ns === 0 ? "same" : (ns < 0 ? "-" : "+") + time(Math.abs(ns));
  }

  function percent(part, whole) {
    return `${((100 * part) / (whole || 1)).toFixed(1)} %`;
  }

  /* What a node took, in words. */
  function amount(model, node) {
    const ns = node === WHOLE ? model.total : model.ns[node];
    if (!model.before) return node === WHOLE ? time(ns) : `${time(ns)}, ${percent(ns, model.total)} of the whole`;
    const before = node === WHOLE ? model.totalBefore : model.before[node];
    const chance = node !== WHOLE && isChance(model, node) ? " (chance makes as much)" : "";
    return `${signed(ns - before)}${chance}: A ${time(before)}, B ${time(ns)}`;
  }

  return { read, draw, callers, amount, time, percent, WHOLE };
})();
