/* The figures of a run that everybody asks for first. */
T.figure = (value, text, note) => {
  // A number and its unit stay on one line.
  const kept = text.replace(/± /g, '±\u00a0').replace(/(\d) (%|[KMG]iB)/g, '$1\u00a0$2');
  return T.el('div', { class: 'figure', 'data-tip': note }, T.el('b', {}, value), T.el('span', {}, kept));
};
T.summary = (report, energy) => {
  const off = report.cycles && report.estimated_cycles ? 100 * (report.estimated_cycles - report.cycles) / report.cycles : null;
  const place = T.at('figures'), known = (value) => value !== null && value !== undefined;
  const add = (value, text, note) => place.append(T.figure(value, text, note));
  if (known(report.cycles)) add(T.number(report.cycles), 'cycles', 'the second inference');
  if (known(report.milliseconds)) add(`${+report.milliseconds.toPrecision(3)} ms`, "at the SoC's clock");
  if (known(report.cold_cycles)) add(T.number(report.cold_cycles), 'cycles of the first inference', 'with empty instruction caches');
  if (known(report.estimated_cycles)) add(T.number(report.estimated_cycles), off === null ? 'cycles expected' : `expected (${off > 0 ? '+' : ''}${T.number(off, 1)} %)`);
  if (known(report.bound_cycles)) add(T.number(report.bound_cycles), 'bound in cycles', 'the busiest engine at its peak');
  add(T.short(report.macs), 'multiply-accumulates', T.number(report.macs));
  if (known(report.macs_per_cycle)) add(T.number(report.macs_per_cycle, 1), 'MAC per cycle');
  if (energy) {
    const [value, spread] = energy.split(' ± ');
    add(value, `energy, modelled${spread ? `, ± ${spread}` : ''}`, report.energy_model ? report.energy_model.source : null);
  }
  if (report.dma && known(report.dma.hidden_share)) add(T.percent(report.dma.hidden_share), "of the DMA's time hidden", `${T.number(report.dma.busy_cycles)} cycles busy, ${T.number(report.dma.stall_cycles)} of them with everybody waiting`);
  if (known(report.code_bytes)) add(T.bytes(report.code_bytes), 'code');
  for (const [level, figures] of Object.entries(report.memory)) {
    const name = { l1: 'L1', l2: 'L2', l3: 'L3', wmem: 'weight memory' }[level] || level;
    if (figures.peak) add(T.bytes(figures.peak), `${name}${figures.capacity ? ` of ${T.bytes(figures.capacity)}` : ''}`);
  }
  const engines = {}, ends = (list) => list.map((e) => `${e.name} ${e.dtype}[${e.shape.join(', ')}]`).join('; ');
  for (const layer of report.layers) engines[layer.engine] = (engines[layer.engine] || 0) + 1;
  const shares = Object.entries(engines).map(([engine, count]) => `${count} on ${engine}`).join(', ');
  const planner = report.planner ? ` Plan: ${report.planner.name}, ${report.planner.chosen}, of ${report.planner.attempts} attempts.` : '';
  const unknown = known(report.cycles) ? '' : ' This device measures no cycles.';
  T.at('sentence').textContent = `${report.layers.length} layers: ${shares}. In: ${ends(report.inputs)}. Out: ${ends(report.outputs)}.${planner}${unknown}`;
};
