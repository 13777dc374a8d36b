// The colour mode and the time zone that the reader chose in Airflow, links that leave the frame in which Airflow shows these pages, the
// question before an action, and the search of the board.
"use strict";

const stored = (key) => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

const system = matchMedia("(prefers-color-scheme: dark)");

function paint() {
  const chosen = stored("theme");
  const dark = chosen === "dark" || (chosen !== "light" && system.matches);
  document.documentElement.classList.toggle("dark", dark);
}

function tell() {
  const zone = (stored("timezone") || "UTC").replaceAll('"', ""); // Airflow keeps it as JSON
  for (const time of document.querySelectorAll("time")) {
    try {
      const parts = new Intl.DateTimeFormat("en-GB", {
        timeZone: zone === "local" ? undefined : zone, timeZoneName: "short", hour12: false,
        year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit",
      }).formatToParts(new Date(time.dateTime));
      const of = Object.fromEntries(parts.map((part) => [part.type, part.value]));
      time.textContent = `${of.year}-${of.month}-${of.day} ${of.hour}:${of.minute} ${of.timeZoneName}`;
    } catch {
      // a zone that this browser does not know: the text stays in UTC
    }
  }
}

paint();
addEventListener("storage", () => { paint(); tell(); });
system.addEventListener("change", paint);
addEventListener("DOMContentLoaded", tell);

// Airflow frames these pages without the right to navigate it. A link of its own document may: made there, followed there.
addEventListener("click", (event) => {
  const link = event.target.closest("a.out");
  if (!link || window.parent === window || event.button !== 0) return;
  event.preventDefault();
  const own = window.parent.document.createElement("a");
  own.href = link.href;
  own.click();
});

// A button of class `act` says what it calls. The call goes to Airflow's own API, as the person who is signed in, after a question.
addEventListener("click", (event) => {
  const button = event.target.closest("button.act");
  if (button) ask(button);
});

function ask(button) {
  const part = (name) => document.getElementById(`question${name}`);
  const dialog = part(""), yes = part("-yes"), no = part("-no"), reason = part("-reason"), said = part("-said");
  const { path, body, about, asks, field } = button.dataset;
  part("-title").textContent = button.textContent;
  part("-about").textContent = about;
  part("-field").hidden = !asks;
  part("-field").firstElementChild.textContent = asks;
  reason.value = said.textContent = "";
  yes.hidden = yes.disabled = false;
  no.textContent = "Cancel";
  no.onclick = () => dialog.close();
  yes.onclick = async () => {
    const call = JSON.parse(body);
    if (asks) {
      if (!reason.value.trim()) {
        said.textContent = "Give a reason.";
        reason.focus();
        return;
      }
      call.conf[field] = reason.value.trim();
    }
    yes.disabled = true;
    said.textContent = "Sent …";
    let done = false;
    try {
      const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(call) });
      done = answer.ok;
      said.textContent = done ? await taken(path) : await refusal(answer);
    } catch {
      said.textContent = "Airflow does not answer. Nothing is known of it: look at the runs before you try again.";
    }
    yes.hidden = done;
    yes.disabled = false;
    no.textContent = "Close";
    if (done) {
      no.onclick = () => location.reload();
      no.focus();
    }
  };
  dialog.showModal();
  (asks ? reason : no).focus();
}

// A run of a paused DAG waits until somebody switches the DAG on.
async function taken(path) {
  const dag = await fetch(path.slice(0, path.lastIndexOf("/"))).then((answer) => answer.json(), () => ({}));
  const goes = dag.is_paused ? "It waits: the DAG is paused. Switch it on in Airflow." : "Close shows how it goes on.";
  return `Done. ${goes}`;
}

async function refusal(answer) {
  const { detail } = await answer.json().catch(() => ({}));
  const why = { 401: "you are signed out", 403: "your role may not do this", 404: "Airflow does not know this DAG or run" }[answer.status];
  return `Refused: ${why || (typeof detail === "string" ? detail : `Airflow answers ${answer.status}`)}.`;
}

// The search of the board: every word must begin a word of what is kept.
addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("find");
  if (!field) return;
  const lines = [...document.querySelectorAll("[data-find]")].map((line) => [line, line.dataset.find.toLowerCase().split(/[\s,;:()_-]+/)]);
  const folds = [...document.querySelectorAll("details:has([data-find])")].map((fold) => [fold, fold.open]);
  field.addEventListener("input", () => {
    const asked = field.value.toLowerCase().split(/[\s,;:()_-]+/).filter(Boolean);
    for (const [line, words] of lines) line.hidden = !asked.every((word) => words.some((each) => each.startsWith(word)));
    for (const [fold, open] of folds) fold.open = asked.length ? fold.querySelector("[data-find]:not([hidden])") !== null : open;
    const cycles = lines.filter(([line]) => line.matches("li.card, tr"));
    const kept = cycles.filter(([line]) => !line.hidden).length;
    document.getElementById("found").textContent = asked.length ? `${kept} of ${cycles.length} cycles` : "";
  });
});
