/* Plays a recorded block: probe/picture.h has the form of the data. Text is only ever set as text. */
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
    const [, kind, bytes, space, lanes] = /^([lsab])(\d+)([gsl])(.*)$/.exec(text);
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

  /* ---- the state after a step: shared memory, and where each warp is ---- */
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
  function memory(address) {
    const m = data.memory[Math.floor(address / ALLOCATION)];
    return m[0] + (m[2] ? ' (argument ' + m[2] + ')' : '');
  }
  function element(a, address) {
    const n = Math.floor(address % ALLOCATION / Math.min(4, a.bytes)), row = Number($('row').value);
    return a.space === 'g' && row > 0 ? '[' + Math.floor(n / row) + '][' + n % row + ']' : '[' + n + ']';
  }
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
  /* Passes over the banks: wide accesses go by halves or quarters of the warp. */
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
      p.append(what + visible(memory(lanesOf(a)[0].address)) + ', ');
      p.append(make('span', touched.size + (touched.size === 1 ? ' sector' : ' sectors') + ' of 32 bytes',
        touched.size > least ? 'bad' : ''), touched.size > least ? ', where ' + least + ' would hold the bytes' : '');
    } else if (a.space === 's') {
      const {sum, least} = passes(a);
      p.append(what + 'shared memory, ');
      p.append(make('span', sum + (sum === 1 ? ' wavefront' : ' wavefronts'), sum > least ? 'bad' : ''),
        sum > least ? ': bank conflicts cost ' + (sum - least) : ', no bank conflict');
    } else p.append(what + 'local memory (of each thread: spilled registers or an array)');
    return p;
  }
  function rows(a) {
    const CELL = 14, LABEL = 66, cells = new Map();
    for (const {address, lane} of lanesOf(a))
      for (let w = Math.floor(address / 4); w * 4 < address + a.bytes; w++)
        cells.set(w, [...(cells.get(w) ?? []), lane]);
    const lines = [...new Set([...cells.keys()].map((w) => Math.floor(w / 32)))].sort((x, y) => x - y);
    const svg = draw('svg', {width: LABEL + 32 * CELL + 2, height: lines.length * (CELL + 3) + 2});
    lines.forEach((line, y) => {
      svg.append(draw('text', {x: 0, y: y * (CELL + 3) + 11}, element({...a, bytes: 4}, line * 128)));
      for (let i = 0; i < 32; i++) {
        const w = line * 32 + i, here = cells.get(w), sector = 8 * Math.floor(i / 8);
        let touched = false;
        for (let k = 0; k < 8; k++) touched ||= cells.has(line * 32 + sector + k);
        const x = LABEL + i * CELL, cell = draw('g', {});
        cell.append(draw('title', {}, here ? (here.length > 1 ? 'lanes ' : 'lane ') + here.join(', ') + ': ' +
          element({...a, bytes: 4}, w * 4) : 'not asked for'));
        cell.append(draw('rect', {x, y: y * (CELL + 3) + 1, width: CELL - 1, height: CELL - 1, stroke: 'var(--rule)',
          fill: here ? 'hsl(' + here[0] * 11 + ' 70% 60%)' : touched ? 'var(--touched)' : 'none'}));
        if (here) cell.append(draw('text', {x: x + (CELL - 1) / 2, y: y * (CELL + 3) + 11, 'text-anchor': 'middle',
          style: 'fill: #111'}, here.length > 1 ? '×' + here.length : here[0]));
        svg.append(cell);
      }
    });
    const box = make('div', undefined, 'scroll');
    box.append(svg);
    return box;
  }
  function list(a) {
    const details = make('details');
    details.append(make('summary', 'lane by lane'));
    details.append(make('p', lanesOf(a).map(({address, lane}) => 'lane ' + lane + ' ' + element(a, address)).join(', ')));
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
        box.append(list(a));
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
      $('source').append(make('div', path + (text ? '' : ': its text is not here'), 'none'));
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
    to.clearRect(0, 0, canvas.width, canvas.height);
    for (let w = 0; w < words; w++) {
      if (state.step[w] < 0) continue;
      const part = high > low ? (value(w) - low) / (high - low) : 0.5;
      to.fillStyle = byWarp ? 'hsl(' + (state.thread[w] >> 5) * 47 % 360 + ' 60% 55%)'
        : 'hsl(210 60% ' + (90 - 65 * (isFinite(part) ? part : 0)) + '%)';
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
      thread(state.thread[w]) + ' at step ' + (state.step[w] + 1) + ', ' + visible(place(s)) : 'nothing was written here yet');
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
    barrier: () => seek(1, (s) => s.barrier)};
  const keys = {Home: 'first', ArrowLeft: 'back', ArrowRight: 'forward', ArrowUp: 'warp-back', ArrowDown: 'warp-forward',
    b: 'barrier', ' ': 'play'};
  for (const id in actions) $(id).addEventListener('click', actions[id]);
  addEventListener('keydown', (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|BUTTON|SUMMARY)$/.test(e.target.tagName) &&
      e.target.id !== 'slider' && (e.key === ' ' || e.target.id === 'row')) return;
    e.preventDefault();
    actions[keys[e.key]]();
  });
  $('slider').addEventListener('input', () => show(Number($('slider').value)));
  $('row').addEventListener('input', () => show(at));
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
  $('tile').hidden = !words;
  canvas.width = BANKS * WIDTH;
  canvas.height = rowCount * height;
  makeSource();
  makeWarps();
  clear();
  const wanted = /^#(\d+)$/.exec(location.hash);
  show(wanted ? Number(wanted[1]) - 1 : 0);
})();
