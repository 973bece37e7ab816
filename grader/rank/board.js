/* Sorts the board by the heading that is clicked. Rows without a value are last in either order. */
'use strict';
(() => {
  const table = document.querySelector('table'), body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const order = new Intl.Collator(undefined, {numeric: true});
  const key = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;
  function sort(at, down) {
    const text = heads[at].dataset.kind === 'text';
    const rows = [...body.rows];
    rows.sort((a, b) => {
      const x = key(a, at), y = key(b, at);
      if (!x || !y) return (x ? 0 : 1) - (y ? 0 : 1);
      const way = text ? order.compare(x, y) : x - y;
      return down ? -way : way;
    });
    body.append(...rows);
    for (const head of heads) head.removeAttribute('aria-sort');
    heads[at].setAttribute('aria-sort', down ? 'descending' : 'ascending');
  }
  heads.forEach((head, at) => head.querySelector('button').addEventListener('click', () => {
    const now = head.getAttribute('aria-sort');
    sort(at, now ? now === 'ascending' : head.dataset.first === 'descending');
  }));
  function fromAddress() {
    const match = /^#sort=(-?)([a-z0-9_]+)$/.exec(location.hash);
    const at = match ? heads.findIndex((head) => head.dataset.column === match[2]) : -1;
    if (at >= 0) sort(at, match[1] === '-');
  }
  addEventListener('hashchange', fromAddress);
  fromAddress();
})();
