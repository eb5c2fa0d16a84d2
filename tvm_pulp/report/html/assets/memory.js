/* Memories: blocks over expected time, and constants in one row. */
T.memories = (levels, layers) => {
  const place = T.at('memory-maps');
  const drawn = levels.find((level) => level.blocks);
  if (drawn) T.at('memory-note').textContent = `Addresses upwards, ${drawn.unit} to the right; the colour is that of the layer that makes a buffer or uses it first. Constants stay where they are.`;
  for (const level of levels) {
    const of = level.capacity ? ` of ${T.bytes(level.capacity)}` : level.live ? `, largest live set ${T.bytes(level.live)}` : '';
    place.append(T.el('h3', {}, level.name, T.el('small', {}, `${T.bytes(level.peak)}${of}`)));
    if (level.capacity) {
      const share = level.peak / level.capacity;
      place.append(T.el('div', { class: 'stack thin', 'data-tip': `${T.number(level.peak)} of ${T.number(level.capacity)} bytes, ${T.percent(share)}` }, T.el('i', { style: `width:${100 * share}%;background:var(--compute)` })));
    }
    if (level.blocks && level.blocks.length) {
      const map = T.el('div', { class: 'drawing memory-map', 'data-level': level.name });
      place.append(map);
      T.draw(map, (width) => T.memoryMap(map, level, layers, width));
    }
    if (level.constants && level.constants.length) {
      const row = T.el('div', { class: 'drawing constants' });
      place.append(row);
      T.draw(row, (width) => T.constants(row, level, layers, width));
    }
  }
  const click = (event) => {
    const block = event.target.closest('[data-layer]');
    if (block && block.dataset.layer !== 'null') T.choose(Number(block.dataset.layer));
  };
  place.addEventListener('click', click);
  T.onChoose(() => place.querySelectorAll('.drawing').forEach(T.mark));
};
T.blockTip = (name, layer, layers, rest) => `${name}${layer === null || !layers[layer] || layers[layer].name === name ? '' : ` of ${layers[layer].name}`}\n${rest}`;
T.memoryMap = (map, level, layers, width) => {
  const left = width < 560 ? 70 : 78, across = width - left - 8, height = 200, top = 6;
  /* What is free above the highest block is said by the bar; the picture shows what is used. */
  const most = Math.max(1, ...level.blocks.map(([, offset, bytes]) => offset + bytes));
  const x = (cycle) => left + cycle * across / Math.max(1, level.end), y = (offset) => top + height - offset * height / most;
  const parts = [`<rect class="lane" x="${left}" y="${top}" width="${across}" height="${height}"/>`];
  for (const at of T.byteTicks(most, 5)) parts.push(`<line class="grid" x1="${left - 4}" x2="${width - 8}" y1="${y(at)}" y2="${y(at)}"/><text class="muted" x="${left - 8}" y="${y(at) + 4}" text-anchor="end">${T.bytes(at).replace(/\.0+ /, ' ')}</text>`);
  for (const [name, offset, bytes, begin, end, layer] of level.blocks) {
    const wide = Math.max(0.8, x(end) - x(begin)), high = Math.max(0.8, y(offset) - y(offset + bytes));
    const tip = T.blockTip(name, layer, layers, `${T.number(bytes)} bytes at ${T.number(offset)}, ${level.unit} ${T.number(begin)} to ${T.number(end)}`);
    parts.push(`<rect class="bar" data-layer="${layer}" data-tip="${T.escape(tip)}" x="${x(begin).toFixed(1)}" y="${y(offset + bytes).toFixed(1)}" width="${wide.toFixed(1)}" height="${high.toFixed(1)}" fill="${T.layerColour(layer)}" stroke="var(--surface)" stroke-width=".4"/>`);
    if (high > 13 && T.fit(name, wide)) parts.push(`<text class="inside" style="fill:${T.layerInk(layer)}" data-layer="${layer}" x="${x((begin + end) / 2).toFixed(1)}" y="${(y(offset + bytes / 2) + 4).toFixed(1)}" text-anchor="middle">${T.escape(name)}</text>`);
  }
  for (const at of T.ticks(0, level.end, Math.max(2, across / 120))) parts.push(`<text class="muted" x="${x(at)}" y="${top + height + 16}" text-anchor="${x(at) > width - 40 ? 'end' : at ? 'middle' : 'start'}">${T.number(at)}</text>`);
  map.innerHTML = `<svg width="${width}" height="${top + height + 22}" role="img" aria-label="${T.escape(level.name)} over time">${parts.join('')}</svg>`;
  T.mark(map);
};
T.constants = (row, level, layers, width) => {
  const left = width < 560 ? 70 : 78, across = width - left - 8;
  const total = level.constants.reduce((sum, [, bytes]) => sum + bytes, 0);
  const parts = [`<text class="muted" x="${left - 8}" y="18" text-anchor="end">constants</text>`];
  let at = left;
  for (const [name, bytes, layer] of level.constants) {
    const wide = bytes * across / Math.max(1, total);
    const tip = T.blockTip(name, layer === undefined ? null : layer, layers, `${T.number(bytes)} bytes, the whole time`);
    parts.push(`<rect class="bar" data-layer="${layer}" data-tip="${T.escape(tip)}" x="${at.toFixed(2)}" y="3" width="${Math.max(0.4, wide).toFixed(2)}" height="20" fill="${T.layerColour(layer)}" stroke="var(--surface)" stroke-width=".4"/>`);
    const text = T.fit(name, wide);
    if (text) parts.push(`<text class="inside" style="fill:${T.layerInk(layer)}" data-layer="${layer}" x="${(at + wide / 2).toFixed(1)}" y="17" text-anchor="middle">${T.escape(text)}</text>`);
    at += wide;
  }
  row.innerHTML = `<svg width="${width}" height="28" role="img" aria-label="constants in ${T.escape(level.name)}">${parts.join('')}</svg>`;
  T.mark(row);
};
