/* Shows one milestone of one submission at a time: its manual items next to its report. */
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, text, set) => Object.assign(document.createElement(tag), {textContent: text ?? '', ...set});
  const key = (sheet, item) => `convlab-worksheet ${data.made} ${sheet.submission} ${sheet.milestone} ${item.item}`;
  let store = new Map();
  try { localStorage.length; } catch { store = null; } // a page from a file may have no storage
  const kept = (name, value) => {
    if (value !== undefined) { store?.set(name, value); try { localStorage.setItem(name, value); } catch {} }
    try { return localStorage.getItem(name) ?? store?.get(name) ?? null; } catch { return store?.get(name) ?? null; }
  };
  for (const sheet of data.sheets) for (const item of sheet.items) {
    const old = kept(key(sheet, item));
    if (old) Object.assign(item, JSON.parse(old));
  }
  const right = (item) => item.points === '' || (/^\d+([.]\d+)?$/.test(item.points) && item.points <= item.max);
  const open = (sheet) => sheet.items.some((item) => item.item !== 'comment' && item.points === '');
  function shown() { return data.sheets.filter((sheet) => !at('open-only').checked || open(sheet)); }
  function count() {
    const left = data.sheets.filter(open).length;
    at('count').textContent = `${data.sheets.length - left} of ${data.sheets.length} done`;
  }
  function list() {
    const now = at('who').value;
    at('who').replaceChildren(...shown().map((sheet) =>
      make('option', `${sheet.milestone} ${sheet.students}${open(sheet) ? '' : ' ✓'}`, {value: data.sheets.indexOf(sheet)})));
    if ([...at('who').options].some((option) => option.value === now)) at('who').value = now;
    count();
    show();
  }
  function field(sheet, item) {
    const div = make('div', '', {className: 'item'});
    const note = make('textarea', '', {value: item.comment, ariaLabel: `${item.item}: comment`});
    const save = () => { kept(key(sheet, item), JSON.stringify({points: item.points, comment: item.comment})); count(); };
    note.addEventListener('input', () => { item.comment = note.value; save(); });
    const label = make('label', `${item.text} `);
    if (item.item !== 'comment') {
      const points = make('input', '', {className: 'points', value: item.points, inputMode: 'decimal', ariaLabel: item.item});
      points.addEventListener('input', () => {
        item.points = points.value.trim().replace(',', '.');
        points.classList.toggle('wrong', !right(item));
        save();
      });
      label.append(make('br'), points, ` of ${item.max}`);
    }
    div.append(label, note);
    return div;
  }
  function show() {
    const sheet = data.sheets[at('who').value];
    at('items').replaceChildren();
    at('report').replaceChildren();
    if (!sheet) return;
    const set = make('fieldset');
    set.append(make('legend', `${sheet.students}: ${sheet.milestone}`),
               make('p', `Automatic checks: ${sheet.automatic}${sheet.late ? `. Late: ${sheet.late}` : ''}`),
               ...sheet.items.map((item) => field(sheet, item)));
    at('items').append(set);
    if (!sheet.report) { at('report').append(make('p', 'No report was handed in.')); return; }
    const frame = make('iframe', '', {title: `report of ${sheet.students}`});
    if (!sheet.report.endsWith('.pdf')) frame.setAttribute('sandbox', '');
    frame.src = sheet.report;
    at('report').append(make('a', `Open ${sheet.report_name}`, {href: sheet.report, target: '_blank', rel: 'noopener'}), frame);
  }
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  at('save').addEventListener('click', () => {
    const lines = ['submission,milestone,item,points,comment'];
    for (const sheet of data.sheets) for (const item of sheet.items)
      lines.push([sheet.submission, sheet.milestone, item.item, right(item) ? item.points : '', item.comment].map(quote).join(','));
    const link = make('a', '', {download: 'worksheet.csv',
      href: URL.createObjectURL(new Blob([lines.join('\r\n'), '\r\n'], {type: 'text/csv'}))});
    link.click();
  });
  const step = (by) => () => {
    const index = at('who').selectedIndex + by;
    if (index >= 0 && index < at('who').options.length) { at('who').selectedIndex = index; show(); }
  };
  at('next').addEventListener('click', step(1));
  at('previous').addEventListener('click', step(-1));
  at('who').addEventListener('change', show);
  at('open-only').addEventListener('change', list);
  list();
})();
