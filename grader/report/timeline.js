/* Draws a trace: lanes over time, which can be zoomed. All text is drawn or inserted as text, never as markup. */
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = (id) => document.getElementById(id);
  const visible = (text) =>
    String(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g, '\ufffd');
  const rows = data.rows.map(([lane, name, begin, ns, bytes, launch]) =>
    ({lane, name: visible(data.names[name]), begin, end: begin + ns, bytes, launch}));
  const first = rows.reduce((a, r) => Math.min(a, r.begin), Infinity);
  for (const r of rows) r.begin -= first, r.end -= first;
  const whole = rows.reduce((a, r) => Math.max(a, r.end), 1);
  const kernels = rows.filter((r) => data.lanes[r.lane][1] === 'kernel').sort((a, b) => a.begin - b.begin);
  const colors = {api: [210, 12], copy: [205, 60], kernel: [24, 75]};
  const canvas = $('lanes'), LANE = 34, LABEL = 104, AXIS = 26;
  let from = 0, to = whole, chosen = null, dark = false;

  function time(ns, digits = 3) {
    const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
    const [size, name] = units.find(([s]) => ns >= s) ?? units[3];
    return Number((ns / size).toPrecision(digits)) + ' ' + name;
  }
  /* The color of a kernel or a call, computed from its name, so that the same name has the same color. */
  function fill(r) {
    const [hue, strength] = colors[data.lanes[r.lane][1]];
    let h = 0;
    for (let i = 0; i < r.name.length; i++) h = (h * 31 + r.name.charCodeAt(i)) % 997;
    return 'hsl(' + (hue + h % 40 - 20) + ' ' + strength + '% ' + (dark ? 30 + h % 12 : 68 + h % 14) + '%)';
  }
  const width = () => canvas.clientWidth - LABEL;
  const x = (ns) => LABEL + (ns - from) / (to - from) * width();

  function step(span) {
    const raw = span / Math.max(3, width() / 110), power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
  }
  function draw() {
    const scale = devicePixelRatio || 1, w = canvas.clientWidth, h = LANE * data.lanes.length + AXIS;
    canvas.width = w * scale;
    canvas.height = h * scale;
    canvas.style.height = h + 'px';
    const c = canvas.getContext('2d'), style = getComputedStyle(document.body);
    dark = matchMedia('(prefers-color-scheme: dark)').matches;
    c.scale(scale, scale);
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.strokeStyle = dark ? '#30363d' : '#d0d7de';
    c.fillStyle = style.color;
    const every = step(to - from);
    for (let t = Math.ceil(from / every) * every; t <= to; t += every) {
      c.beginPath();
      c.moveTo(x(t), 0);
      c.lineTo(x(t), h - AXIS + 4);
      c.stroke();
      const text = time(t, Math.min(15, Math.max(3, Math.ceil(Math.log10((t || 1) / every)) + 2)));
      if (x(t) + c.measureText(text).width / 2 < w) c.fillText(text, x(t) - c.measureText(text).width / 2, h - AXIS / 2);
    }
    c.save();
    c.beginPath();
    c.rect(LABEL, 0, w - LABEL, h);
    c.clip();
    for (const r of rows) {
      if (r.end < from || r.begin > to) continue;
      const a = Math.max(x(r.begin), LABEL - 2), wide = Math.max(1, Math.min(x(r.end), w + 2) - a), y = r.lane * LANE + 4;
      c.fillStyle = fill(r);
      c.fillRect(a, y, wide, LANE - 8);
      if (wide > 3) {
        c.strokeStyle = r === chosen ? '#e6550d' : dark ? '#8b949e' : '#57606a';
        c.lineWidth = r === chosen ? 3 : 1;
        c.strokeRect(a + 0.5, y + 0.5, wide - 1, LANE - 9);
      }
      const short = r.name.replace(/\(.*$/, '');
      const label = [r.name + ' ' + time(r.end - r.begin), r.name, short].find((l) => c.measureText(l).width < wide - 8);
      c.fillStyle = style.color;
      if (!label && wide > 30) {
        let n = short.length;
        while (n > 1 && c.measureText(short.slice(0, n) + '…').width > wide - 8) n--;
        c.fillText(short.slice(0, n) + '…', a + 5, y + (LANE - 8) / 2);
      }
      if (label) c.fillText(label, a + 5, y + (LANE - 8) / 2);
    }
    c.restore();
    c.fillStyle = style.color;
    data.lanes.forEach(([name], i) => c.fillText(name, 4, i * LANE + LANE / 2, LABEL - 8));
  }
  function show(a, b) {
    const span = Math.min(whole, Math.max(10, b - a));
    from = Math.max(0, Math.min(whole - span, a));
    to = from + span;
    draw();
  }
  function zoom(factor, at) {
    show(at - (at - from) * factor, at + (to - at) * factor);
  }
  function choose(r) {
    chosen = r;
    $('detail').textContent = !r ? 'No activity here.' : data.lanes[r.lane][0] + ': ' + r.name + ', ' + time(r.end - r.begin) +
      ', from ' + time(r.begin) + (r.bytes > 0 ? ', ' + r.bytes + ' bytes (' +
      (r.bytes / Math.max(1, r.end - r.begin)).toPrecision(3) + ' GB/s)' : '') + (r.launch ? ', grid and block ' +
      visible(r.launch) : '') + '.';
    draw();
  }
  function hit(e) {
    const box = canvas.getBoundingClientRect(), lane = Math.floor((e.clientY - box.top) / LANE);
    const t = from + (e.clientX - box.left - LABEL) / width() * (to - from), near = (to - from) / width() * 3;
    let best = null;
    for (const r of rows)
      if (r.lane === lane && r.begin <= t + near && r.end >= t - near &&
          (!best || r.end - r.begin < best.end - best.begin)) best = r;
    return best;
  }
  function kernel(way) {
    const i = kernels.indexOf(chosen);
    const middle = (from + to) / 2;
    const at = i >= 0 ? i + way : way > 0 ? Math.max(0, kernels.findIndex((k) => k.begin >= middle)) : kernels.length - 1;
    const k = kernels[Math.max(0, Math.min(kernels.length - 1, at))];
    if (!k) return;
    const room = (k.end - k.begin) * 1.5 + 2000;
    chosen = k;
    show(k.begin - room, k.end + room);
    choose(k);
  }
  let drag = null;
  canvas.addEventListener('pointerdown', (e) => {
    drag = {at: e.clientX, from, to, moved: false};
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener('pointermove', (e) => {
    if (!drag) return;
    const by = (e.clientX - drag.at) / width() * (drag.to - drag.from);
    drag.moved ||= Math.abs(e.clientX - drag.at) > 4;
    if (drag.moved) show(drag.from - by, drag.to - by);
  });
  canvas.addEventListener('pointerup', (e) => {
    if (drag && !drag.moved) choose(hit(e));
    drag = null;
  });
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    const at = from + (e.clientX - canvas.getBoundingClientRect().left - LABEL) / width() * (to - from);
    zoom(e.deltaY > 0 ? 1.25 : 0.8, at);
  }, {passive: false});
  const actions = {all: () => show(0, whole), in: () => zoom(0.5, (from + to) / 2), out: () => zoom(2, (from + to) / 2),
    left: () => show(from - (to - from) / 4, to - (to - from) / 4), right: () => show(from + (to - from) / 4, to + (to - from) / 4),
    before: () => kernel(-1), next: () => kernel(1)};
  const keys = {0: 'all', '+': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', p: 'before', n: 'next'};
  for (const id in actions) $(id).addEventListener('click', actions[id]);
  addEventListener('keydown', (e) => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    actions[keys[e.key]]();
  });
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

  $('facts').textContent = visible(data.device) + (data.real ? ', measured' : ', modelled') + ', ' + data.images + ' images: ' +
    rows.length + ' API calls, copies and kernels in ' + time(whole) + '.' +
    (data.cut ? ' The ' + data.cut + ' after these are not shown.' : '');
  show(0, whole);
})();
