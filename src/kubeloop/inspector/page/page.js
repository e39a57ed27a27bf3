// The inspector's page: draws what /stream tells every second, and asks /search and /object.
//
// Promises: everything is built of elements and text, nothing is ever read as HTML; what is on
// the page stays where it is when it is drawn again, so that focus and selection survive; when
// the stream breaks the page says so, and goes on by itself when it is back.

const SPAN = 120; // moments that a plot shows at most
const SHORTEST = 40; // and at least: a young process fills its plots from the right
const $ = (id) => document.getElementById(id);

// --- elements, and how they are brought up to date

const SVG = new Set(["svg", "path", "polyline", "g"]);

function h(tag, props = {}, ...children) {
  const made = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "draw") made.draw = value;
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return made;
}

function patch(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  // What the reader did stays: what was opened, what was typed.
  const kept = new Set(["style", "open", "value"]);
  for (const { name } of [...old.attributes]) {
    if (!kept.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!kept.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.style.cssText !== fresh.style.cssText) old.style.cssText = fresh.style.cssText;
  old.draw = fresh.draw;
  patchChildren(old, fresh);
}

function patchChildren(old, fresh) {
  const keyed = new Map();
  for (const child of old.children) if (child.dataset.key) keyed.set(child.dataset.key, child);
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const key = wanted.dataset?.key;
    const have = key ? keyed.get(key) : at?.dataset?.key ? null : at;
    if (!have) {
      old.insertBefore(wanted, at);
      continue;
    }
    if (have === at) at = at.nextSibling;
    else old.insertBefore(have, at);
    patch(have, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function show(view, ...content) {
  const main = $("main");
  const fresh = h("main", { id: "main", tabindex: "-1", class: view }, ...content);
  if (main.className === view) {
    patch(main, fresh);
  } else {
    main.className = view;
    main.replaceChildren(...fresh.childNodes);
    window.scrollTo(0, 0);
  }
  for (const drawn of main.querySelectorAll("canvas")) drawn.draw?.(drawn);
}

// --- numbers for people

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
const since = (time) => ago(Math.max((Date.now() - Date.parse(time)) / 1000, 0));
const clock = (time) => new Date(time).toLocaleTimeString("en-GB");
const plural = (count, noun, many = `${noun}s`) => `${whole.format(count)} ${count === 1 ? noun : many}`;

// --- small pictures

function spark(series, { tone = "accent", floor = 1 } = {}) {
  const top = Math.max(floor, ...series);
  const width = Math.max(series.length, SHORTEST) - 1;
  const first = width + 1 - series.length;
  const points = series.map((value, at) => `${first + at},${(29 - (26 * value) / top).toFixed(1)}`);
  return h("svg", { class: `spark ${tone}`, viewBox: `0 0 ${width} 30`, preserveAspectRatio: "none", "aria-hidden": "true" },
    points.length > 1 && h("path", { d: `M${first},30 L${points.join(" L")} L${width},30 Z` }),
    points.length > 1 && h("polyline", { points: points.join(" ") }));
}

function heat(controller) {
  const { heat: columns, bounds } = controller;
  const rows = bounds.length;
  const described = controller.median == null
    ? "no tries in the last minute"
    : `half of the tries within ${seconds(controller.median)}, 99 of 100 within ${seconds(controller.slowest)}`;
  const draw = (canvas) => {
    const scale = window.devicePixelRatio || 1;
    const width = (canvas.width = Math.round(canvas.clientWidth * scale));
    const height = (canvas.height = Math.round(canvas.clientHeight * scale));
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const most = Math.max(1, ...columns.flat());
    const dx = width / Math.max(SHORTEST, columns.length);
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
  return h("figure", { class: "heat" },
    h("canvas", { draw, role: "img", "aria-label": `How long tries took over two minutes: ${described}` }),
    h("figcaption", {}, h("span", {}, "60 s"), h("span", {}, "1 s"), h("span", {}, "5 ms")));
}

const dot = (health) => h("i", { class: "dot", "data-health": health });
const chip = (text, tone = "") => h("span", { class: `chip ${tone}` }, text);
const fact = (label, value, tone = "") => h("div", { class: `fact ${tone}` }, h("dt", {}, label), h("dd", {}, value));
// A name without the number that tells it from its like, where the owner does that.
const plain = (name, owner) => (owner ? name.replace(/~\d+$/, "") : name);
const owned = (name, owner) => (owner ? `${plain(name, owner)} · ${owner}` : name);
const flow = (rate) => (rate > 20 ? "fast" : rate > 0 ? "slow" : "still");

// --- the overview

function overview(now) {
  show("overview",
    h("h1", { class: "unseen" }, "Overview"),
    tiles(now),
    Object.entries(now.silent).map(([name, why]) =>
      h("p", { class: "alarm", role: "alert", "data-key": `silent ${name}` }, `${name} could not be read: ${why}`)),
    pipeline(now),
    h("div", { class: "below", "data-key": "below" }, happenings(now), aside(now)));
  drawCurves();
}

function tiles({ totals, mirrors }) {
  const errors = totals.errors.reduce((sum, each) => sum + each, 0);
  const tile = (label, value, note, picture) =>
    h("div", { class: "tile" }, h("h2", {}, label), h("p", {}, value), h("small", {}, note), picture);
  return h("section", { class: "tiles", "aria-label": "In short", "data-key": "tiles" },
    tile("Objects cached", whole.format(totals.objects), `${bytes(totals.bytes)} in ${plural(mirrors.length, "cache")}`, null),
    tile("Changes", `${short.format(mean(totals.events, 5))}/s`, "heard of by watches", spark(totals.events)),
    tile("Reconciles", `${short.format(mean(totals.reconciles, 5))}/s`, "by all controllers", spark(totals.reconciles, { tone: "good" })),
    tile("Queued keys", whole.format(last(totals.depth)), "waiting for a worker", spark(totals.depth, { tone: "warn" })),
    tile("Errors", whole.format(errors), "in two minutes", spark(totals.errors, { tone: "bad" })));
}

// Those that feed the first controllers come first: fewer lines cross. Those of one manager
// stay together.
function ordered({ mirrors, controllers }) {
  const place = new Map(controllers.map((each, at) => [each.name, at]));
  const lastOf = new Map(controllers.filter((each) => each.owner).map((each) => [each.owner, place.get(each.name)]));
  const rank = (mirror) => {
    const fed = mirror.handlers.map((handler) => place.get(handler.controller)).filter((at) => at != null);
    if (!fed.length) return lastOf.has(mirror.owner) ? lastOf.get(mirror.owner) + 0.5 : Infinity;
    return fed.reduce((sum, at) => sum + at, 0) / fed.length;
  };
  const ranks = new Map(mirrors.map((mirror) => [mirror, rank(mirror)]));
  return [...mirrors].sort((a, b) => (ranks.get(a) === ranks.get(b) ? 0 : ranks.get(a) - ranks.get(b)));
}

function pipeline(now) {
  const mirrors = ordered(now);
  return h("section", { class: "board", "aria-label": "Pipeline", "data-key": "board" },
    h("div", { class: "server" }, h("b", {}, "API server"), h("span", {}, `${short.format(mean(now.totals.requests, 5))} requests/s`)),
    h("div", { class: "lanes" },
      mirrors.map(lane),
      mirrors.length === 0 && h("p", { class: "empty" }, "No informer runs here.")),
    h("svg", { class: "curves", "aria-hidden": "true" },
      mirrors.flatMap((mirror) => mirror.handlers.filter((handler) => handler.controller).flatMap((handler) =>
        ["line", `flow ${mirror.health === "good" ? flow(mean(mirror.rate, 3)) : "still"}`].map((kind) =>
          h("path", {
            class: kind, "data-key": `${kind.split(" ")[0]} ${mirror.id} to ${handler.controller}`,
            "data-from": mirror.id, "data-to": handler.controller, "data-health": mirror.health,
          }))))),
    h("div", { class: "works" },
      now.controllers.map(controller),
      now.queues.map(lonelyQueue)));
}

const STAGE_HELP = {
  reflector: "lists once, then watches",
  "delta queue": "changes that wait to be applied",
  cache: "what is held",
  handlers: "who is told",
};

function stage(name, value, details, tone = "") {
  return h("div", { class: `stage ${tone}` }, h("h3", { title: STAGE_HELP[name] }, name), h("p", {}, value), details);
}

function lane(mirror) {
  const rate = mean(mirror.rate, 3);
  const pipe = () => h("i", { class: `pipe ${mirror.health === "good" ? flow(rate) : "still"}`, "aria-hidden": "true" });
  const lag = Math.max(0, ...mirror.handlers.map((handler) => handler.waiting));
  const failures = mirror.handlers.reduce((sum, handler) => sum + handler.failures, 0);
  return h("article", { class: "lane", "data-key": mirror.id, "data-id": mirror.id, "data-health": mirror.health },
    pipe(),
    h("header", {},
      h("h2", {}, h("a", { href: link("search", { cache: mirror.id }), "data-row": true, title: "Search this cache" }, mirror.kind)),
      mirror.group && h("small", {}, mirror.group),
      mirror.owner && chip(mirror.owner),
      mirror.scope && chip(mirror.scope),
      h("span", { class: "state" }, dot(mirror.health), STATES[mirror.state] ?? mirror.state),
      spark(mirror.rate, { tone: mirror.health === "broken" ? "bad" : "accent" }),
      h("small", { class: "rate" }, `${short.format(rate)}/s`)),
    h("div", { class: "stages" },
      stage("reflector", ago(mirror.event_age),
        h("small", {}, `${plural(mirror.lists, "list")}, ${plural(mirror.watches, "watch", "watches")}`,
          mirror.errors > 0 && h("em", {}, `, ${plural(mirror.errors, "error")}`))),
      pipe(),
      stage("delta queue", whole.format(mirror.deltas), h("small", {}, `${whole.format(mirror.taken)} applied`), mirror.deltas > 500 ? "warn" : ""),
      pipe(),
      stage("cache", plural(mirror.objects, "object"),
        h("small", {}, bytes(mirror.bytes), mirror.store_as !== "bytes" && ` as ${mirror.store_as}`, !mirror.has_synced && ", not complete",
          mirror.indexes.filter((index) => index.name !== "namespace").map((index) =>
            [" · ", h("span", { class: "index", title: `the index ${index.name} has ${plural(index.values, "value")}` }, `${index.name} ${whole.format(index.values)}`)]))),
      pipe(),
      stage("handlers", lag ? `${whole.format(lag)} behind` : mirror.handlers.length ? "up to date" : "none",
        h("small", {}, mirror.handlers.map((handler) => plain(handler.controller || handler.name, mirror.owner)).join(", "),
          failures > 0 && h("em", {}, `, ${plural(failures, "failure")}`)), lag > 100 ? "warn" : "")),
    mirror.health === "broken" && h("p", { class: "why" }, mirror.last_error || "no answer",
      mirror.failing_for !== null && ` (failing for ${whole.format(Math.round(mirror.failing_for))} s, ${plural(mirror.failures, "attempt")})`));
}

const STATES = { waiting: "broken, to be tried again", connecting: "connecting", stopped: "ended" };

function queueFacts(queue, workers = 5) {
  // Full when there is twice as much as the workers can take at once, or more.
  const all = Math.max(2 * workers, queue.queued + queue.in_work + queue.waiting);
  return h("div", { class: "queue" },
    h("div", { class: "tube", role: "img", "aria-label": `${queue.queued} queued, ${queue.in_work} in work, ${queue.waiting} for later` },
      h("i", { class: "in-work", "--part": queue.in_work / all }),
      h("i", { class: "queued", "--part": queue.queued / all }),
      h("i", { class: "later", "--part": queue.waiting / all })),
    h("dl", {},
      fact("queued", whole.format(queue.queued)),
      fact("in work", whole.format(queue.in_work)),
      fact("for later", whole.format(queue.waiting)),
      fact("retries", whole.format(queue.retries)),
      fact("longest", queue.in_work ? seconds(queue.longest) : "–", queue.longest > 30 ? "warn" : "")));
}

function controller(each) {
  const failed = each.failed - each.terminal;
  return h("article", { class: "work", "data-key": `controller ${each.name}`, "data-name": each.name, "data-health": each.health },
    h("header", {},
      h("h2", {}, plain(each.name, each.owner)), h("small", {}, "controller"), each.owner && chip(each.owner),
      h("span", { class: "state" }, dot(each.health), each.state)),
    queueFacts(each.queue, each.workers),
    h("div", { class: "reconcile" },
      h("dl", {},
        fact("rate", `${short.format(mean(each.rate, 5))}/s`),
        fact("p50", seconds(each.median)),
        fact("p99", seconds(each.slowest)),
        fact("done", whole.format(each.succeeded)),
        fact("failed", whole.format(failed), failed ? "bad" : ""),
        each.terminal > 0 && fact("given up", whole.format(each.terminal), "bad"),
        each.longest_cache_wait > 0 && fact("behind cache", seconds(each.longest_cache_wait), each.longest_cache_wait > 10 ? "warn" : "")),
      heat(each)),
    h("div", { class: "workers", role: "img", "aria-label": `${each.active.length} of ${each.workers} workers busy` },
      Array.from({ length: Math.min(each.workers, 32) }, (_, at) => h("i", { class: at < each.active.length ? "busy" : "" })),
      h("small", {}, each.active.length ? each.active.slice(0, 2).join(", ") : plural(each.workers, "worker"))),
    each.health === "troubled" && h("p", { class: "why" }, each.longest_cache_wait > 10
      ? `waiting until the cache has seen what they wrote: ${each.waiting_for_cache.join(", ")}` : each.last_error));
}

function lonelyQueue(queue) {
  return h("article", { class: "work", "data-key": `queue ${queue.name}` },
    h("header", {}, h("h2", {}, queue.name), h("small", {}, "work queue"), h("span", { class: "state" }, queue.phase)),
    queueFacts(queue), spark(queue.depth, { tone: "warn" }));
}

let chosen = "all";

function happenings({ lines }) {
  const wanted = lines.filter((line) =>
    chosen === "all" || (chosen === "events" ? line.source === "event" : line.level !== "info"));
  const tab = (name) => h("button", { type: "button", "data-lines": name, "aria-pressed": String(chosen === name) }, name);
  return h("section", { class: "panel feed", "aria-label": "What happened", "data-key": "feed" },
    h("header", {}, h("h2", {}, "What happened"), h("div", { class: "tabs" }, ["all", "events", "errors"].map(tab))),
    wanted.length === 0 && h("p", { class: "empty" }, "Nothing yet."),
    h("ol", {}, wanted.slice(0, 60).map((line) =>
      h("li", { class: line.level },
        h("time", { datetime: line.at }, clock(line.at)),
        h("b", {}, line.about),
        h("span", {}, line.text),
        line.count > 1 && chip(`×${whole.format(line.count)}`)))));
}

// What is known of the lease outlives the candidate: only who leads now says so.
function leadership({ state, leader, identity }) {
  if (state === "leading") return "This process leads";
  if (state === "no candidate") return "Takes no part";
  if (!leader) return "Nobody leads";
  return leader === identity ? "This process led last" : `${leader} leads`;
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
        each.remaining != null && fact("safe for", seconds(each.remaining))))),
    now.others.map((each) => h("section", { class: "panel", "aria-label": each.name },
      h("header", {}, h("h2", {}, each.name)),
      h("dl", { class: "plain" }, Object.entries(each.values).map(([name, value]) => fact(name, value))))),
    h("section", { class: "panel", "aria-label": "Process" },
      h("header", {}, h("h2", {}, "Process")),
      h("dl", { class: "plain" },
        fact("process", `${now.about.pid} on ${now.about.host}`),
        fact("looked at since", clock(now.about.started)),
        fact("kubeloop", now.about.kubeloop),
        fact("Python", now.about.python))));
}

// Which cache feeds which controller, drawn between the two.
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

// --- searching

let found = null;
let foundFor = "";
let askedAt = 0;
let failure = "";

const link = (view, query) => `#/${view}?${new URLSearchParams(Object.entries(query).filter(([, value]) => value))}`;

async function ask(path) {
  const answer = await fetch(path);
  const body = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {};
  if (!answer.ok) throw new Error(body.error ?? (answer.status === 404 ? "It is not known here any more." : `The process answered ${answer.status}.`));
  return body;
}

async function refresh({ view, query }) {
  const asked = location.hash;
  askedAt = Date.now();
  try {
    const answer = await ask(`${view}?${new URLSearchParams(query)}`);
    if (location.hash !== asked) return;
    [found, failure] = [answer, ""];
  } catch (error) {
    if (location.hash !== asked) return;
    failure = error instanceof TypeError ? "The process does not answer." : error.message;
    if (foundFor !== asked) found = null;
  }
  foundFor = asked;
  render();
}

function searching(now, query) {
  const result = found?.rows ? found : { rows: [], total: 0, after: 0, namespaces: [] };
  const cache = now.mirrors.find((mirror) => mirror.id === query.cache);
  const owner = (id) => now.mirrors.find((mirror) => mirror.id === id)?.owner;
  const option = (value, text) => h("option", { value, selected: value === "" }, text);
  show("searching",
    h("nav", { "aria-label": "Path" }, h("a", { href: "#/" }, "Overview"), h("span", {}, cache ? owned(cache.kind, cache.owner) : "All caches")),
    h("h1", { class: "unseen" }, "Search"),
    h("form", { class: "search", role: "search" },
      h("label", { class: "wide" }, h("span", {}, "Name contains"), h("input", { name: "name", type: "search", autocomplete: "off", spellcheck: "false" })),
      h("label", {}, h("span", {}, "Kind"), h("select", { name: "cache" }, option("", "all"), now.mirrors.map((mirror) => option(mirror.id, owned(mirror.id, mirror.owner))))),
      h("label", {}, h("span", {}, "Namespace"), h("select", { name: "namespace" }, option("", "all"),
        [...new Set([...result.namespaces, ...(query.namespace ? [query.namespace] : [])])].map((name) => option(name, name)))),
      h("label", { class: "wide" }, h("span", {}, "Labels"), h("input", { name: "labels", placeholder: "app=web,tier!=cache", autocomplete: "off", spellcheck: "false", "aria-invalid": failure ? "true" : "false" }))),
    failure && h("p", { class: "alarm", role: "alert" }, failure),
    h("p", { class: "count", role: "status" }, failure ? "" : result.total === 0 ? "Nothing fits." : `${plural(result.total, "object")}${result.total > result.rows.length ? `, ${result.after + 1} to ${result.after + result.rows.length}` : ""}`),
    h("div", { class: "rows" }, result.rows.map((row) =>
      h("a", { class: "row", "data-row": true, "data-key": `${row.cache} ${row.namespace}/${row.name}`, href: link("object", { cache: row.cache, namespace: row.namespace, name: row.name }) },
        h("b", {}, row.name),
        h("span", { class: "place" }, row.namespace || "cluster-wide"),
        !query.cache && h("span", { class: "place" }, owned(row.kind, owner(row.cache))),
        h("span", { class: "labels" }, Object.entries(row.labels).slice(0, 4).map(([name, value]) => chip(`${name}=${value}`)), row.is_deleting && chip("deleting", "bad")),
        h("time", { datetime: row.created }, row.created ? since(row.created) : "")))),
    h("nav", { class: "pages", "aria-label": "Pages" },
      result.after > 0 && h("a", { href: link("search", { ...query, after: Math.max(result.after - 50, 0) || "" }) }, "← before"),
      result.after + result.rows.length < result.total && h("a", { href: link("search", { ...query, after: result.after + 50 }) }, "more →")));
  fillForm(query);
}

function fillForm(query) {
  if (typing !== null) return; // what was typed is not in the address yet
  for (const field of document.querySelectorAll(".search [name]")) {
    if (field !== document.activeElement) field.value = query[field.name] ?? "";
  }
}

let typing = null;

function typed(event) {
  const form = event.target.closest(".search");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    typing = null;
    if (route().view !== "search") return; // the reader has gone elsewhere
    history.replaceState(null, "", link("search", Object.fromEntries(new FormData(form))));
    refresh(route());
  }, 120);
}

// --- one object

const YAML_LINE = /^(\s*(?:- )*)([^\s:#"'][^:]*:|"[^"]*":)?(.*)$/;

function yamlLine(text) {
  const [, pad, key = "", value] = YAML_LINE.exec(text) ?? ["", "", "", text];
  const parts = value.split(/(‹hidden [0-9a-f]+›)/);
  return h("code", {}, pad, key && h("b", {}, key),
    parts.map((part) => (part.startsWith("‹hidden") ? h("mark", { title: "The value does not leave the process; equal marks are equal values" }, part) : part)));
}

function object(query) {
  const thing = foundFor === location.hash ? found : null;
  const where = query.namespace ? `${query.namespace}/` : "";
  show("object",
    h("nav", { "aria-label": "Path" }, h("a", { href: "#/" }, "Overview"), h("a", { href: link("search", { cache: query.cache }) }, thing?.kind ?? query.cache), h("span", {}, `${where}${query.name ?? ""}`)),
    h("header", {}, h("h1", {}, query.name ?? "No object"),
      h("p", {}, [thing?.kind, query.namespace && `in ${query.namespace}`, thing?.version && `version ${thing.version}`].filter(Boolean).join(" · "))),
    failure && h("p", { class: "alarm", role: "alert" }, failure),
    thing && h("div", { class: "columns" },
      h("section", { class: "panel yaml", "aria-label": "YAML" },
        h("header", {}, h("h2", {}, "Now")),
        thing.yaml == null ? h("p", { class: "empty" }, "It is gone from the cache.") : h("pre", { tabindex: "0" }, thing.yaml.split("\n").map(yamlLine))),
      h("section", { class: "panel changes", "aria-label": "Changes" },
        h("header", {}, h("h2", {}, "Changes"), h("small", {}, plural(thing.changes.length, "change"))),
        thing.changes.length === 0 && h("p", { class: "empty" }, "None since the inspector runs."),
        thing.changes.map((change, at) =>
          h("details", { open: at < 3, "data-key": `${change.type} ${change.version} ${change.at}` },
            h("summary", {}, h("b", { class: change.type }, change.type.toLowerCase()), h("time", { datetime: change.at }, `${clock(change.at)}, ${since(change.at)}`), h("small", {}, `version ${change.version}`)),
            h("pre", { tabindex: "0" }, change.lines.length === 0 && h("code", { class: "gap" }, "nothing that is shown"),
              change.lines.map(([mark, text]) => h("code", { class: LINES[mark] }, h("i", {}, mark === "…" ? "⋯" : mark), text))))))));
}

const LINES = { "+": "came", "-": "went", " ": "same", "…": "gap" };

// --- ways

function route() {
  const [, view = "", query = ""] = /^#\/(\w*)(?:\?(.*))?$/.exec(location.hash) ?? [];
  return { view, query: Object.fromEntries(new URLSearchParams(query)) };
}

let snapshot = null;

function render() {
  if (!snapshot) return;
  const { view, query } = route();
  head(snapshot);
  if (view === "search") searching(snapshot, query);
  else if (view === "object") object(query);
  else overview(snapshot);
}

let broken = "";

function head({ about, mirrors, elections, controllers }) {
  $("name").textContent = about.name;
  $("about").textContent = `pid ${about.pid} on ${about.host}`;
  const troubled = mirrors.filter((mirror) => mirror.health === "broken").map((mirror) => mirror.kind);
  const leads = elections.some((each) => each.state === "leading");
  patch($("badges"), h("span", { id: "badges" },
    about.state && chip(about.state, about.state === "running" ? "good" : ""),
    elections.length > 0 && chip(leads ? "leader" : "standing by", leads ? "good" : ""),
    troubled.length > 0 && chip(`${plural(troubled.length, "watch", "watches")} broken`, "bad"),
    troubled.length === 0 && controllers.some((each) => each.health === "troubled") && chip("failures", "warn")));
  document.title = `${troubled.length ? "(!) " : ""}${about.name} · kubeloop inspector`;
  const said = troubled.join(", ");
  if (said !== broken) $("news").textContent = said ? `Broken: ${said}` : "All watches are well again";
  broken = said;
}

function navigated() {
  const here = route();
  [found, failure] = here.view === "search" && found?.rows ? [found, ""] : [null, ""];
  if (here.view === "search" || here.view === "object") refresh(here);
  render();
  focusSearch();
}

function focusSearch() {
  if (!document.activeElement?.closest(".search")) document.querySelector(".search [name=name]")?.focus();
}

function pressed(event) {
  const field = event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !field) {
    event.preventDefault();
    const box = document.querySelector(".search [name=name]");
    if (box) box.focus();
    else location.hash = "#/search";
  } else if (event.key === "Escape") {
    const { view, query } = route();
    if (view === "object") location.hash = link("search", { cache: query.cache });
    else if (view === "search") location.hash = "#/";
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

function clicked(event) {
  const tab = event.target.closest("[data-lines]");
  if (!tab) return;
  chosen = tab.dataset.lines;
  render();
}

// --- the stream

let source = null;
let heard = 0;

function say(state, words) {
  const line = $("link");
  if (line.dataset.state === state) return;
  line.dataset.state = state;
  line.textContent = words;
}

function connect() {
  source?.close();
  source = new EventSource("stream");
  source.onmessage = (event) => {
    heard = Date.now();
    const before = snapshot;
    snapshot = JSON.parse(event.data);
    say("live", "live");
    render();
    if (!before) focusSearch();
    if (!before || caches(before) !== caches(snapshot)) refreshShown(before);
  };
  source.onerror = () => {
    say("lost", "the process does not answer, trying again");
    if (source.readyState === EventSource.CLOSED) setTimeout(seen, 2000);
  };
}

// What is shown of a cache is asked for again when the cache has changed; a search that costs
// the process something, less often.
const caches = ({ mirrors }) => mirrors.map((mirror) => `${mirror.id} ${mirror.version}`).join();

function refreshShown(before) {
  const here = route();
  const isLarge = here.view === "search" && found?.total > 2000;
  if (!before || (here.view !== "search" && here.view !== "object")) return;
  if (Date.now() - askedAt > (isLarge ? 10_000 : 0)) refresh(here);
}

function watchSilence() {
  if (source?.readyState === EventSource.OPEN && Date.now() - heard > 5000) {
    say("silent", `silent for ${seconds((Date.now() - heard) / 1000)}: its event loop may be held`);
  }
}

// The process works for the page only while somebody looks.
function seen() {
  if (document.hidden) {
    source?.close();
    say("paused", "paused");
  } else {
    connect();
  }
}

window.addEventListener("hashchange", navigated);
window.addEventListener("resize", drawCurves);
document.addEventListener("visibilitychange", seen);
document.addEventListener("keydown", pressed);
document.addEventListener("click", clicked);
document.addEventListener("input", typed);
document.addEventListener("submit", (event) => event.preventDefault());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
setInterval(watchSilence, 1000);
seen();
navigated();
