/* Two runs side by side. */
{
  const { names, runs, causes, compared } = T.data;
  const pairs = compared.layers, layerOf = (run, pair) => pairs[pair][run] === null ? null : runs[run].layers[pairs[pair][run]];
  const nameOf = (pair) => (layerOf(0, pair) || layerOf(1, pair)).name;
  T.startPage(`${names[0]} and ${names[1]}`, runs.map((run) => `${run.target} on ${run.soc}`).join(', '), nameOf);
  const change = (a, b) => a && b !== null ? 100 * (b - a) / a : null;
  const changed = (a, b, lessIsBetter) => {
    const by = change(a, b);
    const kind = by === null || Math.abs(by) < 0.05 || lessIsBetter === null ? '' : (by < 0) === lessIsBetter ? ' better' : ' worse';
    return T.el('td', { class: `number${kind}` }, by === null ? '–' : `${by > 0 ? '+' : ''}${T.number(by, 1)} %`);
  };
  const figure = (value) => T.number(value, Number.isInteger(value) || value === null ? 0 : 2);

  const verdict = T.at('verdict');
  runs.forEach((run, n) => verdict.append(T.figure(T.number(run.cycles), `cycles of ${names[n]}`)));
  if (runs[0].cycles && runs[1].cycles) {
    const ratio = runs[0].cycles / runs[1].cycles, faster = ratio >= 1 ? 1 : 0;
    verdict.append(T.figure(`${T.number(Math.max(ratio, 1 / ratio), 2)}×`, ratio === 1 ? 'the same' : `as fast: ${names[faster]}`));
  }
  const head = (text, kind) => T.el('th', { class: kind }, text);
  const rows = T.el('tbody');
  for (const [name, a, b] of compared.figures) {
    const less = ['MAC', 'instructions'].includes(name) ? null : name !== 'MAC/cycle';
    rows.append(T.el('tr', {}, T.el('td', {}, name), T.el('td', { class: 'number' }, figure(a)), T.el('td', { class: 'number' }, figure(b)), changed(a, b, less)));
  }
  const table = T.at('figure-table');
  table.classList.add('plain');
  table.append(T.el('thead', {}, T.el('tr', {}, head(''), head(names[0], 'number'), head(names[1], 'number'), head('change', 'number'))), rows);
  if (compared.energy_note) table.after(T.el('p', { class: 'muted' }, compared.energy_note));

  const whole = Math.max(1, ...runs.map((run) => run.cycles || 0));
  if (runs.some((run) => run.causes)) T.legendOfCauses(T.at('causes-legend'), causes);
  const showCauses = (pair) => runs.forEach((run, n) => {
    const chosen = pair === null ? run : layerOf(n, pair), place = T.at(`causes-${n}`), chart = T.el('div');
    const most = pair === null ? whole : Math.max(1, ...[0, 1].map((i) => (layerOf(i, pair) || { cycles: 0 }).cycles || 0));
    place.replaceChildren(T.el('h3', {}, names[n], T.el('small', {}, chosen ? `${pair === null ? '' : `${chosen.name}, `}${T.number(chosen.cycles)} cycles` : 'has no such layer')), chart);
    if (chosen && chosen.causes) T.stacks(chart, chosen.causes, most, causes, T.working(run));
    else chart.append(T.el('p', { class: 'muted' }, chosen ? 'not measured by this device' : ''));
  });
  showCauses(null);
  T.onChoose(showCauses);

  const strips = T.at('strips');
  runs.forEach((run, n) => {
    const place = T.el('div', { class: 'drawing strip', 'data-run': n });
    strips.append(T.el('h3', {}, names[n]), place);
    T.draw(place, (width) => {
      let at = 0;
      const parts = [`<rect class="lane" x="0" y="0" width="${width}" height="26"/>`];
      run.layers.forEach((layer, number) => {
        const pair = pairs.findIndex((both) => both[n] === number), wide = (layer.cycles || 0) * width / whole;
        const tip = `${layer.name} on ${layer.engine}\n${T.number(layer.cycles)} cycles`;
        parts.push(`<rect class="bar" data-layer="${pair}" data-tip="${T.escape(tip)}" x="${at.toFixed(2)}" y="0" width="${Math.max(0.5, wide).toFixed(2)}" height="26" fill="${T.layerColour(pair)}" stroke="var(--surface)" stroke-width=".5"/>`);
        const text = T.fit(layer.name, wide);
        if (text) parts.push(`<text class="inside" style="fill:${T.layerInk(pair)}" data-layer="${pair}" x="${(at + wide / 2).toFixed(1)}" y="17" text-anchor="middle">${T.escape(text)}</text>`);
        at += wide;
      });
      place.innerHTML = `<svg width="${width}" height="26" role="img" aria-label="layers of ${T.escape(names[n])}">${parts.join('')}</svg>`;
      T.mark(place);
    });
    place.addEventListener('click', (event) => {
      const bar = event.target.closest('[data-layer]');
      if (bar) T.choose(Number(bar.dataset.layer));
    });
  });

  const most = Math.max(1, ...runs.flatMap((run) => run.layers.map((layer) => layer.cycles || 0)));
  const body = T.el('tbody');
  pairs.forEach((pair, number) => {
    const both = [layerOf(0, number), layerOf(1, number)], engines = both.map((layer) => layer ? layer.engine : '–');
    const row = T.el('tr', {}, T.el('td', { class: 'name' }, T.el('i', { style: `background:${T.layerColour(number)}` }), nameOf(number)),
      T.el('td', { class: 'wide' }, (both[0] || both[1]).op), T.el('td', { class: 'wide' }, engines[0] === engines[1] ? engines[0] : engines.join(' → ')));
    const cycles = both.map((layer) => layer ? layer.cycles : null);
    for (const value of cycles) row.append(T.el('td', { class: 'number' }, T.number(value)));
    row.append(changed(cycles[0], cycles[1], true));
    const bars = T.el('td', { class: 'bars wide' });
    both.forEach((layer, n) => {
      if (!layer || !layer.causes) return;
      const [name, mean] = Object.entries(T.engineGroups(layer.causes))[0];
      bars.append(T.stack(mean, most, causes, `${names[n]}, ${name}`, true));
    });
    row.append(bars);
    T.chooser(row, number);
    body.append(row);
  });
  T.at('layer-table').append(T.el('thead', {}, T.el('tr', {}, head('layer'), head('operator', 'wide'), head('engine', 'wide'), head(T.shorten(names[0], 14), 'number'), head(T.shorten(names[1], 14), 'number'), head('change', 'number'), head("cores' cycles by cause", 'wide'))), body);
  T.onChoose(() => { T.mark(T.at('layer-table')); document.querySelectorAll('.strip').forEach(T.mark); });
}
