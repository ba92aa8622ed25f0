"use strict";
// How long requests took over time: drawn by uPlot from columns of numbers, to zoom in and to read under the cursor.
// Without this file the still picture stays.
(function lengthsOverTime() {
  const UNITS = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
  const HEIGHT = 260;

  // Three significant digits and the unit a reader would choose.
  function duration(ns) {
    if (ns === null || ns === undefined || !isFinite(ns)) return "";
    if (ns === 0) return "0";
    const [unit, size] = UNITS.find((one) => ns >= one[1] * 0.9995) || UNITS[3];
    return Number((ns / size).toPrecision(3)).toLocaleString("en") + " " + unit;
  }

  // Seconds with as many decimals as tell neighbouring marks apart.
  function seconds(value, step) {
    let decimals = 0;
    while (decimals < 9 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
    return value.toFixed(decimals) + " s";
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // A logarithmic axis has no place for 0.
  function drawable(columns, lengths) {
    return lengths.map((ns) => (columns.logarithmic && ns <= 0 ? null : ns));
  }

  function onlyLongest(lengths) {
    const most = lengths.indexOf(lengths.reduce((one, other) => Math.max(one, other), 0));
    return lengths.map((ns, index) => (index === most ? ns : null));
  }

  function line(label, name, width, dash) {
    return { label, stroke: colour(name), width, dash, value: (_, ns) => duration(ns) };
  }

  function dots(label, name, size) {
    const points = { show: true, size, fill: colour(name), stroke: colour(name) };
    return { label, stroke: colour(name), width: 0, paths: () => null, points, value: (_, ns) => duration(ns) };
  }

  function seriesOf(columns) {
    const time = { label: "at", value: (_, at) => (at === null ? "" : at.toFixed(3) + " s") };
    const longest = dots("longest of all", "--more", 9);
    if (columns.single) return [time, dots("one request", "--accent", 5), longest];
    return [time, line("median", "--accent", 2), line("95 % at most", "--server", 1.5, [6, 4]),
      dots("longest", "--faint", 4), longest];
  }

  function dataOf(columns) {
    const lengths = drawable(columns, columns.longest);
    const worst = onlyLongest(columns.longest);
    if (columns.single) return [columns.at, lengths, worst];
    return [columns.at, drawable(columns, columns.median), drawable(columns, columns.p95), lengths, worst];
  }

  function axis(more) {
    const grid = { stroke: colour("--line"), width: 1 };
    return Object.assign({ stroke: colour("--faint"), grid, ticks: grid, font: "12px system-ui, sans-serif" }, more);
  }

  function optionsOf(columns, width, onZoom) {
    const up = columns.logarithmic ? { distr: 3, log: 10 } : { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] };
    return {
      width,
      height: HEIGHT,
      scales: { x: { time: false }, y: up },
      series: seriesOf(columns),
      axes: [
        axis({ values: (_, marks, index, space, step) => marks.map((mark) => seconds(mark, step)) }),
        axis({ size: 66, values: (_, marks) => marks.map(duration) }),
      ],
      cursor: { drag: { x: true, y: false }, focus: { prox: 24 } },
      hooks: { setScale: [(chart, key) => key === "x" && onZoom(chart)] },
    };
  }

  function draw(place) {
    const source = document.getElementById(place.dataset.source);
    if (!source || typeof uPlot === "undefined") return;
    const columns = JSON.parse(source.textContent);
    const reset = document.createElement("button");
    const [first, last] = [columns.at[0], columns.at[columns.at.length - 1]];
    let chart = null;
    reset.type = "button";
    reset.className = "reset";
    reset.textContent = "Show all";
    reset.hidden = true;
    reset.addEventListener("click", () => chart.setScale("x", { min: first, max: last }));
    const onZoom = (zoomed) => { reset.hidden = zoomed.scales.x.min <= first && zoomed.scales.x.max >= last; };
    const width = () => Math.max(200, Math.floor(place.clientWidth));
    const redraw = () => {
      if (chart) chart.destroy();
      place.replaceChildren(reset);
      chart = new uPlot(optionsOf(columns, width(), onZoom), dataOf(columns), place);
    };
    redraw();
    place.closest("figure").classList.add("drawn");
    new ResizeObserver(() => {
      if (chart.width !== width()) chart.setSize({ width: width(), height: HEIGHT });
    }).observe(place);
    // Colours are read when drawing: another scheme is another drawing.
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  for (const place of document.querySelectorAll(".over-time")) draw(place);
})();
