// Adds to the conversation page: the answer as it is validated, and the source panel beside it.
// Without this script the same forms and links lead to whole pages.

const composer = document.querySelector("#composer");
const box = document.querySelector("#question");
const send = document.querySelector("#send");
const stop = document.querySelector("#stop");
const problem = document.querySelector("#problem");
const status = document.querySelector("#status");
const turns = document.querySelector("#turns");
const panel = document.querySelector("#panel");
const panelBody = document.querySelector("#panel-body");
const panelPage = document.querySelector("#panel-page");
const words = composer.dataset;
const wide = window.matchMedia("(min-width: 900px)");

// ---- Asking ----

let running = null;

composer.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!running && box.value.trim()) ask(box.value);
});

turns.addEventListener("submit", (event) => {
  const form = event.target.closest("form.again");
  if (!form || running) return;
  event.preventDefault();
  ask(form.elements.question.value);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});

stop.addEventListener("click", () => running?.abort());

async function ask(question) {
  running = new AbortController();
  say("");
  complain("");
  busy(true);
  const live = new Live(question);
  try {
    const body = new FormData(composer);
    body.set("question", question);
    const response = await fetch(composer.action, {
      method: "POST",
      body,
      headers: { Accept: "text/event-stream" },
      signal: running.signal,
    });
    const type = response.headers.get("Content-Type") ?? "";
    if (response.redirected) return location.assign(location.href); // signed out meanwhile
    if (!type.startsWith("text/event-stream")) {
      live.remove();
      complain(type.startsWith("application/json") ? (await response.json()).detail : words.failed);
      return;
    }
    if (box.value === question) box.value = "";
    for await (const event of events(response.body)) live.take(event);
    await live.settle();
  } catch {
    if (running.signal.aborted) await live.stopped();
    else {
      await live.stopped();
      complain(words.lost);
      if (!box.value) box.value = question;
    }
  } finally {
    running = null;
    busy(false);
  }
}

async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
      const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
      if (name) yield { name, data: JSON.parse(data ?? "{}") };
    }
  }
}

class Live {
  constructor(question) {
    document.querySelector("#empty")?.remove();
    const article = document.querySelector("#asked").content.cloneNode(true).firstElementChild;
    article.querySelector(".question").textContent = question;
    article.classList.toggle("fresh", turns.querySelector(".turn") !== null);
    for (const old of turns.querySelectorAll(".fresh")) old.classList.remove("fresh");
    turns.append(article);
    article.scrollIntoView({ block: "start", behavior: "smooth" });
    this.follow(article);
  }

  follow(article) {
    this.article = article;
    this.steps = article.querySelector(".progress");
    this.answer = article.querySelector(".answer");
  }

  take({ name, data }) {
    if (name === "turn") {
      this.url = data.url;
      document.querySelector("#title").textContent = data.title;
      this.answer.classList.toggle("quotes", data.quotes);
    }
    else if (name === "searching") this.step(words.searching.replace("{spaces}", (data.spaces ?? []).join(", ")));
    else if (name === "sources") this.step(found(data.count));
    else if (name === "verifying") this.step(words.verifying);
    else if (name === "piece") this.piece(data);
    else if (name === "done") this.done = data;
  }

  step(text) {
    for (const item of this.steps.children) item.removeAttribute("class");
    const item = document.createElement("li");
    item.className = "now";
    item.textContent = text;
    this.steps.append(item);
    say(text);
  }

  piece(data) {
    const piece = document.createElement("span");
    piece.className = data.hidden ? "piece withdrawn" : "piece";
    piece.innerHTML = data.html; // made safe by the server
    this.answer.append(piece, " ");
  }

  /** The turn as it was recorded takes the place of what was shown live. */
  async settle() {
    if (!this.url) return this.remove();
    const response = await fetch(this.url, { headers: { "X-Requested-With": "fetch" } });
    if (response.redirected || !response.ok) return location.reload();
    const holder = document.createElement("template");
    holder.innerHTML = await response.text();
    const article = holder.content.querySelector("article");
    article.classList.toggle("fresh", this.article.classList.contains("fresh"));
    const focused = this.article.contains(document.activeElement);
    this.article.replaceWith(article);
    this.article = article;
    if (focused) article.focus({ preventScroll: true });
    if (article.dataset.status === "pending") return resume(article);
    say({ answered: words.ready, refused: words.refused }[article.dataset.status] ?? words.failed);
  }

  async stopped() {
    try {
      await this.settle();
    } catch {
      this.remove();
    }
  }

  remove() {
    this.article.remove();
  }
}

/** A turn that is still being answered elsewhere (another tab, a reload) is followed to its end. */
function resume(article) {
  const live = Object.create(Live.prototype);
  live.follow(article);
  const source = new EventSource(article.dataset.events);
  source.addEventListener("turn", (event) => {
    live.answer.replaceChildren();
    live.take({ name: "turn", data: JSON.parse(event.data) });
  });
  source.addEventListener("piece", (event) => live.take({ name: "piece", data: JSON.parse(event.data) }));
  source.addEventListener("done", () => {
    source.close();
    live.settle();
  });
}

function found(count) {
  if (!count) return words.none;
  return count === 1 ? words.source : words.sources.replace("{count}", count);
}

function busy(on) {
  send.hidden = on;
  stop.hidden = !on;
  composer.toggleAttribute("aria-busy", on);
  if (!on && (document.activeElement === document.body || document.activeElement === stop)) {
    box.focus({ preventScroll: true });
  }
}

function say(text) {
  status.textContent = text;
}

function complain(text) {
  problem.textContent = text;
  problem.hidden = !text;
  box.toggleAttribute("aria-invalid", Boolean(text));
}

turns.addEventListener("click", (event) => {
  if (!event.target.closest(".rephrase")) return;
  event.preventDefault();
  box.value = event.target.closest("article").dataset.question;
  box.focus();
  box.select();
});

// ---- Sources ----

let opener = null;

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-tag]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  openSource(link);
});

async function openSource(link) {
  if (!panel.contains(link)) {
    opener?.classList.remove("open");
    opener = link;
    link.classList.add("open");
  }
  panelPage.href = link.href;
  panelBody.classList.add("busy");
  if (!panel.open) wide.matches ? panel.show() : panel.showModal();
  document.body.classList.add("panel-open");
  try {
    const response = await fetch(link.href, { headers: { "X-Requested-With": "fetch" } });
    if (response.redirected || !response.ok) throw new Error("not opened");
    panelBody.innerHTML = await response.text();
  } catch {
    const sorry = document.createElement("p");
    sorry.className = "problem";
    sorry.textContent = panelBody.dataset.failed;
    panelBody.replaceChildren(sorry);
  }
  panelBody.classList.remove("busy");
  panel.scrollTop = 0;
  (panelBody.querySelector(".source-name") ?? document.querySelector("#panel-close")).focus();
  const mark = panelBody.querySelector(".slide mark");
  if (mark && mark.getBoundingClientRect().bottom > innerHeight) mark.scrollIntoView({ block: "center" });
}

function closePanel() {
  if (panel.open) panel.close();
}

panel.addEventListener("close", () => {
  document.body.classList.remove("panel-open");
  opener?.classList.remove("open");
  if (opener?.isConnected) opener.focus({ preventScroll: false });
  else box.focus({ preventScroll: true });
  opener = null;
});

document.querySelector("#panel-close").addEventListener("click", closePanel);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel.open) {
    event.preventDefault();
    closePanel();
  }
});
panel.addEventListener("click", (event) => {
  if (event.target === panel) closePanel(); // the backdrop of the sheet
});
wide.addEventListener("change", closePanel);

// ---- Start ----

for (const article of turns.querySelectorAll("article[data-events]")) resume(article);
if (location.hash.startsWith("#turn-")) document.querySelector(location.hash)?.focus({ preventScroll: true });
else turns.querySelector(".turn:last-of-type")?.scrollIntoView({ block: "start" });
