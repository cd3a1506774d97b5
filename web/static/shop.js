// The shop works without this script; only paying twice on purpose needs it. It keeps the key of a purchase in the
// browser, looks again while an outcome is open, and sends nothing that a form of the page would not send.
"use strict";

const shelf = "payonce.key.";

// A key is made when the page with its form is shown, and it is the same after a reload, a crash or a lost answer. Where
// the browser refuses storage or randomness, the key that the shop put into the form stays.
function keepKeys() {
  for (const input of document.querySelectorAll("input[data-key-scope]")) {
    try {
      const name = shelf + input.dataset.keyScope;
      let key = localStorage.getItem(name);
      if (!key || key === input.dataset.keySpent) {
        key = crypto.randomUUID();
        localStorage.setItem(name, key);
      }
      input.value = key;
      const shown = input.form.querySelector("[data-key-shown]");
      if (shown) shown.textContent = key;
    } catch {
      return;
    }
  }
}

// The page of an order that is decided names the keys that have done their work.
function forgetKeys() {
  for (const scope of (document.body.dataset.forget || "").split(" ").filter(Boolean)) {
    try {
      localStorage.removeItem(shelf + scope);
    } catch {
      return;
    }
  }
}

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

function secondsIn(response, otherwise) {
  const after = Number(response.headers.get("Retry-After"));
  return after >= 1 && after <= 60 ? after : otherwise;
}

// An order whose outcome is open is looked at until it changes; the shop says how often.
async function watchOrder(section) {
  let after = Number(section.dataset.after) || 2;
  for (;;) {
    await pause(after);
    if (document.hidden) continue;
    try {
      const response = await fetch(section.dataset.poll, { headers: { Accept: "application/json" } });
      after = secondsIn(response, after);
      if (response.ok && (await response.json()).state !== section.dataset.state) {
        location.reload();
        return;
      }
    } catch {
      after = Math.min(after * 2, 30); // no network: knock less often
    }
  }
}

// One of the two identical requests. As long as the answer is "ask again", the same form with the same key is sent again.
async function send(form, body, card) {
  const began = performance.now();
  const role = card.querySelector(".role");
  for (let tries = 1; tries <= 20; tries++) {
    let after = 1;
    try {
      const response = await fetch(form.action, {
        method: "POST", body, redirect: "error",
        headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
      });
      if (response.headers.get("Content-Type") !== "application/json") return null; // a page: it has something to say
      const answer = await response.json();
      if (answer.kind !== "again") return { ...answer, tries, took: Math.round(performance.now() - began) };
      after = answer.again_after || after;
      role.textContent = "no answer yet, asking again with the same key …";
    } catch {
      role.textContent = "the connection broke, asking again with the same key …";
    }
    await pause(after);
  }
  return null;
}

function line(list, term, value, kind) {
  const row = document.createElement("div");
  if (kind) row.className = kind;
  row.append(Object.assign(document.createElement("dt"), { textContent: term }));
  row.append(Object.assign(document.createElement("dd"), { textContent: value }));
  list.append(row);
}

// Both cards have the same lines in the same places, so that what is equal and what is not can be seen at a glance.
function showTwin(card, answer) {
  const list = card.querySelector("dl");
  const worked = answer.calls.filter((call) => !call.replayed).length;
  card.classList.add(worked ? "worked" : "replayed");
  card.querySelector(".role").textContent = worked === answer.calls.length ? "did the work" : worked ? "did part of the work" : "was given the same answers";
  for (const call of answer.calls) {
    const order = call.operation === "orders.create";
    line(list, order ? "place the order" : "charge the card", call.status + " " + ((order ? answer.order_id : answer.charge_id) || ""), "call");
    line(list, "Idempotent-Replayed", call.replayed ? "true" : "no, first answer");
    line(list, "Request-Id", call.request_id || "none");
  }
  line(list, "took", answer.took + " ms" + (answer.tries > 1 ? ", asked " + answer.tries + " times" : ""), "call");
}

// The verdict is not taken from the two answers: the order itself is asked how many charges and payments it has.
async function showVerdict(box, first) {
  const response = await fetch(first.order_url + "/state", { headers: { Accept: "application/json" } });
  const order = await response.json();
  const payments = order.payments === 1 ? "one payment" : order.payments === 0 ? "nothing paid" : order.payments + " payments";
  const words = Object.assign(document.createElement("p"), { className: "big", textContent: "Two requests, one order, " + payments + "." });
  const detail = Object.assign(document.createElement("p"), {
    textContent: "Asked afterwards, the order has " + order.charges + (order.charges === 1 ? " charge" : " charges") + ", and " + order.paid + " was taken.",
  });
  const link = Object.assign(document.createElement("a"), { className: "button", href: first.order_url, textContent: "See the one order" });
  box.replaceChildren(words, detail, link);
}

async function payTwice(form) {
  if (!form.reportValidity()) return;
  const start = document.getElementById("twice-start");
  const twins = document.getElementById("twins");
  const verdict = document.getElementById("verdict");
  start.disabled = true;
  verdict.replaceChildren();
  const body = new URLSearchParams(new FormData(form)).toString();
  const cards = ["Request 1", "Request 2"].map((title) => {
    const card = document.getElementById("twin").content.cloneNode(true).firstElementChild;
    card.querySelector("h3").textContent = title;
    return card;
  });
  twins.replaceChildren(...cards);
  const answers = await Promise.all(cards.map((card) => send(form, body, card)));
  if (answers.some((answer) => !answer || answer.kind === "refused" || !answer.order_url)) {
    form.requestSubmit(); // the page has words, and fields, for what is wrong
    return;
  }
  answers.forEach((answer, i) => showTwin(cards[i], answer));
  start.disabled = false; // once more is as harmless as twice
  start.textContent = "Send it twice again";
  try {
    await showVerdict(verdict, answers[0]);
  } catch {
    location.assign(answers[0].order_url);
  }
}

forgetKeys();
keepKeys();
addEventListener("pageshow", (event) => event.persisted && keepKeys());

for (const control of document.querySelectorAll("[data-submit-on-change]")) {
  control.addEventListener("change", () => control.form.requestSubmit());
}
for (const button of document.querySelectorAll("[data-without-script]")) button.hidden = true;
for (const section of document.querySelectorAll("[data-poll]")) watchOrder(section);
for (const form of document.querySelectorAll("form[data-submit-after]")) {
  pause(Number(form.dataset.submitAfter) || 1).then(() => form.requestSubmit());
}

const twice = document.getElementById("twice");
if (twice) {
  twice.hidden = false;
  document.getElementById("twice-start").addEventListener("click", () => payTwice(document.getElementById("checkout")));
}
