/* One row per layer: figures, and cycles by cause. */
T.layers = (report, order, notes) => {
  const table = T.at('layer-table'), measured = report.layers.some((layer) => layer.cycles !== null);
  const expected = report.layers.some((layer) => layer.estimated_cycles !== null);
  T.at('layers-note').textContent = `Choose a layer to see it in every picture; again, or Escape, to let go of it.${report.causes ? " Bars: cycles by cause, the cores' mean above, accelerators below." : ''}`;
  for (const note of notes) T.at('layers-note').append(T.el('br'), note);
  const head = (text, kind) => T.el('th', { class: kind }, text);
  const names = T.el('tr', {}, head('layer'), head('operator', 'wide'), head('engine', 'wide'));
  const busy = report.layers.some((layer) => layer.busy_cycles);
  if (measured) names.append(head('added', 'number'));
  if (expected) names.append(head('expected', 'number wide'));
  if (busy) names.append(head('busy', 'number wide'));
  if (expected) names.append(head('bound', 'number wide'));
  if (busy) names.append(head('of bound', 'number wide'));
  names.append(head('MAC', measured ? 'number wide' : 'number'));
  if (measured) names.append(head('MAC/cycle', 'number wide'), head('DMA bytes', 'number wide'));
  if (report.causes) names.append(head('cycles by cause'));
  const body = T.el('tbody'), most = Math.max(1, ...report.layers.map((layer) => layer.cycles || 0));
  report.layers.forEach((layer, number) => {
    const cell = (text, kind) => T.el('td', { class: kind }, text);
    const row = T.el('tr', {}, T.el('td', { class: 'name', 'data-tip': `${layer.name}: ${layer.op} on ${layer.engine}${layer.form ? `, ${layer.form}` : ''}${layer.tiles ? `, ${layer.tiles} tile${layer.tiles > 1 ? 's' : ''}` : ''}` },
      T.el('i', { style: `background:${T.layerColour(number)}` }), layer.name), T.el('td', { class: 'operator wide', 'data-tip': layer.op }, layer.op), cell(layer.engine, 'wide'));
    if (measured) row.append(cell(T.number(layer.cycles), 'number'));
    if (expected) row.append(cell(T.number(layer.estimated_cycles), 'number wide'));
    if (busy) row.append(cell(T.number(layer.busy_cycles), 'number wide'));
    if (expected) row.append(cell(T.number(layer.bound_cycles), 'number wide'));
    if (busy) row.append(cell(layer.bound_share ? T.percent(layer.bound_share) : '–', 'number wide'));
    row.append(cell(layer.macs ? T.short(layer.macs) : '–', measured ? 'number wide' : 'number'));
    if (measured) row.append(cell(layer.macs_per_cycle ? T.number(layer.macs_per_cycle, 2) : '–', 'number wide'), cell(T.number(layer.dma_bytes), 'number wide'));
    if (report.causes) {
      const bars = T.el('td', { class: 'bars' });
      for (const [engine, causes] of Object.entries(T.engineGroups(layer.causes))) bars.append(T.stack(causes, most, order, engine, true));
      row.append(bars);
    }
    T.chooser(row, number);
    body.append(row);
  });
  table.append(T.el('thead', {}, names), body);
  T.onChoose(() => T.mark(table));
};
