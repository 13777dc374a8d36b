// The colour mode and the time zone that the reader chose in Airflow, and links that leave the frame in which Airflow shows these pages.
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
