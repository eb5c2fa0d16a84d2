/* Cycles by cause as stacked bars. */
T.legendOfCauses = (place, causes) => {
  for (const cause of causes) place.append(T.el('span', {}, T.el('i', { style: `background:var(--${cause})` }), T.causeNames[cause]));
};
/* A bar of `causes`, as wide as `whole` cycles are at full width. */
T.stack = (causes, whole, order, name, thin) => {
  const bar = T.el('div', { class: thin ? 'stack thin' : 'stack' });
  const total = Object.values(causes).reduce((sum, cycles) => sum + (cycles || 0), 0);
  for (const cause of order) {
    if (!causes[cause]) continue;
    const tip = `${name}: ${T.causeNames[cause]}\n${T.number(causes[cause])} of ${T.number(total)} cycles, ${T.percent(causes[cause] / total)}`;
    bar.append(T.el('i', { style: `width:${100 * causes[cause] / whole}%;background:var(--${cause})`, 'data-tip': tip, 'data-cause': cause }));
  }
  return bar;
};
/* Engines that work in a run; one that never does has no bar. */
T.working = (report) => Object.keys(report.causes || {}).filter((engine) => report.causes[engine].compute);
/* Rows of engines. */
T.stacks = (place, causes, whole, order, engines) => {
  place.replaceChildren();
  for (const engine of engines) {
    const own = causes[engine];
    if (!own) continue;
    const total = Object.values(own).reduce((sum, cycles) => sum + (cycles || 0), 0);
    const work = (own.compute || 0) / Math.max(1, total);
    place.append(T.el('div', { class: 'stack-row', 'data-engine': engine }, T.el('span', {}, engine), T.stack(own, whole, order, engine),
      T.el('span', { 'data-tip': `${engine} computes in ${T.number(own.compute)} of ${T.number(total)} cycles` }, T.percent(work))));
  }
};
/* Mean of the cores, then each accelerator: what a row of a table has room for. */
T.engineGroups = (causes) => {
  const cores = Object.entries(causes).filter(([name]) => /^core \d+$/.test(name)).map(([, own]) => own);
  const groups = {};
  if (cores.length) {
    groups[cores.length > 1 ? `mean of ${cores.length} cores` : 'core'] = Object.fromEntries(Object.keys(cores[0]).map((cause) =>
      [cause, cores.reduce((sum, own) => sum + (own[cause] || 0), 0) / cores.length]));
  }
  for (const [name, own] of Object.entries(causes)) if (!/^core \d+$/.test(name)) groups[name] = own;
  return groups;
};
T.causes = (report, order) => {
  const place = T.at('causes-chart'), note = T.at('causes-note');
  if (!report.causes) {
    note.textContent = 'This device does not tell what cycles were spent on.';
    return;
  }
  T.legendOfCauses(T.at('causes-legend'), order);
  const show = (layer) => {
    const chosen = layer === null ? report : report.layers[layer];
    note.textContent = `${layer === null ? 'The whole inference' : `Layer ${chosen.name}`}: ${T.number(chosen.cycles)} cycles of every engine; on the right the share in which it computes.`;
    T.stacks(place, chosen.causes, Math.max(1, chosen.cycles), order, T.working(report));
  };
  show(null);
  T.onChoose(show);
};
