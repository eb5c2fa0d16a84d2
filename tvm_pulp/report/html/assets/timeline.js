/* Lanes of engines over cycles: measured above, expected below. Drag to move, buttons, pinch or Ctrl and wheel to zoom. */
T.timeline = (data, layers) => {
  const place = T.at('timeline');
  if (!data) {
    T.at('time-note').textContent = 'This device measures no time, and there is no plan to expect it from.';
    return;
  }
  const joined = data.joined ? ` ${T.number(data.joined)} short stretches are drawn together with their neighbours.` : '';
  const took = data.measured === null ? 'not measured' : `${T.number(data.measured)} cycles measured`;
  T.at('time-note').textContent = `${took}, ${data.expected === null ? 'no expectation' : `${T.number(data.expected)} expected`}. One colour per layer; paler bars are the compiler's expectation.${joined}`;
  const lanes = data.layers.length ? [{ group: 'layers', name: 'layers', kind: 'measured', spans: data.layers.map(([a, b], n) => [a, b, n]) }, ...data.lanes] : data.lanes;
  let from = 0, to = data.cycles, width = 0;
  const reach = {};
  for (const lane of data.lanes) for (const [a, b, layer] of lane.spans) {
    const known = reach[layer] || (reach[layer] = [a, b]);
    known[0] = Math.min(known[0], a); known[1] = Math.max(known[1], b);
  }
  const left = () => width < 560 ? 78 : 120, right = 8;
  const across = () => width - left() - right;

  const paint = () => {
    const scale = across() / (to - from), x = (cycle) => left() + (cycle - from) * scale;
    const parts = [];
    let y = 4, group = null;
    for (const lane of lanes) {
      if (group !== null && lane.group !== group) y += 9;
      group = lane.group;
      const many = lane.group === 'cores' && lane.kind === 'measured', height = many ? 11 : 19;
      const label = lane.kind === 'expected' ? (width < 560 ? 'expected' : `${lane.name}, expected`) : lane.name;
      parts.push(`<text class="${lane.kind === 'expected' ? 'muted' : ''}" x="${left() - 8}" y="${y + height / 2 + 4}" text-anchor="end" style="font-size:${many ? (width < 560 ? 9 : 10) : 12}px">${T.escape(T.shorten(label, width < 560 ? (many ? 13 : 11) : 20))}</text>`);
      parts.push(`<rect class="lane" x="${left()}" y="${y}" width="${across()}" height="${height}"/>`);
      parts.push(...bars(lane, x, y, height));
      y += height + 2;
    }
    const grid = [];
    for (const at of T.ticks(from, to, Math.max(2, across() / 110))) {
      grid.push(`<line class="grid" x1="${x(at)}" x2="${x(at)}" y1="2" y2="${y + 4}"/>`);
      const anchor = x(at) > width - 30 ? 'end' : x(at) < left() + 20 ? 'start' : 'middle';
      parts.push(`<text class="muted" x="${x(at)}" y="${y + 18}" text-anchor="${anchor}">${T.number(at)}</text>`);
    }
    place.innerHTML = `<svg width="${width}" height="${y + 24}" role="img" aria-label="timeline"><defs><clipPath id="lanes"><rect x="${left()}" y="0" width="${across()}" height="${y + 24}"/></clipPath></defs>${grid.join('')}${parts.join('')}</svg>`;
    T.mark(place);
    buttons();
  };
  const bars = (lane, x, y, height) => {
    const found = [];
    let last = null;
    for (const [start, end, layer] of lane.spans) {
      if (end < from || start > to) continue;
      const a = Math.max(x(start), left()), b = Math.min(x(end), width - right);
      if (last && last.layer === layer && a - last.b < 0.8) {
        last.b = Math.max(last.b, b); last.end = Math.max(last.end, end); last.count += 1;
        continue;
      }
      last = { a, b, start, end, layer, count: 1 };
      found.push(last);
    }
    return found.map((bar) => {
      const name = layers[bar.layer] ? layers[bar.layer].name : '', wide = Math.max(bar.b - bar.a, 0.8);
      const many = bar.count > 1 ? ` in ${bar.count} stretches` : '';
      const tip = `${name}\n${lane.name}, ${lane.kind}: cycles ${T.number(bar.start)} to ${T.number(bar.end)}${many}`;
      const text = height > 12 ? T.fit(name, wide) : '';
      return `<rect class="bar ${lane.kind}${wide < 5 ? ' slim' : ''}" data-layer="${bar.layer}" data-tip="${T.escape(tip)}" x="${bar.a.toFixed(2)}" y="${y}" width="${wide.toFixed(2)}" height="${height}" fill="${T.layerColour(bar.layer)}"/>`
        + (text ? `<text class="inside" style="fill:${T.layerInk(bar.layer)}" data-layer="${bar.layer}" x="${((bar.a + bar.b) / 2).toFixed(1)}" y="${y + height / 2 + 4}" text-anchor="middle">${T.escape(text)}</text>` : '');
    });
  };
  const zoom = (factor, centre) => {
    const least = Math.min(40, data.cycles), span = Math.min(data.cycles, Math.max(least, (to - from) * factor));
    move(centre - (centre - from) / (to - from) * span, span);
  };
  const move = (start, span) => {
    from = Math.min(Math.max(0, start), data.cycles - span);
    to = from + span;
    paint();
  };
  const cycleAt = (clientX) => from + Math.min(1, Math.max(0, (clientX - place.getBoundingClientRect().left - left()) / across())) * (to - from);

  const control = (text, note, act) => {
    const made = T.el('button', { type: 'button', title: note }, text);
    made.onclick = act;
    T.at('time-controls').append(made);
    return made;
  };
  control('+', 'zoom in', () => zoom(0.5, (from + to) / 2));
  control('−', 'zoom out', () => zoom(2, (from + to) / 2));
  const whole = control('Whole run', 'show everything', () => move(0, data.cycles));
  const chosen = control('Chosen layer', 'zoom to the chosen layer', () => {
    const [a, b] = reach[T.chosen], margin = Math.max(20, 0.08 * (b - a));
    move(a - margin, Math.min(data.cycles, b - a + 2 * margin));
  });
  const buttons = () => {
    whole.disabled = from <= 0 && to >= data.cycles;
    chosen.disabled = T.chosen === null || !reach[T.chosen];
  };

  place.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, cycleAt(event.clientX));
  }, { passive: false });
  const held = new Map();
  let moved = 0;
  place.addEventListener('pointerdown', (event) => { held.set(event.pointerId, event.clientX); if (held.size === 1) moved = 0; });
  addEventListener('pointermove', (event) => {
    if (!held.has(event.pointerId)) return;
    const before = [...held.values()], old = held.get(event.pointerId);
    held.set(event.pointerId, event.clientX);
    moved += Math.abs(event.clientX - old);
    const now = [...held.values()];
    if (moved < 4) return;
    place.classList.add('dragging');
    if (now.length === 2) zoom(Math.abs(before[0] - before[1]) / Math.max(8, Math.abs(now[0] - now[1])), cycleAt((now[0] + now[1]) / 2));
    else move(from - (event.clientX - old) * (to - from) / across(), to - from);
  });
  for (const kind of ['pointerup', 'pointercancel']) addEventListener(kind, (event) => { held.delete(event.pointerId); place.classList.remove('dragging'); });
  place.addEventListener('click', (event) => {
    const bar = event.target.closest('[data-layer]');
    if (bar && moved < 4) T.choose(Number(bar.dataset.layer));
  });
  T.onChoose(() => { T.mark(place); buttons(); });
  T.draw(place, (now) => { width = now; paint(); });
};
