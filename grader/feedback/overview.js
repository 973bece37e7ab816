/* Fills the page from its data; all of it is inserted as text, none as markup. */
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, text, set) => Object.assign(document.createElement(tag), {textContent: text ?? '', ...set});
  const svg = (tag, set, text) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(set)) e.setAttribute(name, value);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const number = (x) => x === undefined ? '–' : String(Math.round(x * 100) / 100);
  const time = (ms) => ms === undefined ? '–' : ms < 999.5 ? ms.toPrecision(3) : ms.toFixed(0);
  const list = (items) => {
    const ul = make('ul');
    ul.append(...(items.length ? items.map((text) => make('li', text)) : [make('li', 'nothing', {className: 'none'})]));
    return ul;
  };
  const once = new Map(); // a team's grade counts once
  for (const s of data.students) if (s.submission && !once.has(s.submission)) once.set(s.submission, s);
  const each = (m) => [...once.values()].map((s) => ({who: s.submission, ...s.cells[m]})).filter((c) => c.status);

  // Progress
  const running = data.done < data.total;
  if (data.total) at('progress').append(make('progress', '', {max: data.total, value: data.done}));
  const left = data.left_s === undefined ? '' : data.left_s < 90 ? `, ${Math.round(data.left_s)} s left` : `, ${Math.round(data.left_s / 60)} min left`;
  at('progress').append(data.total ? `${running ? 'Grading' : 'Graded'}: ${data.done} of ${data.total}${running ? left : ''}. ` : '', `As of ${data.made}.`);

  // Open tasks
  const waiting = [];
  data.milestones.forEach((milestone, m) => {
    const cells = each(m), open = cells.filter((c) => c.open), names = (some) => some.map((c) => c.who).join(', ');
    const say = (some, text) => { if (some.length) waiting.push(`${milestone.id}: ${some.length} ${text}: ${names(some)}`); };
    if (open.length) waiting.push(`${milestone.id}: ${open.reduce((n, c) => n + c.open, 0)} manual items of ${open.length} submissions are open (grader worksheet)`);
    say(cells.filter((c) => c.late_unknown), 'late, but by an unknown time (grader late --times)');
    say(cells.filter((c) => c.status === 'fault'), 'not graded because of a fault of the grader or the machine (run grader class again)');
    say(cells.filter((c) => c.status === 'rejected'), 'rejected');
    say(cells.filter((c) => c.status === 'missing' && c.message && c.message.includes('found:')), 'with a file of another name (--accept-near)');
  });
  at('waiting').append(list(waiting));

  // Points per milestone
  const charts = (id) => { const div = make('div', '', {className: 'charts'}); at(id).append(div); return div; };
  const bars = charts('distributions'), plots = charts('times');
  data.milestones.forEach((milestone, m) => {
    const cells = each(m).filter((c) => c.points !== undefined), bins = 10, count = Array(bins).fill(0);
    for (const c of cells) count[Math.min(bins - 1, Math.floor(c.points / milestone.max * bins))]++;
    const most = Math.max(1, ...count), sorted = cells.map((c) => c.points).sort((a, b) => a - b);
    const picture = svg('svg', {viewBox: '0 0 300 120', role: 'img', 'aria-label': `points of ${milestone.id}`});
    count.forEach((n, i) => {
      const height = n / most * 85, x = 5 + i * 29;
      picture.append(svg('rect', {x, y: 100 - height, width: 26, height}), svg('text', {x: x + 13, y: 96 - height, 'text-anchor': 'middle'}, n || ''),
                     svg('text', {x, y: 113}, Math.round(i * milestone.max / bins)));
    });
    const figure = make('figure');
    figure.append(picture, make('figcaption', `${milestone.id}: ${cells.length} graded, median ${number(sorted[sorted.length >> 1])} of ${milestone.max}`));
    bars.append(figure);

    const timed = cells.filter((c) => c.ms !== undefined);
    if (!timed.length) return;
    const logs = timed.map((c) => Math.log(c.ms)), low = Math.min(...logs), high = Math.max(...logs);
    const plot = svg('svg', {viewBox: '0 0 300 160', role: 'img', 'aria-label': `Op Time against points of ${milestone.id}`});
    plot.append(svg('line', {x1: 30, y1: 140, x2: 295, y2: 140}), svg('line', {x1: 30, y1: 5, x2: 30, y2: 140}),
                svg('text', {x: 30, y: 154}, `${time(Math.exp(low))} ms`), svg('text', {x: 295, y: 154, 'text-anchor': 'end'}, `${time(Math.exp(high))} ms`),
                svg('text', {x: 2, y: 12}, milestone.max), svg('text', {x: 2, y: 140}, 0));
    timed.forEach((c, i) => {
      const dot = svg('circle', {cx: 35 + (high > low ? (logs[i] - low) / (high - low) : .5) * 255, cy: 140 - c.points / milestone.max * 130, r: 4});
      dot.append(svg('title', {}, `${c.who}: ${time(c.ms)} ms, ${number(c.points)} points`));
      plot.append(dot);
    });
    const second = make('figure');
    second.append(plot, make('figcaption', `${milestone.id}: Op Time at ${milestone.size} (logarithmic) against points`));
    plots.append(second);
  });
  if (!plots.children.length) at('times').append(make('p', 'No submission has been timed yet.'));

  // Groups
  const table = (id, heads, rows) => {
    if (!rows.length) { at(id).append(list([])); return; }
    const t = make('table'), scroll = make('div', '', {className: 'scroll'});
    const head = t.createTHead().insertRow();
    head.append(...heads.map((text) => make('th', text, {scope: 'col'})));
    const body = t.createTBody();
    for (const cells of rows) {
      const row = body.insertRow();
      cells.forEach((text, i) => row.append(make('td', text, {className: i === cells.length - 1 ? 'wrap' : ''})));
    }
    scroll.append(t);
    at(id).append(scroll);
  };
  table('mistakes', ['Milestone', 'Check', 'Mistake', 'How many', 'Who'],
        data.mistakes.sort((a, b) => b.who.length - a.who.length).map((g) => [g.milestone, g.kind, g.key, g.who.length, g.who.join(', ')]));
  if (data.alike) table('alike', ['Milestone', 'How', 'Who'], data.alike.map((g) => [g.milestone, g.kind, g.who.join(', ')]));
  at('alike').append(make('p', data.alike ? 'A hint, not a verdict: grader similar shows the sources side by side.' : 'Compared when the run has ended.'));
  at('notices').append(list(data.notices.map((n) => n.who ? `${n.who}: ${n.text}` : n.text)));

  // Students
  const columns = [{label: 'Name', get: (s) => s.name, text: true}, {label: 'Submission', get: (s) => s.submission, text: true}];
  data.milestones.forEach((milestone, m) => columns.push(
    {label: milestone.id, get: (s) => s.cells[m].status, text: true, status: true},
    {label: 'points', get: (s) => s.cells[m].points, show: number}, {label: 'ms', get: (s) => s.cells[m].ms, show: time},
    {label: 'late', get: (s) => s.cells[m].late, text: true, show: (text) => text ? 'late' : ''}));
  const students = at('students').querySelector('table'), order = new Intl.Collator(undefined, {numeric: true});
  let by = null, down = false;
  columns.forEach((column, i) => {
    const th = make('th', '', {scope: 'col', className: column.text ? '' : 'number'}), button = make('button', column.label, {type: 'button'});
    button.addEventListener('click', () => { down = by === i ? !down : !column.text; by = i; fill(); });
    th.append(button);
    students.tHead.rows[0].append(th);
  });
  const statuses = new Set(data.students.flatMap((s) => s.cells.map((c) => c.status)).filter(Boolean));
  at('status').append(...[...statuses].sort().map((text) => make('option', text)));
  function fill() {
    const word = at('find').value.toLowerCase(), status = at('status').value;
    const rows = data.students.filter((s) => `${s.name} ${s.submission} ${s.cells.map((c) => c.message ?? '').join(' ')}`.toLowerCase().includes(word) &&
      (!status || s.cells.some((c) => c.status === status)));
    if (by !== null) rows.sort((a, b) => {
      const x = columns[by].get(a), y = columns[by].get(b), none = (v) => v === undefined || v === '';
      if (none(x) || none(y)) return none(x) - none(y);
      const way = columns[by].text ? order.compare(x, y) : x - y;
      return down ? -way : way;
    });
    students.tBodies[0].replaceChildren(...rows.map((s) => {
      const row = make('tr');
      for (const column of columns) {
        const value = column.get(s), text = column.show ? column.show(value) : value ?? '';
        const cell = make('td', text, {className: column.status ? value ?? '' : column.text ? '' : 'number'});
        if (column.label === 'late' && value) cell.title = value;
        row.append(cell);
      }
      return row;
    }));
    [...students.tHead.rows[0].cells].forEach((th, i) => {
      if (i === by) th.setAttribute('aria-sort', down ? 'descending' : 'ascending'); else th.removeAttribute('aria-sort');
    });
    at('shown').textContent = `${rows.length} of ${data.students.length}`;
  }
  at('find').addEventListener('input', fill);
  at('status').addEventListener('change', fill);
  fill();
})();
