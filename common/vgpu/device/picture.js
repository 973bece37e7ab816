/* Plays a recorded block: probe/picture.h describes the data. Strings are inserted only as text, never as HTML. */
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);
  const LANES = 32, BANKS = 32, ALLOCATION = 2 ** 38;
  const visible = (text) =>
    String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g, '\ufffd');
  function make(tag, text, name) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = visible(text);
    if (name) e.className = name;
    return e;
  }
  function draw(tag, attributes, text) {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return e;
  }

  /* ---- the recording ---- */
  const patterns = data.patterns.map((text) => {
    const [, kind, bytes, space, lanes] = /^([lsab])(\d+)([gslc])(.*)$/.exec(text);
    const at = lanes === '' ? [] : lanes.split(',').map((a) => a === '' ? null : Number(a));
    return {kind, bytes: Number(bytes), space, at};
  });
  let stores = 0;
  const steps = data.steps.map((s) => {
    const accesses = [];
    for (let i = 3; i < s.length; i += 2) {
      const p = patterns[s[i]];
      const values = p.kind === 's' && p.space === 's' ? data.values[stores++] : undefined;
      accesses.push({...p, address: p.at.map((a) => a === null ? null : a + s[i + 1]), values});
    }
    const [file, line, mask] = data.places[s[1]];
    return {warp: s[0], file, line, mask: mask >>> 0, count: s[2], accesses,
      barrier: accesses.some((a) => a.kind === 'b')};
  });
  const warps = Math.ceil(data.block[0] * data.block[1] * data.block[2] / LANES);
  const words = Math.ceil(data.shared / 4);

  /* ---- the state after a step: shared memory, and each warp's position ---- */
  const state = {at: -1, bits: new Uint32Array(words), step: new Int32Array(words), thread: new Int32Array(words),
    last: new Int32Array(warps)};
  function clear() {
    state.at = -1;
    state.step.fill(-1);
    state.last.fill(-1);
  }
  function apply(i) {
    const s = steps[i];
    state.last[s.warp] = i;
    state.at = i;
    for (const a of s.accesses) {
      if (a.values === undefined) continue;
      let n = 0;
      a.address.forEach((address, lane) => {
        for (let k = 0; address !== null && k < a.bytes >> 2; k++, n++) {
          const w = (address >> 2) + k;
          if (w >= words) continue;
          state.bits[w] = parseInt(a.values.substr(8 * n, 8), 16);
          state.step[w] = i;
          state.thread[w] = s.warp * LANES + lane;
        }
      });
    }
  }
  function go(to) {
    if (to < state.at || state.at < 0) clear();
    while (state.at < to) apply(state.at + 1);
  }
  const number = new DataView(new ArrayBuffer(4));
  function value(w) {
    number.setUint32(0, state.bits[w]);
    return number.getFloat32(0);
  }

  /* ---- names ---- */
  const base = (path) => path.slice(path.lastIndexOf('/') + 1);
  const place = (s) => s.line ? base(data.files[s.file] ?? '') + ':' + s.line : 'code without a line';
  function thread(t) {
    const [x, y] = data.block;
    return '(' + t % x + ',' + Math.floor(t / x) % y + ',' + Math.floor(t / x / y) + ')';
  }
  function memory(a, address) {
    const m = data.memory[Math.floor(address / ALLOCATION)], t = tensor(a, address);
    const name = !t ? m[0] : m[4] ? m[0] + ', a copy of ' + t.name : t.name;
    return name + (t ? AXES[t.name] : '') + (m[2] ? ' (argument ' + m[2] + ')' : '');
  }
  /* The tensor that contains an address: its name, sizes, and the element's indices; null: not known. */
  function tensor(a, address) {
    const [name, sizes] = inMemory(a) && data.tensors?.[Math.floor(address / ALLOCATION)] || [];
    let n = Math.floor(address % ALLOCATION / 4);
    if (!name || n >= sizes.reduce((all, size) => all * size)) return null;
    const at = [];
    for (let i = 3; i >= 0; n = Math.floor(n / sizes[i--])) at[i] = n % sizes[i];
    return {name, sizes, at};
  }
  function element(a, address) {
    const t = tensor(a, address);
    if (t) return t.name + '[' + t.at + ']';
    const n = Math.floor(address % ALLOCATION / Math.min(4, a.bytes)), row = Number($('row').value);
    return inMemory(a) && row > 0 ? '[' + Math.floor(n / row) + '][' + n % row + ']' : '[' + n + ']';
  }
  const AXES = {x: '[b,c,h,w]', k: '[m,c,p,q]', y: '[b,m,h,w]'};
  const inMemory = (a) => a.space === 'g' || a.space === 'c';
  const verbs = {l: 'load', s: 'store', a: 'atomic'};

  /* ---- accesses ---- */
  const lanesOf = (a) => a.address.map((address, lane) => ({address, lane})).filter((l) => l.address !== null);
  function sectors(a) {
    const touched = new Set(), bytes = new Set();
    for (const {address} of lanesOf(a)) {
      for (let b = address; b < address + a.bytes; b++) bytes.add(b);
      for (let s = Math.floor(address / 32); s * 32 < address + a.bytes; s++) touched.add(s);
    }
    return {touched, least: Math.ceil(bytes.size / 32)};
  }
  /* Passes over the banks: wide accesses are made per half or quarter of the warp. */
  function passes(a) {
    const lanes = lanesOf(a), group = LANES / Math.max(1, a.bytes / 4);
    let sum = 0, least = 0;
    for (let first = 0; first < LANES; first += group) {
      const banks = Array.from({length: BANKS}, () => new Set());
      for (const {address, lane} of lanes)
        for (let w = address >> 2; lane >= first && lane < first + group && w * 4 < address + a.bytes; w++)
          banks[w % BANKS].add(w);
      const most = Math.max(...banks.map((b) => b.size));
      sum += most;
      least += most > 0;
    }
    return {sum, least};
  }
  function judge(a) {
    const p = make('p');
    const lanes = lanesOf(a).length, what = verbs[a.kind] + ' of ' + a.bytes + ' bytes by ' + lanes +
      (lanes === 1 ? ' lane: ' : ' lanes: ');
    if (a.space === 'g') {
      const {touched, least} = sectors(a);
      p.append(what + visible(memory(a, lanesOf(a)[0].address)) + ', ');
      p.append(make('span', touched.size + (touched.size === 1 ? ' sector' : ' sectors') + ' of 32 bytes',
        touched.size > least ? 'bad' : ''), touched.size > least ? ', where ' + least + ' would hold the bytes' : '');
    } else if (a.space === 'c') {
      const words = new Set(lanesOf(a).map((l) => l.address)).size;
      p.append(what + visible(memory(a, lanesOf(a)[0].address)) + ', in constant memory, ');
      p.append(make('span', words === 1 ? 'the same for all lanes: one pass' : words + ' different addresses: one pass for each', words > 1 ? 'bad' : ''));
    } else if (a.space === 's') {
      const {sum, least} = passes(a);
      p.append(what + 'shared memory, ');
      p.append(make('span', sum + (sum === 1 ? ' wavefront' : ' wavefronts'), sum > least ? 'bad' : ''),
        sum > least ? ': bank conflicts cost ' + (sum - least) : ', no bank conflict');
    } else p.append(what + 'local memory (of each thread: spilled registers or an array)');
    return p;
  }
  const hue = (lane) => 'hsl(' + lane * 11 + ' 70% 60%)';
  /* Memory in rows of two sectors, as wide as the page allows. */
  function rows(a) {
    const WORDS = 16, GAP = 4, cells = new Map();
    for (const {address, lane} of lanesOf(a))
      for (let w = Math.floor(address / 4); w * 4 < address + a.bytes; w++)
        cells.set(w, [...(cells.get(w) ?? []), lane]);
    const lines = [...new Set([...cells.keys()].map((w) => Math.floor(w / WORDS)))].sort((x, y) => x - y);
    const names = lines.map((line) => element({...a, bytes: 4}, line * WORDS * 4));
    const label = 8 + 6.1 * Math.max(...names.map((name) => name.length));
    const cell = Math.max(16, Math.min(24, Math.floor(($('accesses').clientWidth - label - GAP - 2) / WORDS)));
    const svg = draw('svg', {width: label + WORDS * cell + GAP + 2, height: lines.length * (cell + 2) + 2});
    lines.forEach((line, row) => {
      const y = row * (cell + 2) + 1, base = y + cell / 2 + 3.5;
      svg.append(draw('text', {x: 0, y: base}, names[row]));
      for (let i = 0; i < WORDS; i++) {
        const w = line * WORDS + i, here = cells.get(w), sector = w - w % 8;
        let touched = false;
        for (let k = 0; k < 8; k++) touched ||= cells.has(sector + k);
        const x = label + i * cell + (i >= 8 ? GAP : 0), g = draw('g', {});
        g.append(draw('title', {}, element({...a, bytes: 4}, w * 4) + (here ? ', ' + (here.length > 1 ? 'lanes ' : 'lane ') +
          here.join(', ') : ', not accessed')));
        g.append(draw('rect', {x, y, width: cell - 1, height: cell - 1, stroke: 'var(--rule)',
          fill: here ? hue(here[0]) : touched ? 'var(--touched)' : 'none'}));
        if (here) g.append(draw('text', {x: x + (cell - 1) / 2, y: base, 'text-anchor': 'middle', class: 'lane'},
          here.length > 1 ? '×' + here.length : here[0]));
        svg.append(g);
      }
    });
    const box = make('div', undefined, 'scroll');
    box.append(svg);
    return box;
  }
  /* The map of a tensor that contains an address, as a key; and the words of a map that the block accessed in the first
   * steps. */
  const mapOf = (a, address) => { const t = tensor(a, address); return t ? t.name + '[' + t.at.slice(0, 2) : null; };
  const wordsOf = (a, address) => Array.from({length: Math.max(1, a.bytes / 4)}, (_, k) => Math.floor(address % ALLOCATION / 4) + k);
  function seenIn(map, end) {
    const seen = new Set();
    for (const s of steps.slice(0, end))
      for (const a of s.accesses)
        for (const {address} of inMemory(a) ? lanesOf(a) : [])
          if (mapOf(a, address) === map) wordsOf(a, address).forEach((w) => seen.add(w));
    return seen;
  }
  function drawMap(a, map, lanes) {
    const {sizes, at: [first, second]} = tensor(a, lanes[0].address), [height, width] = sizes.slice(2);
    const cell = Math.max(3, Math.min(14, Math.floor(300 / Math.max(width, height)))), line = cell > 5 ? 1 : 0;
    const from = (first * sizes[1] + second) * height * width, style = getComputedStyle(document.documentElement);
    const picture = make('canvas'), to = picture.getContext('2d'), figure = make('figure');
    picture.width = width * cell + 2;
    picture.height = height * cell + 2;
    const colour = (name) => { to.strokeStyle = to.fillStyle = style.getPropertyValue(name); };
    const fill = (w) => to.fillRect((w - from) % width * cell + 1, Math.floor((w - from) / width) * cell + 1, cell - line, cell - line);
    colour('--rule');
    to.strokeRect(0.5, 0.5, picture.width - 1, picture.height - 1);
    for (let x = 1; line && x <= Math.max(width, height); x++) {
      to.fillRect(x * cell, 0, 1, picture.height);
      to.fillRect(0, x * cell, picture.width, 1);
    }
    colour('--seen');
    seenIn(map, at).forEach(fill);
    for (const {address, lane} of [...lanes].reverse()) {
      to.fillStyle = hue(lane);
      wordsOf(a, address).forEach(fill);
    }
    const all = [...seenIn(map)].map((w) => w - from), rows = all.map((n) => Math.floor(n / width)), columns = all.map((n) => n % width);
    const left = Math.min(...columns), top = Math.min(...rows);
    colour('--accent');
    to.setLineDash([4, 3]);
    to.strokeRect(left * cell + 0.5, top * cell + 0.5, (Math.max(...columns) + 1 - left) * cell + 1, (Math.max(...rows) + 1 - top) * cell + 1);
    figure.append(picture, make('figcaption', map + (map[0] === 'k' ? ',p,q], ' : ',h,w], ') + height + ' × ' + width));
    return figure;
  }
  /* Shows which elements of its tensors an access uses: a picture of each map. */
  function maps(a) {
    const MOST = 6, all = new Map(), box = make('div', undefined, 'maps');
    for (const l of lanesOf(a)) {
      const map = mapOf(a, l.address);
      if (map) all.set(map, [...(all.get(map) ?? []), l]);
    }
    [...all].slice(0, MOST).forEach(([map, lanes]) => box.append(drawMap(a, map, lanes)));
    if (all.size > MOST) box.append(make('p', 'and ' + (all.size - MOST) + ' more maps', 'hint'));
    return box;
  }
  function list(a, s) {
    const details = make('details'), all = make('ul', undefined, 'lanes-list');
    details.append(make('summary', 'thread by thread'));
    for (const {address, lane} of lanesOf(a))
      all.append(make('li', 'lane ' + lane + ', thread ' + thread(s.warp * LANES + lane) + ': ' + element(a, address)));
    details.append(all);
    return details;
  }
  function showAccesses(s) {
    const to = $('accesses');
    to.replaceChildren();
    for (const a of s.accesses) {
      const box = make('div', undefined, 'access');
      if (a.kind === 'b') box.append(make('p', 'a barrier: the warp waits for the others of its block'));
      else {
        box.append(judge(a));
        if (a.space !== 'l') box.append(rows(a));
        if (inMemory(a)) box.append(maps(a));
        box.append(list(a, s));
      }
      to.append(box);
    }
    if (!s.accesses.length) to.append(make('p', 'none: only arithmetic and branches', 'hint'));
  }

  /* ---- source ---- */
  const lineAt = new Map(), used = new Set(steps.map((s) => s.file + ':' + s.line));
  function makeSource() {
    data.files.forEach((path, file) => {
      const text = data.source?.[file];
      $('source').append(make('div', path + (text ? '' : ': its source is not in this page'), 'none'));
      (text?.[1] ?? []).forEach((line, i) => {
        const row = make('div'), at = text[0] + i, key = file + ':' + at;
        row.append(make('span', at), visible(line));
        if (used.has(key)) row.addEventListener('click', () => show(next((s) => s.file === file && s.line === at)));
        else row.className = 'none';
        lineAt.set(key, row);
        $('source').append(row);
      });
    });
  }
  let highlighted = null;
  function showSource(s) {
    highlighted?.classList.remove('here');
    highlighted = lineAt.get(s.file + ':' + s.line);
    if (!highlighted) return;
    highlighted.classList.add('here');
    const box = $('source'), y = highlighted.offsetTop - box.offsetTop;
    if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - 40) box.scrollTop = y - box.clientHeight / 2;
  }

  /* ---- warps ---- */
  const warpRows = [];
  function makeWarps() {
    for (let w = 0; w < warps; w++) {
      const row = make('button', undefined, 'warp'), lanes = make('span', undefined, 'lanes');
      for (let i = 0; i < LANES; i++) lanes.append(make('i'));
      row.append(make('span', 'warp ' + w, 'name'), lanes, make('span', '', 'line'));
      row.addEventListener('click', () => show(next((s) => s.warp === w)));
      $('warps').append(row);
      warpRows.push(row);
    }
  }
  function showWarps(s) {
    warpRows.forEach((row, w) => {
      const last = steps[state.last[w]];
      row.classList.toggle('now', w === s.warp);
      [...row.children[1].children].forEach((lane, i) => lane.classList.toggle('on', Boolean(last && last.mask >>> i & 1)));
      row.children[2].textContent = visible(!last ? 'not yet' : (last.barrier && w !== s.warp ? 'waits, ' : '') + place(last));
    });
  }

  /* ---- shared memory ---- */
  const canvas = $('shared'), WIDTH = 15, rowCount = Math.ceil(words / BANKS);
  const height = Math.max(4, Math.min(15, Math.floor(900 / Math.max(1, rowCount))));
  function showShared(s) {
    if (!words) return;
    const to = canvas.getContext('2d'), byWarp = document.querySelector('[name=show]:checked').value === 'warp';
    let low = Infinity, high = -Infinity;
    for (let w = 0; w < words; w++)
      if (state.step[w] >= 0 && isFinite(value(w))) low = Math.min(low, value(w)), high = Math.max(high, value(w));
    $('scale').hidden = byWarp;
    $('low').textContent = low <= high ? Number(low.toPrecision(3)) : '';
    $('high').textContent = low <= high ? Number(high.toPrecision(3)) : 'nothing yet';
    to.clearRect(0, 0, canvas.width, canvas.height);
    for (let w = 0; w < words; w++) {
      if (state.step[w] < 0) continue;
      const part = high > low ? (value(w) - low) / (high - low) : 0.5;
      to.fillStyle = byWarp ? 'hsl(' + (state.thread[w] >> 5) * 47 % 360 + ' 60% 55%)'
        : 'hsl(210 60% ' + (90 - 65 * (isFinite(part) ? part : 0)) + '%)'; /* as .key.scale */
      to.fillRect(w % BANKS * WIDTH, Math.floor(w / BANKS) * height, WIDTH - 1, height - 1);
    }
    to.lineWidth = 2;
    for (const a of s.accesses) {
      if (a.space !== 's' || a.kind === 'b') continue;
      to.strokeStyle = a.kind === 'l' ? '#2ea043' : '#e6842a';
      for (const {address} of lanesOf(a))
        for (let w = address >> 2; w * 4 < address + a.bytes; w++)
          to.strokeRect(w % BANKS * WIDTH, Math.floor(w / BANKS) * height, WIDTH - 1, height - 1);
    }
  }
  function tellWord(e) {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor((e.clientX - box.left) * canvas.width / box.width / WIDTH);
    const y = Math.floor((e.clientY - box.top) * canvas.height / box.height / height), w = y * BANKS + x;
    if (x < 0 || x >= BANKS || w < 0 || w >= words) return;
    const s = steps[state.step[w]];
    $('word').textContent = 'word ' + w + ', bank ' + x + ': ' + (s ? value(w) + ', written by thread ' +
      thread(state.thread[w]) + ' at step ' + (state.step[w] + 1) + ', ' + visible(place(s)) : 'not written yet');
  }

  /* ---- steps ---- */
  let at = 0, timer = 0;
  const next = (is) => { const i = steps.findIndex((s, k) => k > at && is(s)); return i < 0 ? steps.findIndex(is) : i; };
  function seek(way, is) {
    for (let i = at + way; i >= 0 && i < steps.length; i += way) if (is(steps[i])) return show(i);
  }
  function show(i) {
    at = Math.max(0, Math.min(steps.length - 1, i));
    const s = steps[at];
    if (!s) return;
    go(at);
    $('slider').value = at;
    let lanes = 0;
    for (let k = 0; k < LANES; k++) lanes += s.mask >>> k & 1;
    $('now').textContent = 'Step ' + (at + 1) + ' of ' + steps.length + ': warp ' + s.warp + ' (threads ' + s.warp * LANES +
      ' to ' + (s.warp * LANES + LANES - 1) + ') at ' + visible(place(s)) + ', ' + s.count + (s.count === 1 ? ' instruction, ' :
      ' instructions, ') + lanes + (lanes === 1 ? ' lane active' : ' lanes active');
    showSource(s);
    showAccesses(s);
    showWarps(s);
    showShared(s);
  }
  function play() {
    if (timer) clearInterval(timer), timer = 0;
    else timer = setInterval(() => at + 1 < steps.length ? show(at + 1) : play(), 200);
    $('play').textContent = timer ? 'pause' : 'play';
  }
  const actions = {
    first: () => show(0), back: () => show(at - 1), forward: () => show(at + 1), play,
    'warp-back': () => seek(-1, (s) => s.warp === steps[at].warp),
    'warp-forward': () => seek(1, (s) => s.warp === steps[at].warp),
    access: () => seek(1, (s) => s.accesses.some((a) => inMemory(a))),
    barrier: () => seek(1, (s) => s.barrier)};
  const keys = {Home: 'first', ArrowLeft: 'back', ArrowRight: 'forward', ArrowUp: 'warp-back', ArrowDown: 'warp-forward',
    b: 'barrier', m: 'access', ' ': 'play'};
  for (const id in actions) $(id).addEventListener('click', actions[id]);
  addEventListener('keydown', (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|BUTTON|SUMMARY)$/.test(e.target.tagName) &&
      e.target.id !== 'slider' && (e.key === ' ' || e.target.id === 'row')) return;
    e.preventDefault();
    actions[keys[e.key]]();
  });
  $('slider').addEventListener('input', () => show(Number($('slider').value)));
  $('row').addEventListener('input', () => show(at));
  addEventListener('resize', () => show(at));
  for (const e of document.querySelectorAll('[name=show]')) e.addEventListener('change', () => show(at));
  canvas.addEventListener('pointermove', tellWord);
  canvas.addEventListener('pointerdown', tellWord);
  $('slider').addEventListener('keydown', (e) => { if (e.key === 'Home') e.stopPropagation(); });

  /* ---- start ---- */
  document.title = visible('See it run: ' + data.kernel);
  $('kernel').textContent = visible(data.kernel);
  $('facts').textContent = 'Block (' + data.place + ') of grid (' + data.grid + '), ' + data.block.join(' × ') +
    ' threads, recorded on the virtual GPU.';
  if (data.recorded < data.instructions)
    $('facts').after(make('p', 'The recording was cut: it has the first ' + data.recorded + ' of ' + data.instructions +
      ' instructions of the block\'s warps (' + (100 * data.recorded / data.instructions).toFixed(1) + '%).', 'cut'));
  for (const [name, page] of data.others ?? []) {
    const link = make('a', name);
    link.href = page;
    $('others').append(link);
  }
  $('slider').max = Math.max(0, steps.length - 1);
  $('barrier').disabled = !steps.some((s) => s.barrier);
  $('access').disabled = !steps.some((s) => s.accesses.some((a) => inMemory(a)));
  $('tile').hidden = !words;
  $('by-row').hidden = Boolean(data.tensors);
  $('by-map').hidden = !data.tensors;
  canvas.width = BANKS * WIDTH;
  canvas.height = rowCount * height;
  makeSource();
  makeWarps();
  clear();
  const wanted = /^#(\d+)$/.exec(location.hash);
  show(wanted ? Number(wanted[1]) - 1 : 0);
})();
