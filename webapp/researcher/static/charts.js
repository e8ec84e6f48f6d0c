// Draws a run's charts with uPlot. Each one's numbers stand in a table beside it, so nothing is lost
// where this does not run; colours are the page's own, in light and in dark.
const chartHeight = 240;

function colours() {
  const of = getComputedStyle(document.documentElement);
  const read = (name) => of.getPropertyValue(name).trim();
  return {
    ink: read("--pico-color"), quiet: read("--pico-muted-color"), line: read("--line"),
    lines: ["--chart-1", "--chart-2", "--chart-3", "--chart-4"].map(read),
  };
}

function axis(look, more) {
  return {
    stroke: look.quiet, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    grid: { stroke: look.line, width: 1 }, ticks: { stroke: look.line, width: 1 }, ...more,
  };
}

// Days, hours and numbers as the tables write them, in the page's language and in UTC: 25 Nov, 14:00.
const { lang } = document.documentElement;
const tongue = lang === "en" ? "en-GB" : `${lang === "pt" ? "pt-PT" : lang}-u-nu-latn`;
const day = new Intl.DateTimeFormat(tongue, { day: "numeric", month: "short", timeZone: "UTC" });
const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
const figure = new Intl.NumberFormat(tongue);
const figures = (plot, values) => values.map((each) => figure.format(each));

function times(plot, seconds, _, __, step) {
  let shown = "";
  return seconds.map((each) => {
    const at = new Date(each * 1000);
    const date = day.format(at);
    const above = step < 86400 ? hour.format(at) : date;
    const below = step < 86400 && date !== shown ? `\n${date}` : "";
    shown = date;
    return above + below;
  });
}

function told(plot, value) {
  return typeof value === "number" ? figure.format(value) : "";
}

function moment(plot, seconds) {
  const at = new Date(seconds * 1000);
  return seconds === null ? "" : `${day.format(at)} ${hour.format(at)}`;
}

function line(each, number, chart, look) {
  const stroke = look.lines[number % look.lines.length];
  const planned = each.name === "planned";
  return {
    label: each.label, stroke, width: 2, points: { show: false }, value: told,
    dash: planned ? [6, 5] : undefined,
    fill: number === 0 && chart.kind === "bars" ? stroke : undefined,
    paths: chart.kind === "bars"
      ? uPlot.paths.bars({ size: [0.85, 60], align: 1 })
      : uPlot.paths.stepped({ align: 1 }),
  };
}

function draw(place, chart, timeLabel) {
  const look = colours();
  place.replaceChildren();
  return new uPlot(
    {
      width: place.clientWidth, height: chartHeight,
      scales: {
        x: { time: chart.time, range: chart.kind === "bars" ? barRange : undefined },
        y: { range: (_, __, most) => [0, Math.max(1, most * 1.08)] },
      },
      axes: [
        axis(look, chart.time ? { values: times } : { label: chart.across, labelSize: 20, values: figures }),
        axis(look, { size: 48, values: figures }),
      ],
      series: [chart.time ? { label: timeLabel, value: moment } : { label: chart.across, value: told }, ...chart.lines.map((l, n) => line(l, n, chart, look))],
      cursor: { drag: { x: false, y: false } },
      legend: { live: true },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    },
    [chart.x, ...chart.lines.map((each) => each.y)],
    place,
  );
}

function barRange(plot, least, most) {
  const { 0: xs } = plot.data;
  return [least, most + (xs.length > 1 ? xs[1] - xs[0] : 1)];
}

async function drawAll(section) {
  const answer = await fetch(section.dataset.charts, { credentials: "same-origin" });
  if (!answer.ok) return;
  const charts = await answer.json();
  const places = [...section.querySelectorAll("[data-chart]")];
  const redraw = () => places.forEach((place) => draw(place, charts[place.dataset.chart], section.dataset.time));
  redraw();
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

document.querySelectorAll("[data-charts]").forEach(drawAll);
