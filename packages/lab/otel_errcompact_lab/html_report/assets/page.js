"use strict";
// Everything can be read without this script. It adds sorting, filtering, copying and the choice of colours.

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// ---- colours: the system's, unless one is chosen; a browser that keeps nothing for files just forgets it

const THEMES = ["system", "light", "dark"];
const KEY = "errcompact-theme";

function recall() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  find("#theme-name").textContent = theme;
  try { localStorage.setItem(KEY, theme); } catch { /* it holds for this visit */ }
}

const theme = find("#theme");
theme.hidden = false;
setTheme(THEMES.includes(recall()) ? recall() : "system");
theme.addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "system";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});

// ---- copying: the very characters, those too that the page shows as marks

function exact(element) {
  let text = "";
  for (const node of element.childNodes) {
    const code = node.dataset?.c;
    text += code === undefined
      ? node.textContent
      : String.fromCharCode(Number.parseInt(code, 16)).repeat(Number(node.dataset.n ?? 1));
  }
  return text;
}

async function copy(button) {
  const source = find(".exact", button.closest(".raw, .copyable"));
  const label = button.innerHTML;
  try {
    await navigator.clipboard.writeText(exact(source));
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.innerHTML = label; }, 1500);
}

for (const button of all(".copy")) button.hidden = false;
document.addEventListener("click", (event) => {
  const button = event.target.closest(".copy");
  if (button) copy(button);
});

// ---- sorting: one row of a table, or several that belong together, is a tbody

const compare = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

function sortable(table, cellOf) {
  const heads = all("th[data-sort]", table);
  const bodies = [...table.tBodies];
  const places = new Map(bodies.map((body, place) => [body, place]));
  const valueOf = (body, name) => {
    const cell = cellOf(body, name);
    return cell.dataset.value === undefined || name === "error" ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const sort = (head, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const values = new Map(bodies.map((body) => [body, valueOf(body, head.dataset.sort)]));
    bodies.sort((one, other) => {
      const [a, b] = [values.get(one), values.get(other)];
      return sign * (typeof a === "number" ? a - b : compare(a, b)) || places.get(one) - places.get(other);
    });
    table.append(...bodies);
    for (const each of heads) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
  };
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "head";
    button.append(...head.childNodes);
    head.append(button);
    const first = head.dataset.first ?? "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    button.addEventListener("click", () => sort(head, head.getAttribute("aria-sort") === first ? second : first));
  }
}

const classes = find("#class-table");
for (const table of all("table.rows")) sortable(table, (body, name) => find(`:scope > .entry > td.${name}`, body));

// ---- of many runs the first ten of the order that is chosen, until all are asked for

const runs = find("#run-table");
const allRuns = find("#all-runs");
if (allRuns) {
  runs.classList.add("short");
  allRuns.parentElement.hidden = false;
  allRuns.addEventListener("click", () => {
    const next = runs.tBodies[10];
    showAllRuns();
    find("summary", next).focus();
  });
}

function showAllRuns() {
  runs?.classList.remove("short");
  if (allRuns) allRuns.parentElement.hidden = true;
}

// ---- filtering by every word, in what a row says and in its key and template

let clearFilter = () => {};
if (classes) {
  const [form, text, standing, shown] = ["#filter", "#text", "#standing", "#shown"].map((id) => find(id));
  const rows = [...classes.tBodies].map((body) => {
    const facts = all(".facts code", body).map((code) => code.textContent);
    return { body, standing: body.dataset.standing, words: [body.rows[0].textContent, ...facts].join(" ").toLowerCase() };
  });
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = (!standing?.value || row.standing === standing.value) && words.every((word) => row.words.includes(word));
      row.body.hidden = !fits;
      count += fits;
    }
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length}`;
    find("#nothing").hidden = count > 0;
    classes.hidden = count === 0;
  };
  const clear = () => { text.value = ""; if (standing) standing.value = ""; filter(); };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  find("#clear").addEventListener("click", () => { clear(); text.focus(); });
  filter();
  clearFilter = clear;
}

// ---- a link leads to its place although a filter hides it, and opens what there is to read

function lead() {
  const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!aim?.matches("table.rows > tbody, .line li, article.raw")) return;
  if (aim.closest("tbody")?.hidden) clearFilter();
  if (aim.closest("#run-table")) showAllRuns();
  for (let around = aim.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  const details = find(":scope > .more > td > details, :scope > div > details", aim);
  if (details) details.open = true;
  const focus = details ? find("summary", details) : aim;
  if (focus === aim) aim.tabIndex = -1;
  focus.focus({ preventScroll: true });
  // Twice: of a long time line the heights are estimates until a part of it was seen.
  for (const wait of [0, 100]) setTimeout(() => aim.scrollIntoView({ behavior: "instant" }), wait);
}

addEventListener("hashchange", lead);
document.addEventListener("click", (event) => {
  if (event.target.closest("a")?.hash === location.hash && location.hash) lead();
});
if (location.hash) lead();

// ---- a raw error stands once on the page, at its class; where a step is opened, it comes there

document.addEventListener("toggle", (event) => {
  for (const link of event.target.open ? all("a[data-whole]", event.target) : []) {
    const whole = find(".exact", document.getElementById(link.hash.slice(1)));
    if (whole) find(".exact", link.closest(".raw")).replaceChildren(...whole.cloneNode(true).childNodes);
    link.closest(".elsewhere").remove();
  }
}, true);
