/* Layers in ranks from the inputs down, in the colour of their engine. */
T.graph = (data, report) => {
  const place = T.at('graph-drawing');
  if (!data) {
    place.textContent = 'The archive does not say how its layers are connected: compile the model again.';
    return;
  }
  const engines = [...new Set(report.layers.map((layer) => layer.engine))];
  for (const engine of engines) T.at('graph-legend').append(T.el('span', {}, T.el('i', { style: `background:${T.engineColour(engine, engines)}` }), engine));
  const ranks = [];
  data.nodes.forEach((node, number) => { (ranks[node.rank] = ranks[node.rank] || []).push(number); });
  const widest = Math.max(...ranks.map((rank) => (rank || []).length));
  const paint = (width) => {
    const wide = width < 560 ? 150 : 200, high = 40, step = 66, space = wide + 18;
    const total = Math.max(width - 2, widest * space + 18), centre = [];
    ranks.forEach((rank, r) => (rank || []).forEach((number, place) => { centre[number] = [total / 2 + (place - (rank.length - 1) / 2) * space, 14 + r * step]; }));
    const parts = [];
    for (const [a, b] of data.edges) {
      const [x1, y1] = centre[a], [x2, y2] = centre[b], from = y1 + high, middle = (from + y2) / 2;
      /* An edge that passes ranks goes around what stands between. */
      const far = data.nodes[b].rank - data.nodes[a].rank > 1 && Math.abs(x1 - x2) < 4 ? wide / 2 + 14 : 0;
      parts.push(far ? `<path class="line" d="M${x1 + 20} ${from} C${x1 + far} ${from + 22} ${x1 + far} ${from + 22} ${x1 + far} ${from + 40} V${y2 - 36} C${x1 + far} ${y2 - 14} ${x2 + 20} ${y2 - 20} ${x2 + 20} ${y2}" opacity=".7"/>`
        : `<path class="line" d="M${x1} ${from} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}" opacity=".7"/>`);
    }
    data.nodes.forEach((node, number) => {
      const [x, y] = centre[number], layer = node.layer === undefined ? null : report.layers[node.layer];
      const most = Math.floor((wide - 14) / 6.6), small = Math.floor((wide - 14) / 5.8);
      const colour = layer ? T.engineColour(layer.engine, engines) : 'var(--idle)';
      const second = layer ? `${layer.op}${layer.form && layer.form !== 'tiled' ? `, ${layer.form}` : ''}` : node.end;
      const tip = layer ? `${layer.name}\n${layer.op} on ${layer.engine}${layer.form ? `, ${layer.form}` : ''}\n${node.shape}${layer.cycles === null ? '' : `\n${T.number(layer.cycles)} cycles`}` : `${node.name}, ${node.end}`;
      parts.push(`<g class="node${layer ? '' : ' end'}" ${layer ? `data-layer="${node.layer}"` : ''} data-tip="${T.escape(tip)}"><rect x="${x - wide / 2}" y="${y}" width="${wide}" height="${high}" rx="${layer ? 7 : 20}" stroke="${colour}"/>`
        + `<text x="${x}" y="${y + 17}" text-anchor="middle">${T.escape(T.shorten(node.name, most))}</text><text class="muted" x="${x}" y="${y + 32}" text-anchor="middle" style="font-size:11px">${T.escape(T.shorten(second, small))}</text></g>`);
    });
    place.innerHTML = `<svg width="${total}" height="${14 + ranks.length * step}" role="img" aria-label="partitioned graph">${parts.join('')}</svg>`;
    place.scrollLeft = (total - width) / 2;
    T.mark(place);
    place.classList.remove('has-selection');
  };
  place.addEventListener('click', (event) => {
    const node = event.target.closest('[data-layer]');
    if (node) T.choose(Number(node.dataset.layer));
  });
  T.onChoose(() => { T.mark(place); place.classList.remove('has-selection'); });
  T.draw(place, paint);
};
