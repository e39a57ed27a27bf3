// The page of the inspector: draws the snapshots of /stream, and reads /search and /object.
//
// Guarantees: content is built of elements and text, never parsed as HTML; a redraw updates
// elements in place, so that focus and selection stay; when the stream fails, the page shows it
// and reconnects.

const MIN_POINTS = 40; // width of a chart; the chart of a new process fills from the right
const $ = (id) => document.getElementById(id);

// --- elements, and updating them in place

const SVG = new Set(["svg", "path", "polyline", "g"]);

function h(tag, props = {}, ...children) {
  const element = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "draw") element.draw = value;
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

function patch(old, updated) {
  if (old.nodeType !== updated.nodeType || old.nodeName !== updated.nodeName) {
    old.replaceWith(updated);
    return;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== updated.data) old.data = updated.data;
    return;
  }
  // Keep what the user has changed: opened details, typed values.
  const preserved = new Set(["style", "open", "value"]);
  for (const { name } of [...old.attributes]) {
    if (!preserved.has(name) && !updated.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of updated.attributes) {
    if (!preserved.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.style.cssText !== updated.style.cssText) old.style.cssText = updated.style.cssText;
  old.draw = updated.draw;
  patchChildren(old, updated);
}

function patchChildren(old, updated) {
  const keyed = new Map();
  const kept = new Set([...updated.children].map((child) => child.dataset.key));
  for (const child of [...old.children]) {
    if (!child.dataset.key) continue;
    // First, because an element that is moved past a removed one would lose the focus.
    if (kept.has(child.dataset.key)) keyed.set(child.dataset.key, child);
    else child.remove();
  }
  let at = old.firstChild;
  for (const child of [...updated.childNodes]) {
    const key = child.dataset?.key;
    const existing = key ? keyed.get(key) : at?.dataset?.key ? null : at;
    if (!existing) {
      old.insertBefore(child, at);
      continue;
    }
    if (existing === at) at = at.nextSibling;
    else old.insertBefore(existing, at);
    patch(existing, child);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function show(view, ...content) {
  const main = $("main");
  const updated = h("main", { id: "main", tabindex: "-1", class: view }, ...content);
  if (main.className === view) {
    patch(main, updated);
  } else {
    main.className = view;
    main.replaceChildren(...updated.childNodes);
    window.scrollTo(0, 0);
  }
  for (const canvas of main.querySelectorAll("canvas")) canvas.draw?.(canvas);
}

// --- formatting

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const last = (series) => series.at(-1) ?? 0;
const mean = (series, over) => {
  const recent = series.slice(-over);
  return recent.length ? recent.reduce((sum, each) => sum + each, 0) / recent.length : 0;
};

function bytes(count) {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  for (; count >= 1000 && at < units.length - 1; at += 1) count /= 1000;
  return `${short.format(count)} ${units[at]}`;
}

function seconds(span) {
  if (span == null) return "–";
  if (span < 1) return `${short.format(span * 1000)} ms`;
  if (span < 100) return `${short.format(span)} s`;
  if (span < 7200) return `${Math.round(span / 60)} min`;
  return span < 172800 ? `${Math.round(span / 3600)} h` : `${Math.round(span / 86400)} d`;
}

const ago = (span) => (span == null ? "never" : span < 1.5 ? "now" : `${seconds(Math.floor(span))} ago`);
// In a recording, the time of its step.
const currentTime = () => (snapshot?.recording ? Date.parse(snapshot.at) : Date.now());
const since = (time) => ago(Math.max((currentTime() - Date.parse(time)) / 1000, 0));
const clock = (time) => new Date(time).toLocaleTimeString("en-GB");
const plural = (count, noun, many = `${noun}s`) => `${whole.format(count)} ${count === 1 ? noun : many}`;

// --- charts

function sparkline(series, { tone = "accent", floor = 1 } = {}) {
  const top = Math.max(floor, ...series);
  const width = Math.max(series.length, MIN_POINTS) - 1;
  const first = width + 1 - series.length;
  const points = series.map((value, at) => `${first + at},${(29 - (26 * value) / top).toFixed(1)}`);
  return h("svg", { class: `sparkline ${tone}`, viewBox: `0 0 ${width} 30`, preserveAspectRatio: "none", "aria-hidden": "true" },
    points.length > 1 && h("path", { d: `M${first},30 L${points.join(" L")} L${width},30 Z` }),
    points.length > 1 && h("polyline", { points: points.join(" ") }));
}

function heatmap(controller) {
  const { heatmap: columns, bounds } = controller;
  const rows = bounds.length;
  const description = controller.median == null
    ? "no reconciles in the last minute"
    : `median ${seconds(controller.median)}, 99th percentile ${seconds(controller.p99)}`;
  const draw = (canvas) => {
    const scale = window.devicePixelRatio || 1;
    const width = (canvas.width = Math.round(canvas.clientWidth * scale));
    const height = (canvas.height = Math.round(canvas.clientHeight * scale));
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const most = Math.max(1, ...columns.flat());
    const dx = width / Math.max(MIN_POINTS, columns.length);
    const dy = height / rows;
    pen.fillStyle = style.getPropertyValue("--grid");
    for (let row = 1; row < rows; row += 1) pen.fillRect(0, Math.round(row * dy), width, 1);
    pen.fillStyle = style.getPropertyValue("--accent");
    columns.forEach((column, at) => {
      const x = width - (columns.length - at) * dx;
      column.forEach((count, row) => {
        if (!count) return;
        pen.globalAlpha = 0.3 + 0.7 * (Math.log1p(count) / Math.log1p(most));
        pen.fillRect(Math.floor(x), Math.floor(height - (row + 1) * dy) + 1, Math.ceil(dx), Math.ceil(dy) - 1);
      });
    });
  };
  return h("figure", { class: "heatmap" },
    h("canvas", { draw, role: "img", "aria-label": `Durations of reconciles in the last two minutes: ${description}` }),
    h("figcaption", {}, h("span", {}, "60 s"), h("span", {}, "1 s"), h("span", {}, "5 ms")));
}

const dot = (health) => h("i", { class: "dot", "data-health": health });
const chip = (text, tone = "") => h("span", { class: `chip ${tone}` }, text);
const fact = (label, value, tone = "") => h("div", { class: `fact ${tone}` }, h("dt", {}, label), h("dd", {}, value));
// Names are unique by a number; with the name of the manager, the number is not needed.
const shortName = (name, manager) => (manager ? name.replace(/~\d+$/, "") : name);
const fullName = (name, manager) => (manager ? `${shortName(name, manager)} · ${manager}` : name);
const flow = (rate) => (rate > 20 ? "fast" : rate > 0 ? "slow" : "idle");

// --- the overview

function overview(process, query) {
  lastOverview = location.hash || "#/";
  const now = ofManager(process, query.manager);
  show("overview",
    h("h1", { class: "visually-hidden" }, "Overview"),
    managerFilter(process, query.manager),
    tiles(process),
    Object.entries(now.unreadable).map(([name, error]) =>
      h("p", { class: "alert", role: "alert", "data-key": `unreadable ${name}` }, `${name}: stats() failed: ${error}`)),
    pipeline(now),
    h("div", { class: "below", "data-key": "below" }, journal(now), aside(now)));
  drawCurves();
}

// The parts of one manager; queues and others of the process belong to none.
function ofManager(now, manager) {
  if (!manager) return now;
  const own = (each) => each.manager === manager;
  const isOwn = (entry) => !entry.key || entry.kind || now.controllers.some((each) => own(each) && each.name === entry.subject);
  return {
    ...now, informers: now.informers.filter(own), controllers: now.controllers.filter(own), queues: [], others: [],
    elections: now.elections.filter((each) => each.identity === manager), journal: now.journal.filter(isOwn),
  };
}

function managerFilter({ managers }, selected = "") {
  if (!managers.length) return null;
  const tab = (name, text, state) => h("a", { class: "manager", href: link("", { manager: name }), "aria-current": name === selected ? "true" : null, "data-key": `manager ${name}` },
    text, state && h("small", {}, state));
  return h("nav", { class: "managers", "aria-label": "Managers", "data-key": "managers" },
    tab("", "All managers"),
    managers.map((each) => tab(each.name, each.name, each.state === "running" && each.is_leader ? "running, leads" : each.state)));
}

function tiles({ totals, informers }) {
  const errors = totals.errors.reduce((sum, each) => sum + each, 0);
  const tile = (label, value, note, chart) =>
    h("div", { class: "tile" }, h("h2", {}, label), h("p", {}, value), h("small", {}, note), chart);
  return h("section", { class: "tiles", "aria-label": "Summary", "data-key": "tiles" },
    tile("Objects cached", whole.format(totals.objects), `${bytes(totals.bytes)} in ${plural(informers.length, "cache")}`, null),
    tile("Watch events", `${short.format(mean(totals.events, 5))}/s`, "received by all informers", sparkline(totals.events)),
    tile("Reconciles", `${short.format(mean(totals.reconciles, 5))}/s`, "by all controllers", sparkline(totals.reconciles, { tone: "good" })),
    tile("Ready keys", whole.format(last(totals.depth)), "waiting for a worker", sparkline(totals.depth, { tone: "warn" })),
    tile("Errors", whole.format(errors), "in the last two minutes", sparkline(totals.errors, { tone: "bad" })));
}

// Informers in the order of their controllers, so that few lines cross; those of one manager
// stay together.
function sortInformers({ informers, controllers }) {
  const position = new Map(controllers.map((each, at) => [each.name, at]));
  const lastOf = new Map(controllers.filter((each) => each.manager).map((each) => [each.manager, position.get(each.name)]));
  const rank = (informer) => {
    const positions = informer.handlers.map((handler) => position.get(handler.controller)).filter((at) => at != null);
    if (!positions.length) return lastOf.has(informer.manager) ? lastOf.get(informer.manager) + 0.5 : Infinity;
    return positions.reduce((sum, at) => sum + at, 0) / positions.length;
  };
  const ranks = new Map(informers.map((informer) => [informer, rank(informer)]));
  return [...informers].sort((a, b) => (ranks.get(a) === ranks.get(b) ? 0 : ranks.get(a) - ranks.get(b)));
}

function pipeline(now) {
  const informers = sortInformers(now);
  return h("section", { class: "board", "aria-label": "Pipeline", "data-key": "board" },
    h("div", { class: "server" }, h("b", {}, "API server"), h("span", {}, `${short.format(mean(now.totals.requests, 5))} requests/s`)),
    h("div", { class: "lanes" },
      informers.map(lane),
      informers.length === 0 && h("p", { class: "empty" }, "No informers.")),
    h("svg", { class: "curves", "aria-hidden": "true" },
      informers.flatMap((informer) => informer.handlers.filter((handler) => handler.controller).flatMap((handler) =>
        ["line", `flow ${informer.health === "healthy" ? flow(mean(informer.rate, 3)) : "idle"}`].map((kind) =>
          h("path", {
            class: kind, "data-key": `${kind.split(" ")[0]} ${informer.id} to ${handler.controller}`,
            "data-from": informer.id, "data-to": handler.controller, "data-health": informer.health,
          }))))),
    h("div", { class: "works" },
      now.controllers.map(controller),
      now.queues.map(standaloneQueue)));
}

const STAGE_HELP = {
  reflector: "Lists once, then watches",
  "delta queue": "Changes that are not applied yet",
  cache: "Objects in memory",
  handlers: "Functions that are notified of changes",
};

function stage(name, value, details, tone = "") {
  return h("div", { class: `stage ${tone}` }, h("h3", { title: STAGE_HELP[name] }, name), h("p", {}, value), details);
}

function lane(informer) {
  const rate = mean(informer.rate, 3);
  const pipe = () => h("i", { class: `pipe ${informer.health === "healthy" ? flow(rate) : "idle"}`, "aria-hidden": "true" });
  const lag = Math.max(0, ...informer.handlers.map((handler) => handler.backlog));
  const failures = informer.handlers.reduce((sum, handler) => sum + handler.failures, 0);
  return h("article", { class: "lane", "data-key": informer.id, "data-id": informer.id, "data-health": informer.health },
    pipe(),
    h("header", {},
      h("h2", {}, h("a", { href: link("search", { cache: informer.id }), "data-row": true, title: "Search this cache" }, informer.kind)),
      informer.group && h("small", {}, informer.group),
      informer.manager && chip(informer.manager),
      informer.scope && chip(informer.scope),
      h("span", { class: "state" }, dot(informer.health), STATES[informer.state] ?? informer.state),
      sparkline(informer.rate, { tone: informer.health === "failing" ? "bad" : "accent" }),
      h("small", { class: "rate" }, `${short.format(rate)}/s`)),
    h("div", { class: "stages" },
      stage("reflector", ago(informer.event_age),
        h("small", {}, `${plural(informer.lists, "list")}, ${plural(informer.watches, "watch", "watches")}`,
          informer.errors > 0 && h("em", {}, `, ${plural(informer.errors, "error")}`))),
      pipe(),
      stage("delta queue", whole.format(informer.deltas), h("small", {}, `${whole.format(informer.applied)} applied`), informer.deltas > 500 ? "warn" : ""),
      pipe(),
      stage("cache", plural(informer.objects, "object"),
        h("small", {}, bytes(informer.bytes), informer.store_as !== "bytes" && ` as ${informer.store_as}`, !informer.has_synced && ", not synced",
          informer.indexes.filter((index) => index.name !== "namespace").map((index) =>
            [" · ", h("span", { class: "index", title: `Index ${index.name}: ${plural(index.values, "value")}` }, `${index.name} ${whole.format(index.values)}`)]))),
      pipe(),
      stage("handlers", lag ? `${whole.format(lag)} behind` : informer.handlers.length ? "up to date" : "none",
        h("small", {}, informer.handlers.map((handler) => shortName(handler.controller || handler.name, informer.manager)).join(", "),
          failures > 0 && h("em", {}, `, ${plural(failures, "failure")}`)), lag > 100 ? "warn" : "")),
    informer.health === "failing" && h("p", { class: "reason" }, informer.last_error || "no response",
      informer.failing_for !== null && ` (failing for ${whole.format(Math.round(informer.failing_for))} s, ${plural(informer.failures, "attempt")})`));
}

const STATES = { waiting: "failed, will retry" };

function queueFacts(queue, workers = 5) {
  // The bar is full if there are at least twice as many keys as workers.
  const all = Math.max(2 * workers, queue.ready + queue.processing + queue.delayed);
  return h("div", { class: "queue" },
    h("div", { class: "bar", role: "img", "aria-label": `${queue.ready} ready, ${queue.processing} processing, ${queue.delayed} delayed` },
      h("i", { class: "processing", "--part": queue.processing / all }),
      h("i", { class: "ready", "--part": queue.ready / all }),
      h("i", { class: "delayed", "--part": queue.delayed / all })),
    h("dl", {},
      fact("ready", whole.format(queue.ready)),
      fact("processing", whole.format(queue.processing)),
      fact("delayed", whole.format(queue.delayed)),
      fact("retries", whole.format(queue.retries)),
      fact("longest", queue.processing ? seconds(queue.longest) : "–", queue.longest > 30 ? "warn" : "")));
}

function controller(each) {
  const failed = each.failed - each.terminal;
  return h("article", { class: "work", "data-key": `controller ${each.name}`, "data-name": each.name, "data-health": each.health },
    h("header", {},
      h("h2", {}, shortName(each.name, each.manager)), h("small", {}, "controller"), each.manager && chip(each.manager),
      h("span", { class: "state" }, dot(each.health), each.state)),
    queueFacts(each.queue, each.workers),
    h("div", { class: "reconcile" },
      h("dl", {},
        fact("rate", `${short.format(mean(each.rate, 5))}/s`),
        fact("p50", seconds(each.median)),
        fact("p99", seconds(each.p99)),
        fact("succeeded", whole.format(each.succeeded)),
        fact("failed", whole.format(failed), failed ? "bad" : ""),
        each.terminal > 0 && fact("terminal", whole.format(each.terminal), "bad"),
        each.longest_cache_wait > 0 && fact("parked", seconds(each.longest_cache_wait), each.longest_cache_wait > 10 ? "warn" : "")),
      heatmap(each)),
    h("div", { class: "workers", role: "img", "aria-label": `${each.active.length} of ${each.workers} workers busy` },
      Array.from({ length: Math.min(each.workers, 32) }, (_, at) => h("i", { class: at < each.active.length ? "busy" : "" })),
      h("small", {}, each.active.length ? each.active.slice(0, 2).map((key, at) => [at > 0 && ", ", objectLink(each, key)]) : plural(each.workers, "worker"))),
    each.longest_cache_wait > 10
      ? h("p", { class: "reason", "data-key": "parked" }, "parked until the cache has their writes: ", each.waiting_for_cache.map((key, at) => [at > 0 && ", ", objectLink(each, key)]))
      : each.health === "degraded" && each.failing.length === 0 && h("p", { class: "reason", "data-key": "reason" }, each.last_error),
    failingKeys(each));
}

// The page of a key's object; only text if no cache of the controller has its namespace.
function objectLink({ caches }, key) {
  const [name, namespace = ""] = key.split("/").reverse();
  const cache = caches[namespace] ?? caches[""];
  return cache == null ? key : h("a", { href: link("object", { cache, namespace, name }) }, key);
}

function failingKeys(each) {
  if (each.failing.length === 0) return null;
  const more = each.failing_total - each.failing.length;
  return h("details", { class: "failing", open: each.failing.length <= 5, "data-key": "failing" },
    h("summary", {}, `${plural(each.failing_total, "failing key")}`),
    h("ol", {}, each.failing.map((failing) => h("li", { "data-key": failing.key },
      objectLink(each, failing.key),
      h("small", {}, failing.is_terminal ? "not retried until a change" : plural(failing.attempts, "attempt"), `, ${ago(failing.age)}`),
      h("span", {}, failing.error)))),
    more > 0 && h("small", {}, `and ${whole.format(more)} more`));
}

function standaloneQueue(queue) {
  return h("article", { class: "work", "data-key": `queue ${queue.name}` },
    h("header", {}, h("h2", {}, queue.name), h("small", {}, "work queue"), h("span", { class: "state" }, queue.state)),
    queueFacts(queue), sparkline(queue.depth, { tone: "warn" }));
}

let filter = "all";

// The page of the object of an entry: by its kind for an event, by its controller for an error.
function entryObject(now, { kind, key, subject }) {
  if (!key) return null;
  const [name, namespace = ""] = key.split("/").reverse();
  if (!kind) return now.controllers.find((each) => each.name === subject);
  const cache = now.informers.find((each) => each.kind === kind && (each.namespace === "" || each.namespace === namespace));
  return cache && { caches: { [cache.namespace]: cache.id } };
}

function entryText(now, entry) {
  const found = entryObject(now, entry);
  const at = found ? (entry.kind ? entry.subject : entry.text).indexOf(entry.key) : -1;
  const linked = (text) => [text.slice(0, at), objectLink(found, entry.key), text.slice(at + entry.key.length)];
  return [h("b", {}, at >= 0 && entry.kind ? linked(entry.subject) : entry.subject), h("span", {}, at >= 0 && !entry.kind ? linked(entry.text) : entry.text)];
}

function journal(now) {
  const entries = now.journal;
  const shown = entries.filter((entry) =>
    filter === "all" || (filter === "events" ? entry.source === "event" : entry.level !== "info"));
  const tab = (name) => h("button", { type: "button", "data-filter": name, "aria-pressed": String(filter === name) }, name);
  return h("section", { class: "panel journal", "aria-label": "Journal", "data-key": "journal" },
    h("header", {}, h("h2", {}, "Journal"), h("div", { class: "tabs" }, ["all", "events", "errors"].map(tab))),
    shown.length === 0 && h("p", { class: "empty" }, "No entries."),
    h("ol", {}, shown.slice(0, 60).map((entry) =>
      h("li", { class: entry.level },
        h("time", { datetime: entry.at }, clock(entry.at)),
        entryText(now, entry),
        entry.count > 1 && chip(`×${whole.format(entry.count)}`)))));
}

// The last known holder stays in the stats after the term; only `state` shows who leads now.
function leadership({ state, leader, identity }) {
  if (state === "leading") return "This process leads";
  if (state === "no candidate") return "Not a candidate";
  if (!leader) return "No leader";
  return leader === identity ? "This process was the last leader" : `${leader} leads`;
}

function aside(now) {
  return h("div", { class: "aside", "data-key": "aside" },
    now.elections.map((each) => h("section", { class: "panel election", "aria-label": "Election", "data-health": each.health },
      h("header", {}, h("h2", {}, each.name || "Election"), h("small", {}, "lease"),
        h("span", { class: "state" }, dot(each.health), each.state)),
      h("p", {}, leadership(each)),
      h("small", { class: "identity" }, each.identity),
      h("dl", {},
        fact("renewals", whole.format(each.writes)),
        fact("failures", whole.format(each.failures), each.failures ? "bad" : ""),
        each.remaining != null && fact("lease valid for", seconds(each.remaining))))),
    now.others.map((each) => h("section", { class: "panel", "aria-label": each.name },
      h("header", {}, h("h2", {}, each.name)),
      h("dl", { class: "plain" }, Object.entries(each.values).map(([name, value]) => fact(name, value))))),
    h("section", { class: "panel", "aria-label": "Process" },
      h("header", {}, h("h2", {}, "Process")),
      h("dl", { class: "plain" },
        fact("pid", `${now.process.pid} on ${now.process.host}`),
        fact("inspected since", clock(now.process.started)),
        fact("kubeloop", now.process.kubeloop),
        fact("Python", now.process.python))));
}

// Lines from each cache to the controllers that it notifies.
function drawCurves() {
  const curves = document.querySelector(".curves");
  if (!curves) return;
  const from = curves.getBoundingClientRect();
  for (const path of curves.children) {
    const lane = document.querySelector(`.lane[data-id="${CSS.escape(path.dataset.from)}"] .stages`);
    const work = document.querySelector(`.work[data-name="${CSS.escape(path.dataset.to)}"]`);
    if (!lane || !work || from.width === 0) continue;
    const a = lane.getBoundingClientRect();
    const b = work.getBoundingClientRect();
    const y1 = a.top + a.height / 2 - from.top;
    const y2 = b.top + Math.min(54, b.height / 2) - from.top;
    const x2 = from.width;
    path.setAttribute("d", `M0,${y1} C${x2 * 0.55},${y1} ${x2 * 0.45},${y2} ${x2},${y2}`);
  }
}

// --- search

let result = null;
let resultFor = ""; // the location that it was loaded for
let loadedAt = 0;
let failure = "";

function link(view, query) {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
  return `#/${view}${parameters && `?${parameters}`}`;
}

// The last search with its results, to return to it from an object; and the last overview.
let lastSearch = { hash: "#/search", result: null, scroll: 0, row: "" };
let openedRow = "";
let lastOverview = "#/";

function rememberView(hash) {
  if (route(hash).view === "search") {
    lastSearch = { hash, result: result?.rows ? result : null, scroll: window.scrollY, row: openedRow };
  }
}

async function fetchJson(path) {
  const response = await fetch(path);
  const body = response.headers.get("Content-Type")?.startsWith("application/json") ? await response.json() : {};
  if (!response.ok) throw new Error(body.error ?? (response.status === 404 ? "Not found in the caches." : `The process returned ${response.status}.`));
  return body;
}

async function refresh({ view, query }) {
  const requested = location.hash;
  loadedAt = Date.now();
  try {
    const body = await fetchJson(`${view}?${new URLSearchParams({ ...query, ...(snapshot?.recording && { step: snapshot.recording.step }) })}`);
    if (location.hash !== requested) return;
    [result, failure] = [body, ""];
  } catch (error) {
    if (location.hash !== requested) return;
    failure = error instanceof TypeError ? "The process does not respond." : error.message;
    if (resultFor !== requested) result = null;
  }
  resultFor = requested;
  render();
}

function drawSearch(now, query) {
  const page = result?.rows ? result : { rows: [], total: 0, after: 0, namespaces: [] };
  const cache = now.informers.find((informer) => informer.id === query.cache);
  const manager = (id) => now.informers.find((informer) => informer.id === id)?.manager;
  const informers = now.informers.filter((informer) => !query.manager || informer.manager === query.manager);
  const option = (value, text) => h("option", { value, selected: value === "" }, text);
  show("search-view",
    h("nav", { "aria-label": "Path" }, h("a", { href: lastOverview }, "Overview"), h("span", {}, cache ? fullName(cache.kind, cache.manager) : query.manager ? `All caches of ${query.manager}` : "All caches")),
    h("h1", { class: "visually-hidden" }, "Search"),
    h("form", { class: "search", role: "search" },
      h("label", { class: "wide" }, h("span", {}, "Name contains"), h("input", { name: "name", type: "search", autocomplete: "off", spellcheck: "false" })),
      h("label", {}, h("span", {}, "Kind"), h("select", { name: "cache" }, option("", "all"), informers.map((informer) => option(informer.id, fullName(informer.id, informer.manager))))),
      now.managers.length > 0 && h("label", {}, h("span", {}, "Manager"), h("select", { name: "manager" }, option("", "all"), now.managers.map((each) => option(each.name, each.name)))),
      h("label", {}, h("span", {}, "Namespace"), h("select", { name: "namespace" }, option("", "all"),
        [...new Set([...page.namespaces, ...(query.namespace ? [query.namespace] : [])])].map((name) => option(name, name)))),
      h("label", { class: "wide" }, h("span", {}, "Labels"), h("input", { name: "labels", placeholder: "app=web,tier!=cache", autocomplete: "off", spellcheck: "false", "aria-invalid": failure ? "true" : "false" }))),
    failure && h("p", { class: "alert", role: "alert" }, failure),
    h("p", { class: "count", role: "status" }, failure ? "" : page.total === 0 ? "No objects found." : `${plural(page.total, "object")}${page.total > page.rows.length ? `, ${page.after + 1} to ${page.after + page.rows.length}` : ""}`),
    h("div", { class: "rows" }, page.rows.map((row) =>
      h("a", { class: "row", "data-row": true, "data-key": `${row.cache} ${row.namespace}/${row.name}`, href: link("object", { cache: row.cache, namespace: row.namespace, name: row.name }) },
        h("b", {}, row.name),
        h("span", { class: "location" }, row.namespace || "cluster-scoped"),
        !query.cache && h("span", { class: "location" }, fullName(row.kind, manager(row.cache))),
        h("span", { class: "labels" }, Object.entries(row.labels).slice(0, 4).map(([name, value]) => chip(`${name}=${value}`)), row.is_deleting && chip("deleting", "bad")),
        h("time", { datetime: row.created }, row.created ? since(row.created) : "")))),
    h("nav", { class: "pages", "aria-label": "Pages" },
      page.after > 0 && h("a", { href: link("search", { ...query, after: Math.max(page.after - 50, 0) || "" }) }, "← previous"),
      page.after + page.rows.length < page.total && h("a", { href: link("search", { ...query, after: page.after + 50 }) }, "next →")));
  fillForm(query);
}

function fillForm(query) {
  if (typing !== null) return; // the input is not in the location yet
  for (const field of document.querySelectorAll(".search [name]")) {
    if (field !== document.activeElement) field.value = query[field.name] ?? "";
  }
}

let typing = null;

function onInput(event) {
  if (event.target.matches("#recording input")) {
    stopPlaying();
    goToStep(Number(event.target.value));
    return;
  }
  const form = event.target.closest(".search");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    typing = null;
    if (route().view !== "search") return; // the user has left the search
    useForm(form);
    refresh(route());
  }, 120);
}

// The location has the search, so that a way back to it finds the same objects.
function useForm(form) {
  clearTimeout(typing);
  typing = null;
  const query = Object.fromEntries(new FormData(form));
  const cache = snapshot?.informers.find((informer) => informer.id === query.cache);
  if (query.manager && cache && cache.manager !== query.manager) delete query.cache;
  history.replaceState(null, "", `${location.search}${link("search", query)}`);
  current = location.hash;
}

// --- one object

const YAML_LINE = /^(\s*(?:- )*)([^\s:#"'][^:]*:|"[^"]*":)?(.*)$/;

function yamlLine(text) {
  const [, pad, key = "", value] = YAML_LINE.exec(text) ?? ["", "", "", text];
  const parts = value.split(/(‹hidden [0-9a-f]+›)/);
  return h("code", {}, pad, key && h("b", {}, key),
    parts.map((part) => (part.startsWith("‹hidden") ? h("mark", { title: "The value does not leave the process; equal marks mean equal values" }, part) : part)));
}

// The search that led to an object, or else that of its cache.
function searchOf({ cache }) {
  const { query } = route(lastSearch.hash);
  return lastSearch.result && (!query.cache || query.cache === cache) ? lastSearch.hash : link("search", { cache });
}

let copied = ""; // the location and version of what was copied last

async function copyYaml(button) {
  const { yaml, version } = result;
  try {
    await navigator.clipboard.writeText(`${yaml}\n`);
  } catch {
    // No clipboard without HTTPS, except on loopback.
    const field = h("textarea", { class: "visually-hidden" });
    field.value = `${yaml}\n`;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  copied = `${location.hash} ${version}`;
  $("announcement").textContent = "Copied";
  render();
}

function drawObject(query) {
  const object = resultFor === location.hash ? result : null;
  const namespace = query.namespace ? `${query.namespace}/` : "";
  show("object-view",
    h("nav", { "aria-label": "Path" }, h("a", { href: lastOverview }, "Overview"), h("a", { href: searchOf(query) }, object?.kind ?? query.cache), h("span", {}, `${namespace}${query.name ?? ""}`)),
    h("header", {}, h("h1", {}, query.name ?? "No object"),
      h("p", {}, [object?.kind, query.namespace && `in ${query.namespace}`, object?.version && `version ${object.version}`].filter(Boolean).join(" · "))),
    failure && h("p", { class: "alert", role: "alert" }, failure),
    object && h("div", { class: "columns" },
      h("section", { class: "panel yaml", "aria-label": "YAML" },
        h("header", {}, h("h2", {}, "Current state"),
          object.yaml != null && h("button", { type: "button", class: "copy", "data-copy": true }, copied === `${location.hash} ${object.version}` ? "Copied" : "Copy as YAML")),
        object.yaml == null ? h("p", { class: "empty" }, "Deleted from the cache.") : h("pre", { tabindex: "0" }, object.yaml.split("\n").map(yamlLine))),
      h("section", { class: "panel changes", "aria-label": "Changes" },
        h("header", {}, h("h2", {}, "Changes"), h("small", {}, plural(object.changes.length, "change"))),
        object.changes.length === 0 && h("p", { class: "empty" }, "No changes since the inspector was started."),
        object.changes.map((change, at) =>
          h("details", { open: at < 3, "data-key": `${change.type} ${change.version} ${change.at}` },
            h("summary", {}, h("b", { class: change.type }, change.type.toLowerCase()), h("time", { datetime: change.at }, `${clock(change.at)}, ${since(change.at)}`), h("small", {}, `version ${change.version}`)),
            h("pre", { tabindex: "0" }, change.lines.length === 0 && h("code", { class: "gap" }, "Only fields that are not shown have changed."),
              change.lines.map(([mark, text]) => h("code", { class: LINES[mark] }, h("i", {}, mark === "…" ? "⋯" : mark), text))))))));
}

const LINES = { "+": "added", "-": "removed", " ": "context", "…": "gap" };

// --- routing

function route(hash = location.hash) {
  const [, view = "", query = ""] = /^#\/(\w*)(?:\?(.*))?$/.exec(hash) ?? [];
  return { view, query: Object.fromEntries(new URLSearchParams(query)) };
}

let snapshot = null;

function render() {
  if (!snapshot) return;
  const { view, query } = route();
  drawHeader(snapshot);
  if (view === "search") drawSearch(snapshot, query);
  else if (view === "object") drawObject(query);
  else overview(snapshot, query);
}

// --- the steps of a recording

let step = /^\?step=(\d+)$/.exec(location.search)?.[1] ?? null; // null: the last one
let player = null;

function drawRecording({ recording, at }) {
  $("recording").hidden = !recording;
  if (!recording) return;
  const button = (name, text, label) => h("button", { type: "button", "data-step": name, "aria-label": label }, text);
  patch($("recording"), h("div", { id: "recording" },
    button("previous", "‹", "Previous step"),
    button("play", player ? "Pause" : "Play", player ? "Pause" : "Play"),
    button("next", "›", "Next step"),
    h("input", { type: "range", min: "0", max: String(recording.steps - 1), "aria-label": "Step of the recording" }),
    h("output", {}, `${new Date(at).toLocaleString("en-GB")} · step ${whole.format(recording.step + 1)} of ${whole.format(recording.steps)}`),
    recording.omitted > 0 && h("small", {}, `${plural(recording.omitted, "object")} not recorded`)));
  const slider = document.querySelector("#recording input");
  if (slider !== document.activeElement || player) slider.value = String(recording.step);
}

function goToStep(number) {
  const { steps } = snapshot.recording;
  step = Math.min(Math.max(number, 0), steps - 1);
  if (step === steps - 1) stopPlaying();
  history.replaceState(null, "", `?step=${step}${location.hash}`);
  connect();
}

function stopPlaying() {
  clearInterval(player);
  player = null;
}

function onStep(name) {
  const { step: now, steps } = snapshot.recording;
  if (name === "play" && !player) {
    player = setInterval(() => goToStep(snapshot.recording.step + 1), 1000);
    goToStep(now === steps - 1 ? 0 : now + 1);
    return;
  }
  stopPlaying();
  if (name === "play") render();
  else goToStep(name === "next" ? now + 1 : now - 1);
}

let announced = "";

function drawHeader({ process, informers, elections, controllers, recording, at }) {
  drawRecording({ recording, at });
  $("name").textContent = process.name;
  document.querySelector(".search-link").setAttribute("href", searchHere());
  $("process").textContent = `pid ${process.pid} on ${process.host}`;
  const failing = informers.filter((informer) => informer.health === "failing").map((informer) => informer.kind);
  const leads = elections.some((each) => each.state === "leading");
  patch($("badges"), h("span", { id: "badges" },
    process.state && chip(process.state, process.state === "running" ? "good" : ""),
    elections.length > 0 && chip(leads ? "leader" : "standby", leads ? "good" : ""),
    failing.length > 0 && chip(`${plural(failing.length, "watch", "watches")} failing`, "bad"),
    failing.length === 0 && controllers.some((each) => each.health === "degraded") && chip("failures", "warn")));
  document.title = `${failing.length ? "(!) " : ""}${process.name} · kubeloop inspector`;
  const text = failing.join(", ");
  if (text !== announced) $("announcement").textContent = text ? `Failing: ${text}` : "All watches have recovered";
  announced = text;
}

let current = location.hash; // the location that is drawn

function onNavigate() {
  rememberView(current);
  current = location.hash;
  const here = route();
  const isReturn = here.view === "search" && current === lastSearch.hash && lastSearch.result;
  [result, failure] = here.view === "search" && result?.rows ? [result, ""] : [null, ""];
  if (isReturn) [result, resultFor] = [lastSearch.result, current];
  if (here.view === "search" || here.view === "object") refresh(here);
  render();
  if (isReturn) {
    window.scrollTo(0, lastSearch.scroll);
    document.querySelector(`[data-row][data-key="${CSS.escape(lastSearch.row)}"]`)?.focus({ preventScroll: true });
  }
  if (!document.activeElement?.matches("[data-row]")) focusSearch();
}

function focusSearch() {
  if (!document.activeElement?.closest(".search")) document.querySelector(".search [name=name]")?.focus();
}

// A new search, of the manager that the overview shows.
const searchHere = () => link("search", { manager: route(lastOverview).query.manager });

function onKey(event) {
  const field = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && (!field || field.type === "range")) {
    event.preventDefault();
    const box = document.querySelector(".search [name=name]");
    if (box) box.focus();
    else location.hash = searchHere();
  } else if (event.key === "Escape") {
    const { view, query } = route();
    if (view === "object") location.hash = searchOf(query);
    else if (view === "search") location.hash = lastOverview;
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (!field || field.type === "search")) {
    move(event, event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && field?.closest(".search")) {
    event.preventDefault();
    document.querySelector("[data-row]")?.focus();
  }
}

function move(event, step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[at < 0 ? (step > 0 ? 0 : -1) : at + step];
  if (!next || document.activeElement?.closest("pre")) return;
  event.preventDefault();
  next.focus();
}

function onClick(event) {
  openedRow = event.target.closest("[data-row]")?.dataset.key ?? ""; // also by the Enter key
  const form = typing !== null && document.querySelector(".search");
  if (form && event.target.closest("a")) useForm(form); // before the location changes
  const control = event.target.closest("[data-step]");
  if (control) onStep(control.dataset.step);
  const copy = event.target.closest("[data-copy]");
  if (copy) copyYaml(copy);
  const tab = event.target.closest("[data-filter]");
  if (!tab) return;
  filter = tab.dataset.filter;
  render();
}

// --- the stream

let source = null;
let receivedAt = 0;

function setConnection(state, text) {
  const element = $("connection");
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.textContent = text;
}

function connect() {
  source?.close();
  source = new EventSource(step == null ? "stream" : `stream?step=${step}`);
  source.onmessage = (event) => {
    receivedAt = Date.now();
    const before = snapshot;
    snapshot = JSON.parse(event.data);
    setConnection("live", snapshot.recording ? "recording" : "live");
    render();
    if (!before) focusSearch();
    const isOtherStep = before?.recording && before.recording.step !== snapshot.recording?.step;
    if (isOtherStep || !before || versions(before) !== versions(snapshot)) refreshView(before);
  };
  source.onerror = () => {
    setConnection("lost", "the process does not respond, retrying");
    if (source.readyState === EventSource.CLOSED) setTimeout(onVisibility, 2000);
  };
}

// The view is loaded again when a cache has changed; a large search less often, because it
// costs the process time.
const versions = ({ informers }) => informers.map((informer) => `${informer.id} ${informer.version}`).join();

function refreshView(before) {
  const here = route();
  const isLarge = here.view === "search" && result?.total > 2000;
  if (!before || (here.view !== "search" && here.view !== "object")) return;
  if (Date.now() - loadedAt > (isLarge ? 10_000 : 0)) refresh(here);
}

function checkSilence() {
  if (!snapshot?.recording && source?.readyState === EventSource.OPEN && Date.now() - receivedAt > 5000) {
    setConnection("silent", `no data for ${seconds((Date.now() - receivedAt) / 1000)}: the event loop may be blocked`);
  }
}

// A hidden tab closes its stream, so that the process computes no snapshots for it.
function onVisibility() {
  if (document.hidden) {
    source?.close();
    setConnection("paused", "paused");
  } else {
    connect();
  }
}

window.addEventListener("hashchange", onNavigate);
window.addEventListener("resize", drawCurves);
document.addEventListener("visibilitychange", onVisibility);
document.addEventListener("keydown", onKey);
document.addEventListener("click", onClick);
document.addEventListener("input", onInput);
document.addEventListener("submit", (event) => event.preventDefault());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
setInterval(checkSilence, 1000);
onVisibility();
onNavigate();
