"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];

  // --- Words and elements: names only ever enter as text -------------------------------------------

  const less = data.lowerIsBetter; // then signs would be about numbers of which less is better
  const signed = (value) => {
    if (!Number.isFinite(value)) return value > 0 ? "no limit" : value < 0 ? "no limit" : "-";
    const shown = value.toFixed(data.places ?? 2);
    if (Number(shown) === 0) return shown.replace("-", "");
    if (less) return shown.replace("-", "") + (value > 0 ? " better" : " worse");
    return value > 0 ? "+" + shown : shown;
  };
  const element = (tag, content, kind) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    for (const part of [].concat(content ?? [])) made.append(part);
    return made;
  };
  const named = (text) => element("bdi", text);
  const listed = (names) => (names.length ? names.flatMap((one, t) => (t ? [", ", named(one)] : [named(one)])) : ["nothing"]);

  // --- Finding people -------------------------------------------------------------------------------

  const cards = all("details.person");
  const texts = cards.map((card) => card.querySelector("summary").textContent.toLowerCase());
  const find = byId("find");
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    let count = 0;
    cards.forEach((card, t) => {
      card.hidden = !texts[t].includes(wanted);
      count += !card.hidden;
    });
    byId("found").textContent = wanted ? `${count} of ${cards.length}` : "";
  });
  const chips = all("[data-person]");
  const light = (person) => chips.forEach((chip) => chip.classList.toggle("lit", chip.dataset.person === person));
  chips.forEach((chip) => {
    chip.addEventListener("pointerenter", () => light(chip.dataset.person));
    chip.addEventListener("pointerleave", () => light(null));
    chip.addEventListener("focus", () => light(chip.dataset.person));
    chip.addEventListener("blur", () => light(null));
    chip.addEventListener("click", () => {
      find.value = "";
      find.dispatchEvent(new Event("input"));
      byId("p" + chip.dataset.person).open = true;
    });
  });

  const known = data.known;
  if (!known) return;

  // --- Unknowns: by table, then pair, then size ----------------------------------------------------

  const { n, k } = known;
  const unpacked = (text, Kind) => {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let t = 0; t < raw.length; t++) bytes[t] = raw.charCodeAt(t);
    return new Kind(bytes.buffer);
  };
  const low = known.low ?? -Infinity;
  const high = known.high ?? Infinity;
  const expected = unpacked(known.expected, Float32Array);
  const isSure = known.seen !== undefined;
  let lower, upper, count;
  if (isSure) {
    const seen = unpacked(known.seen, Uint32Array);
    const ends = [unpacked(known.lower, Float32Array), unpacked(known.upper, Float32Array), unpacked(known.count, Uint32Array)];
    lower = new Float64Array(expected.length).fill(low);
    upper = new Float64Array(expected.length).fill(high);
    count = new Float64Array(expected.length);
    seen.forEach((cell, t) => {
      lower[cell] = ends[0][t];
      upper[cell] = ends[1][t];
      count[cell] = ends[2][t];
    });
  }
  const pairs = known.symmetric ? (n * (n - 1)) / 2 : n * (n - 1);
  const sizes = known.bySize ? n + 1 : 1;
  const pair = (i, j) => {
    if (!known.symmetric) return i * (n - 1) + j - (j > i ? 1 : 0);
    if (i > j) [i, j] = [j, i];
    return (i * (2 * n - i - 1)) / 2 + j - i - 1;
  };
  const cell = (l, i, j, size) => ((known.pooled ? 0 : l) * pairs + pair(i, j)) * sizes + (known.bySize ? size : 0);
  const factor = (size) => (size < 2 ? 0 : known.value === "total" ? 1 : 1 / (size - 1));

  // --- Changes: coefficients of unknowns, netted, and the ends of their intervals -------------------

  const teamsOf = (sets) => {
    const teams = Array.from({ length: k }, () => []);
    sets.forEach((own, i) => own.forEach((l) => teams[l].push(i)));
    return teams;
  };
  const addTerms = (weights, person, own, teams, sign) => {
    for (const l of own) {
      const members = teams[l];
      const weight = sign * factor(members.length);
      for (const other of members) {
        if (other === person) continue;
        const at = cell(l, person, other, members.length);
        weights.set(at, (weights.get(at) ?? 0) + weight);
      }
    }
  };
  const amount = (weights) => {
    const found = { expected: 0, low: 0, high: 0, changes: false };
    let rangeLow = 0;
    let rangeHigh = 0;
    for (const [at, weight] of weights) {
      if (Math.abs(weight) <= 1e-12) continue;
      found.changes = true;
      found.expected += weight * expected[at];
      rangeHigh += weight * (weight > 0 ? high : low);
      rangeLow += weight * (weight > 0 ? low : high);
      if (!isSure) continue;
      const slack = known.rounding * Math.abs(weight);
      found.high += weight * (weight > 0 ? upper[at] : lower[at]) + slack;
      found.low += weight * (weight > 0 ? lower[at] : upper[at]) - slack;
    }
    found.high = isSure ? Math.min(found.high, rangeHigh) : rangeHigh;
    found.low = isSure ? Math.max(found.low, rangeLow) : rangeLow;
    return found;
  };
  const compared = (before, after) => {
    const [was, is] = [teamsOf(before), teamsOf(after)];
    const touched = new Set();
    for (let l = 0; l < k; l++) {
      const same = was[l].length === is[l].length && was[l].every((i, t) => i === is[l][t]);
      if (!same) [...was[l], ...is[l]].forEach((i) => touched.add(i));
    }
    const whole = new Map();
    const people = [];
    for (const i of touched) {
      const weights = new Map();
      addTerms(weights, i, after[i], is, 1);
      addTerms(weights, i, before[i], was, -1);
      if (known.counted[i]) for (const [at, weight] of weights) whole.set(at, (whole.get(at) ?? 0) + weight);
      people.push({ person: i, ...amount(weights) });
    }
    return { people, together: amount(whole) };
  };
  const verdict = (one) => (!one.changes ? "same" : isSure && one.low > 0 ? "gains" : isSure && one.high < 0 ? "loses" : "open");

  const outside = (size, least, most) => size < least || (most !== null && size > most);
  const broken = (sets) => {
    const teams = teamsOf(sets);
    const breaks = {
      size: (rule) => outside(teams[rule.coalition].length, rule.least, rule.most) && !(rule.orEmpty && !teams[rule.coalition].length),
      person: (rule) => rule.who.some((i) => outside(sets[i].length, rule.least, rule.most)),
      pair: (rule) => {
        const shared = sets[rule.who[0]].filter((l) => sets[rule.who[1]].includes(l) && (rule.coalition === null || l === rule.coalition));
        return rule.share ? !shared.length : shared.length > 0;
      },
      place: (rule) => sets[rule.who[0]].includes(rule.coalition) !== rule.inside,
      staff: (rule) => sets[rule.who[0]].length > 0,
      quota: (rule) => {
        const members = teams[rule.coalition];
        return !(rule.orEmpty && !members.length) && outside(members.filter((i) => rule.who.includes(i)).length, rule.least, rule.most);
      },
    };
    const found = known.rules.filter((rule) => breaks[rule.kind](rule)).map((rule) => rule.text);
    if (known.moves) {
      const { today, most, text } = known.moves;
      const moved = sets.filter((own, i) => today[i].length && String(own) !== String(today[i])).length;
      if (moved > most) found.push(`${text} (it is ${moved})`);
    }
    return found;
  };

  // --- Asking -----------------------------------------------------------------------------------------

  const people = data.agents;
  const rooms = data.coalitions;
  const [start, who, what, where] = ["start", "who", "what", "where"].map(byId);
  const nCounted = Math.max(1, known.counted.filter(Boolean).length);
  let changes = [];
  const option = (text, value) => {
    const made = element("option", text);
    made.value = value;
    return made;
  };
  const assigned = data.assigned; // everybody but those who left
  assigned.forEach((i) => who.append(option(people[i], i)));
  const base = () => data.starts[Number(start.value)].sets;
  const applied = () => changes.reduce(changed, base());
  const sorted = (own) => [...new Set(own)].sort((a, b) => a - b);
  function changed(sets, change) {
    const after = sets.slice();
    const { person, does, to } = change;
    if (does === "move") after[person] = [to];
    if (does === "join") after[person] = sorted([...sets[person], to]);
    if (does === "leave") after[person] = sets[person].filter((l) => l !== to);
    if (does === "swap") [after[person], after[to]] = [sets[to], sets[person]];
    return after;
  }
  const inWords = ({ person, does, to }) => {
    const verb = { move: " moves to ", join: " also joins ", leave: " leaves ", swap: " swaps with " }[does];
    return [named(people[person]), verb, named(does === "swap" ? people[to] : rooms[to])];
  };
  const fillWhere = () => {
    const kept = where.value;
    const own = applied()[Number(who.value)];
    where.replaceChildren();
    if (what.value === "swap") assigned.forEach((i) => i !== Number(who.value) && where.append(option(people[i], i)));
    else rooms.forEach((one, l) => (what.value !== "leave" || own.includes(l)) && where.append(option(one, l)));
    byId("where-label").textContent = what.value === "swap" ? "person" : "team";
    const there = [...where.options].map((one) => one.value);
    if (there.includes(kept) && kept !== "") where.value = kept;
    else if (what.value !== "leave" && what.value !== "swap") where.value = there.find((l) => !own.includes(Number(l))) ?? there[0];
  };
  const row = (cells, values) => {
    const made = element("tr", cells);
    for (const [key, value] of Object.entries(values ?? {})) made.dataset[key] = value;
    return made;
  };
  const table = (heads, rows) => {
    const top = element("tr", heads.map(([text, kind]) => element("th", text, kind)));
    const made = element("table", [element("thead", [top]), element("tbody", rows)]);
    return element("div", [made], "scroll");
  };
  const limits = isSure && data.limits; // else what is sure is next to nothing
  const words = { gains: "surely gains", loses: "surely loses", open: limits ? "open" : "", same: "" };
  const ends = (one) => (limits ? [element("td", signed(one.low), "num"), element("td", signed(one.high), "num")] : []);
  const endHeads = limits ? [["at least"], ["at most"]] : [];
  const places = (own) => listed(own.map((l) => rooms[l]));

  // Pairs who meet only after the changes, and of whom the log has seen nothing there.
  const neverSeen = (before, after) => {
    const was = teamsOf(before).map((members) => new Set(members));
    return teamsOf(after).flatMap((members, l) => members.flatMap((i) => members
      .filter((j) => i < j && !(was[l].has(i) && was[l].has(j)) && !seenIn(l, i, j)).map((j) => [i, j])));
  };
  const seenIn = (l, i, j) => {
    const some = Array.from({ length: sizes }, (_, size) => size);
    return some.some((size) => count[cell(l, i, j, size)] || count[cell(l, j, i, size)]);
  };

  const show = () => {
    const before = base();
    const after = applied();
    const told = byId("told");
    const answer = byId("answer");
    told.replaceChildren();
    answer.replaceChildren();
    delete answer.dataset.ready;
    if (changes.length) {
      const found = compared(before, after);
      const { together } = found;
      const per = (value) => signed(value / nCounted);
      const said = [`Everybody together: expected ${per(together.expected)} per person`];
      if (limits) said.push(`; surely between ${per(together.low)} and ${per(together.high)}`);
      told.append(element("ul", changes.map((one) => element("li", inWords(one))), "plain"));
      told.append(element("p", element("b", said.join("") + ".")));
      const guesses = isSure ? neverSeen(before, after) : [];
      if (guesses.length) {
        const more = guesses.length > 3 ? ` and ${guesses.length - 3} more` : "";
        const first = guesses.slice(0, 3).flatMap(([i, j], t) => [t ? ", " : "", named(people[i]), " with ", named(people[j])]);
        const note = element("p", ["Never seen together: ", ...first, more + ". What they are worth is a guess."], "hint");
        note.dataset.guesses = guesses.length;
        told.append(note);
      }
      const rank = { loses: 0, gains: 1, open: 2 };
      const rows = found.people
        .map((one) => ({ ...one, verdict: verdict(one) }))
        .filter((one) => one.verdict !== "same")
        .sort((a, b) => rank[a.verdict] - rank[b.verdict] || Math.abs(b.expected) - Math.abs(a.expected));
      const body = rows.map((one) => row(
        [
          element("th", named(people[one.person]), "text"),
          element("td", places(before[one.person]), "text"),
          String(before[one.person]) === String(after[one.person])
            ? element("td", "the same", "text soft")
            : element("td", places(after[one.person]), "text"),
          element("td", signed(one.expected), "num"),
          ...ends(one),
          element("td", words[one.verdict], `text ${one.verdict}`),
        ],
        { person: one.person, expected: one.expected, low: one.low, high: one.high, verdict: one.verdict },
      ));
      const heads = [["person", "text"], ["before", "text"], ["after", "text"], ["expected"], ...endHeads, ["", "text"]];
      answer.append(body.length ? table(heads, body) : element("p", "Nothing changes."));
      Object.assign(answer.dataset, { expected: together.expected, low: together.low, high: together.high });
    }
    const rules = broken(after);
    if (rules.length) {
      const note = element("div", element("p", "This breaks rules: " + rules.join("; ") + "."), "caution");
      note.dataset.broken = rules.length;
      answer.prepend(note);
    }
    answer.dataset.ready = changes.length;
    byId("undo").disabled = !changes.length;
    byId("reset").disabled = !changes.length;
    ideas(after);
    fillWhere();
  };

  // What the selected person could do next, the best for everybody together first.
  const ideas = (now) => {
    const person = Number(who.value);
    const tries = rooms.map((_, l) => ({ person, does: "move", to: l }));
    assigned.forEach((j) => j !== person && tries.push({ person, does: "swap", to: j }));
    const rules = broken(now).length;
    const found = [];
    for (const change of tries) {
      const after = changed(now, change);
      if (String(after[person]) === String(now[person]) || broken(after).length > rules) continue;
      const { people: some, together } = compared(now, after);
      const of = (someone) => some.find((one) => one.person === someone) ?? amount(new Map());
      found.push({ change, own: of(person), other: change.does === "swap" ? of(change.to) : null, together });
    }
    found.sort((a, b) => b.together.expected - a.together.expected);
    const shown = found.slice(0, 6);
    const exchanges = shown.some((one) => one.other);
    const rows = shown.map((one) => {
      const button = element("button", "try", "small");
      button.type = "button";
      button.addEventListener("click", () => {
        changes.push(one.change);
        show();
      });
      return row([
        element("td", inWords(one.change), "text"),
        element("td", signed(one.own.expected), "num"),
        ...ends(one.own),
        ...(exchanges ? [element("td", one.other ? signed(one.other.expected) : "", "num")] : []),
        element("td", signed(one.together.expected / nCounted), "num"),
        element("td", button),
      ], { does: one.change.does, to: one.change.to, own: one.own.expected, other: one.other?.expected ?? "" });
    });
    const box = byId("ideas");
    box.replaceChildren();
    if (!rows.length) return;
    box.append(element("h3", ["Ideas for ", named(people[person]), known.rules.length ? ", within the rules" : ""]));
    box.append(table([["change", "text"], ["for them"], ...endHeads, ...(exchanges ? [["for the other"]] : []), ["per person, everybody"], [""]], rows));
    if (shown.some((one) => one.other && one.own.expected > 0 && one.other.expected < 0)) {
      const note = "Where the other would lose, they would hardly agree: this is no alternative that somebody could take.";
      box.append(element("p", note, "hint"));
    }
  };

  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    if (where.value === "") return;
    changes.push({ person: Number(who.value), does: what.value, to: Number(where.value) });
    show();
  });
  byId("undo").addEventListener("click", () => {
    changes.pop();
    show();
  });
  const restart = () => {
    changes = [];
    show();
  };
  byId("reset").addEventListener("click", restart);
  start.addEventListener("change", restart);
  what.addEventListener("change", fillWhere);
  who.addEventListener("change", () => {
    fillWhere();
    ideas(applied());
  });
  all("[data-start]").forEach((button) => button.addEventListener("click", () => {
    start.value = button.dataset.start;
    restart();
    byId("what-if").scrollIntoView();
    const sets = base();
    const lines = teamsOf(sets).map((members, l) => [named(rooms[l]), `: ${members.length ? "" : "nobody"}`, ...(members.length ? listed(members.map((i) => people[i])) : [])]);
    byId("told").replaceChildren(element("ul", lines.map((line) => element("li", line)), "plain"));
  }));
  show();

  // --- Maps: who is behind a square ------------------------------------------------------------------

  const tables = known.pooled ? 1 : k;
  const side = data.order.length;
  const about = (i, j) => {
    let often = 0;
    let worth = 0;
    let shares = 0;
    for (let l = 0; l < tables; l++) {
      for (let s = 0; s < sizes; s++) {
        const at = (l * pairs + pair(i, j)) * sizes + s;
        const weight = isSure ? count[at] : 1;
        often += isSure ? count[at] : 0;
        worth += weight * expected[at];
        shares += weight;
      }
    }
    return { often, worth: shares ? worth / shares : null };
  };
  all("[data-map]").forEach((map) => {
    const said = document.querySelector(`[data-for="${map.dataset.map}"]`);
    const cursor = map.querySelector(".cursor");
    let at = [0, 1];
    const tell = () => {
      const [i, j] = at.map((place) => data.order[place]);
      cursor.setAttribute("x", at[1]);
      cursor.setAttribute("y", at[0]);
      cursor.setAttribute("visibility", "visible");
      if (i === j) return said.replaceChildren(named(people[i]));
      const { often, worth } = about(i, j);
      const seen = isSure ? (often ? `seen ${often} ${often === 1 ? "time" : "times"}` : "never seen together") : "";
      const level = known.neutral || less ? (known.neutral + (less ? -worth : worth)).toFixed(2) : signed(worth);
      const value = worth === null ? "" : `${seen ? ", " : ""}expected ${level}`;
      said.replaceChildren(named(people[i]), known.symmetric ? " and " : " with ", named(people[j]), ": " + seen + value);
    };
    map.addEventListener("pointermove", (event) => {
      const box = map.querySelector(".ground").getBoundingClientRect();
      const place = (from, extent) => Math.min(side - 1, Math.max(0, Math.floor((from / extent) * side)));
      at = [place(event.clientY - box.top, box.height), place(event.clientX - box.left, box.width)];
      tell();
    });
    map.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      at = at.map((place, t) => Math.min(side - 1, Math.max(0, place + step[t])));
      tell();
    });
  });
})();
