/* MACs per cycle over MACs per byte that the DMA moves, both logarithmic. */
T.roofline = (data, report) => {
  const place = T.at('roofline-chart');
  if (!data) {
    T.at('roofline-note').textContent = 'No layer multiplies, or nothing was measured.';
    return;
  }
  const engines = [...new Set(report.layers.map((layer) => layer.engine))];
  const points = report.layers.map((layer, number) => ({ number, name: layer.name, engine: layer.engine, rate: layer.macs_per_cycle || layer.macs / layer.cycles, intensity: layer.dma_bytes ? layer.macs / layer.dma_bytes : Infinity, macs: layer.macs }))
    .filter((p) => p.macs && Number.isFinite(p.rate) && p.rate > 0);
  T.at('roofline-note').textContent = `Each layer as a point: multiply-accumulates per cycle in which its engine works on it, over those per byte that the cluster's DMA moves for it. Roofs: the best rate any layer of an engine could reach, and ${T.number(data.dma)} bytes per cycle of the DMA. Weights read from the weight memory take no DMA; layers that move nothing stand at the right edge, those above the slope have their data moved while other layers run.`;
  const finite = points.map((p) => p.intensity).filter(Number.isFinite), rates = points.map((p) => p.rate);
  const low = (list) => Math.floor(Math.log10(Math.min(...list))), high = (list) => Math.ceil(Math.log10(Math.max(...list)) + 0.01);
  const xs = finite.length ? [Math.min(low(finite), -1), Math.max(high(finite), 2)] : [-1, 3];
  const ys = [low([...rates, 1]), high([...rates, ...Object.values(data.roofs)])];
  const paint = (width) => {
    const left = 46, right = 16, top = 26, height = Math.min(380, Math.max(250, width * 0.42)), across = width - left - right;
    const x = (value) => left + (Math.min(Math.log10(value), xs[1]) - xs[0]) * across / (xs[1] - xs[0]);
    const y = (value) => top + height - (Math.log10(value) - ys[0]) * height / (ys[1] - ys[0]);
    const parts = [];
    for (let e = xs[0]; e <= xs[1]; e++) parts.push(`<line class="grid" x1="${x(10 ** e)}" x2="${x(10 ** e)}" y1="${top}" y2="${top + height}"/><text class="muted" x="${x(10 ** e)}" y="${top + height + 17}" text-anchor="middle">${T.short(10 ** e)}</text>`);
    for (let e = ys[0]; e <= ys[1]; e++) parts.push(`<line class="grid" x1="${left}" x2="${left + across}" y1="${y(10 ** e)}" y2="${y(10 ** e)}"/><text class="muted" x="${left - 7}" y="${y(10 ** e) + 4}" text-anchor="end">${T.short(10 ** e)}</text>`);
    parts.push(`<text class="muted" x="${left + across / 2}" y="${top + height + 36}" text-anchor="middle">MAC per byte moved by the DMA</text>`, `<text class="muted" x="${left}" y="12" dx="-38">MAC per cycle</text>`);
    const roofs = Object.entries(data.roofs);
    roofs.forEach(([engine, peak], place) => {
      /* Roofs that coincide are seen as two: gaps show the one below, names stand above each other. */
      const below = roofs.slice(0, place).filter(([, other]) => Math.abs(Math.log(other / peak)) < 0.03).length;
      const colour = T.engineColour(engine, engines), bend = data.dma ? peak / data.dma : 10 ** xs[0];
      const start = Math.max(bend, 10 ** xs[0]);
      parts.push(`<line x1="${x(start)}" x2="${left + across}" y1="${y(peak)}" y2="${y(peak)}" stroke="${colour}" stroke-width="2"${below ? ` stroke-dasharray="8 ${8 * below}"` : ''}/>`, `<text x="${left + across}" y="${y(peak) - 6 - 14 * below}" text-anchor="end" style="fill:${colour}">${T.escape(engine)} ${T.number(peak, 1)}</text>`);
    });
    if (data.dma) {
      const least = Math.max(10 ** xs[0], 10 ** ys[0] / data.dma), most = Math.min(10 ** xs[1], Math.max(...Object.values(data.roofs)) / data.dma);
      if (most > least) parts.push(`<line class="line" x1="${x(least)}" y1="${y(least * data.dma)}" x2="${x(most)}" y2="${y(most * data.dma)}" stroke-width="1.5" stroke-dasharray="5 4"/>`);
    }
    for (const p of points) {
      const cx = Number.isFinite(p.intensity) ? x(p.intensity) : left + across, colour = T.engineColour(p.engine, engines);
      const tip = `${p.name} on ${p.engine}\n${T.number(p.rate, 1)} MAC per cycle, ${Number.isFinite(p.intensity) ? `${T.number(p.intensity, 1)} MAC per byte` : 'nothing moved by the DMA'}`;
      parts.push(`<circle class="bar" data-layer="${p.number}" data-tip="${T.escape(tip)}" cx="${cx.toFixed(1)}" cy="${y(p.rate).toFixed(1)}" r="6" fill="${colour}" fill-opacity=".8" stroke="var(--surface)"/>`);
    }
    place.innerHTML = `<svg width="${width}" height="${top + height + 44}" role="img" aria-label="roofline">${parts.join('')}</svg>`;
    T.mark(place);
  };
  place.addEventListener('click', (event) => {
    const point = event.target.closest('[data-layer]');
    if (point) T.choose(Number(point.dataset.layer));
  });
  T.onChoose(() => T.mark(place));
  T.draw(place, paint);
};
