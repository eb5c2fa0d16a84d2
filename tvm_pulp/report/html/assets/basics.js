'use strict';
/* What all pictures share: elements, figures, colours, the tip, the theme, and the layer that is chosen. */
const T = { data: JSON.parse(document.getElementById('data').textContent), chosen: null, listeners: [] };

T.escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
T.at = (id) => document.getElementById(id);
T.el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) made.setAttribute(name, value);
  for (const child of children) made.append(child);
  return made;
};
T.number = (value, digits = 0) => value === null || value === undefined ? '–' : value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
T.short = (value) => value >= 1e6 ? `${+(value / 1e6).toPrecision(3)}M` : value >= 1e3 ? `${+(value / 1e3).toPrecision(3)}k` : `${+value.toPrecision(3)}`;
T.bytes = (value) => value === null || value === undefined ? '–' : value < 1024 ? `${value} B` : value < 1048576 ? `${T.number(value / 1024, 1)} KiB` : `${T.number(value / 1048576, 2)} MiB`;
T.percent = (share) => `${T.number(100 * share, 1)} %`;
T.layerColour = (layer) => layer === null || layer === undefined ? 'var(--idle)' : `hsl(${Math.round(layer * 137.508 + 210) % 360} 52% ${[47, 58, 39][layer % 3]}%)`;
/* Black or white, whichever can be read on the colour of a layer. */
T.layerInk = (layer) => {
  const hue = Math.round(layer * 137.508 + 210) % 360, pale = [47, 58, 39][layer % 3];
  return layer === null || layer === undefined || (hue > 28 && hue < 200 && pale > 40) || pale > 55 ? '#16160f' : '#fff';
};
T.engineColours = ['#3b7dd8', '#2a9d8f', '#e8833a', '#9b6bd3', '#d16ba5', '#d9a514'];
T.engineColour = (engine, engines) => T.engineColours[Math.max(0, engines.indexOf(engine)) % T.engineColours.length];
T.causeNames = { compute: 'compute', l1_conflict: 'L1 conflicts', outside_access: 'accesses outside L1', instruction_cache: 'instruction cache',
  dma_wait: 'DMA wait', other_engine: 'another engine works', barrier: 'barrier', idle: 'idle' };
T.fit = (text, width, size = 11) => width < 0.58 * size * text.length + 6 ? '' : text;
T.shorten = (text, most) => text.length <= most ? text : `${text.slice(0, Math.ceil(most / 3))}…${text.slice(text.length - Math.floor(most * 2 / 3) + 1)}`;

/* About `count` round places between two figures. */
T.ticks = (from, to, count) => {
  const rough = Math.max((to - from) / count, 1e-9), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough), found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
  return found;
};

/* The same in powers of two, for bytes. */
T.byteTicks = (most, count) => {
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, most / count))), found = [];
  for (let at = 0; at <= most; at += step) found.push(at);
  return found;
};

T.choose = (layer) => {
  T.chosen = layer === T.chosen ? null : layer;
  for (const listener of T.listeners) listener(T.chosen);
};
T.onChoose = (listener) => T.listeners.push(listener);
/* Elements with data-layer below a root show whether their layer is the chosen one. */
T.mark = (root) => {
  root.classList.toggle('has-selection', T.chosen !== null);
  for (const one of root.querySelectorAll('[data-layer]')) one.classList.toggle('selected', T.chosen !== null && one.dataset.layer === String(T.chosen));
};
/* Draws now and whenever the width changes. */
T.draw = (element, paint) => {
  let width = 0;
  new ResizeObserver(() => {
    if (element.clientWidth === width || !element.clientWidth) return;
    width = element.clientWidth;
    paint(width);
  }).observe(element);
};

T.startPage = (title, note, layerName) => {
  T.at('title').append(title, T.el('small', {}, note));
  const root = document.documentElement;
  let kept = null;
  try { kept = localStorage.getItem('theme'); } catch { /* pages of files may keep nothing */ }
  root.dataset.theme = kept || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  if (!kept) matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => { root.dataset.theme = e.matches ? 'dark' : 'light'; });
  T.at('theme').onclick = () => {
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('theme', root.dataset.theme); } catch { /* as above */ }
  };
  const tip = T.at('tip');
  document.addEventListener('pointermove', (event) => {
    const over = event.target.closest ? event.target.closest('[data-tip]') : null;
    tip.hidden = !over;
    if (!over) return;
    tip.textContent = over.dataset.tip;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 16}px`;
  });
  document.addEventListener('scroll', () => { tip.hidden = true; }, { passive: true });
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape' && T.chosen !== null) T.choose(T.chosen); });
  const chip = T.at('chosen');
  chip.onclick = () => T.choose(T.chosen);
  T.onChoose((layer) => {
    chip.hidden = layer === null;
    chip.textContent = layer === null ? '' : `${layerName(layer)} ✕`;
  });
};
/* A table row that chooses a layer by pointer or keyboard. */
T.chooser = (row, layer) => {
  row.dataset.layer = layer;
  row.tabIndex = 0;
  row.onclick = () => T.choose(layer);
  row.onkeydown = (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); T.choose(layer); } };
};
